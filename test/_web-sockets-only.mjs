// Makes services that run in this process, or that it starts, answer upgrades as something does that passes
// WebSockets on and nothing else. So all links that aren't in memory are WebSockets:
//
//     SEAMLINE_WAY=websocket npx vitest run test/spec

import { Server } from "node:http";
import { Server as SecureServer } from "node:https";

/** @returns what ends it */
export function refuseSockets() {
  const ends = [Server.prototype, SecureServer.prototype].map((prototype) => {
    const { emit } = prototype;
    /** @this {Server} @param {string} event @param {any[]} parts */
    prototype.emit = function (event, ...parts) {
      if (event !== "upgrade" || parts[0].headers.upgrade !== "seamline-link")
        return Reflect.apply(emit, this, [event, ...parts]);
      parts[1].on("error", () => {});
      parts[1].end("HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
      return true;
    };
    return () => void (prototype.emit = emit);
  });
  return () => {
    for (const end of ends) end();
  };
}

const mark = Symbol.for("seamline test: WebSockets only");
if (process.env["SEAMLINE_WAY"] === "websocket" && !Reflect.has(globalThis, mark)) {
  Reflect.set(globalThis, mark, true);
  refuseSockets();
  const { NODE_OPTIONS = "" } = process.env;
  if (!NODE_OPTIONS.includes(import.meta.url))
    process.env["NODE_OPTIONS"] = `${NODE_OPTIONS} --import ${import.meta.url}`;
}
