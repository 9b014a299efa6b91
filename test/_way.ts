// The way between services. With `SEAMLINE_WAY=websocket` all links that aren't in memory are WebSockets
// (`_web-sockets-only.mjs`).

/** The environment of processes that tests start. */
export const environment: Readonly<Record<string, string>> = environmentOf(
  process.env["SEAMLINE_WAY"],
);

function environmentOf(way: string | undefined): typeof environment {
  if (way === undefined || way === "" || way === "socket") return {};
  if (way === "websocket")
    return { SEAMLINE_WAY: way, NODE_OPTIONS: process.env["NODE_OPTIONS"] ?? "" };
  throw new Error(`SEAMLINE_WAY is socket or websocket, not ${way}`);
}
