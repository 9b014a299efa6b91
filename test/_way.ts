// The way between services: tests run both over links and over HTTP.
//
//     SEAMLINE_WAY=link npx vitest run test/spec
//
// Without the variable, services with sockets link to each other, and those in memory don't.

/** The key `link` of services that don't set it. */
export const link: "always" | "never" | undefined = wayOf(process.env["SEAMLINE_WAY"]);

/** Whether services with sockets may link to each other. */
export const mayLink: boolean = link !== "never";

/** Whether services in memory have links. */
export const isLinked: boolean = link === "always";

function wayOf(way: string | undefined): typeof link {
  if (way === undefined || way === "") return undefined;
  if (way === "link") return "always";
  if (way === "http") return "never";
  throw new Error(`SEAMLINE_WAY is link or http, not ${way}`);
}

/** A configuration with it, if its mode has the key. Services that a directory names have links always. */
export function onTheWay<Config>(config: Config): Config {
  if (link === undefined || typeof config !== "object" || config === null) return config;
  const { mode } = config as { readonly mode?: unknown };
  const hasKey =
    (mode === "node" || mode === "gateway" || mode === "proxy") && !("directory" in config);
  return hasKey ? { link, ...config } : config;
}
