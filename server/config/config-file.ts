// Which configuration file is meant, unless the command line names one.

/** In the application folder. */
export const defaultConfigFile = "./seamline.json";

/** The file that the environment names, or `undefined`. */
export function configVariable(
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  return env["SEAMLINE_CONFIG"] || undefined;
}
