// Which configuration file is meant, unless the command line names one.

import { Problems } from "../../src/base/problem.ts";

/** In the application folder. */
export const defaultConfigFile = "./seamline.json";

/**
 * The file that the environment names, or `undefined`. Throws {@link Problems} for the old name of
 * the variable.
 */
export function configVariable(
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const { SEAMLINE_CONFIG: file, SVC_CONFIG: old } = env;
  if (old !== undefined && file === undefined)
    throw new Problems([
      {
        file: "SVC_CONFIG",
        message: "this environment variable is renamed to SEAMLINE_CONFIG",
        hint: `Set SEAMLINE_CONFIG=${old}`,
      },
    ]);
  return file === "" ? undefined : file;
}
