// The way between services. Tests run over links, and nothing takes the place of one that fails. What is still
// left of HTTP between services has tests of its own, `http-way-*.test.ts`, and in CI those of `test/spec` and
// others run once more that way:
//
//     SEAMLINE_WAY=http npx vitest run test/spec/gateways.test.ts
//
// With `websocket` all links that aren't in memory are WebSockets (`_web-sockets-only.mjs`).

/** The key `link` of services that don't set it. */
export const link: "always" | "never" = wayOf(process.env["SEAMLINE_WAY"]);

/** Whether services have links. */
export const isLinked: boolean = link === "always";

function wayOf(way: string | undefined): typeof link {
  if (way === undefined || way === "" || way === "link" || way === "websocket") return "always";
  if (way === "http") return "never";
  throw new Error(`SEAMLINE_WAY is link, websocket or http, not ${way}`);
}

/** What the processes need that tests start. */
export const environment: Readonly<Record<string, string>> =
  process.env["SEAMLINE_WAY"] === "websocket"
    ? { SEAMLINE_WAY: "websocket", NODE_OPTIONS: process.env["NODE_OPTIONS"] ?? "" }
    : {};

/** A configuration with it, if its mode has the key. Services that a directory names have links always. */
export function onTheWay<Config>(config: Config): Config {
  if (typeof config !== "object" || config === null) return config;
  const { mode } = config as { readonly mode?: unknown };
  const hasKey =
    (mode === "node" || mode === "gateway" || mode === "proxy") && !("directory" in config);
  return hasKey ? { link, ...config } : config;
}
