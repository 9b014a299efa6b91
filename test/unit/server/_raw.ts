// Raw sockets, for requests that no HTTP client would send.

import { connect, type Socket } from "node:net";
import type { HttpServer } from "../../../server/http/http.ts";

export interface RawConnection {
  readonly socket: Socket;
  /** The text received so far. */
  text(): string;
  /** Waits until the received text matches. Rejects if the connection closes first. */
  until(pattern: RegExp): Promise<string>;
  /** Waits until the server closes the connection, and returns the received text. */
  closed(): Promise<string>;
}

/** Connects to `server` and writes `bytes`. */
export function raw(server: Pick<HttpServer, "url">, bytes: string): RawConnection {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let text = "";
  const watchers = new Set<() => void>();
  let done = false;
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    for (const watch of watchers) watch();
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    done = true;
    for (const watch of watchers) watch();
  });
  socket.write(bytes);
  return {
    socket,
    text: () => text,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const watch = (): void => {
          if (!pattern.test(text) && !done) return;
          watchers.delete(watch);
          if (pattern.test(text)) resolve(text);
          else reject(new Error(`closed before ${pattern} came: ${JSON.stringify(text)}`));
        };
        watchers.add(watch);
        watch();
      }),
    closed: () =>
      new Promise((resolve) => {
        const watch = (): void => {
          if (!done) return;
          watchers.delete(watch);
          resolve(text);
        };
        watchers.add(watch);
        watch();
      }),
  };
}
