// Raw sockets, for what no HTTP client would send.

import { connect, type Socket } from "node:net";
import type { HttpServer } from "../../../server/http.ts";

export interface RawConnection {
  readonly socket: Socket;
  /** Everything that came in until now. */
  text(): string;
  /** Waits until what came in matches. Rejects when the connection closes before that. */
  until(pattern: RegExp): Promise<string>;
  /** Waits until the other side has closed; gives everything that came in. */
  closed(): Promise<string>;
}

/** Connects to `server` and writes `bytes` as they are. */
export function raw(server: HttpServer, bytes: string): RawConnection {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let text = "";
  const look = new Set<() => void>();
  let done = false;
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    for (const one of look) one();
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    done = true;
    for (const one of look) one();
  });
  socket.write(bytes);
  return {
    socket,
    text: () => text,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const one = (): void => {
          if (!pattern.test(text) && !done) return;
          look.delete(one);
          if (pattern.test(text)) resolve(text);
          else reject(new Error(`closed before ${pattern} came: ${JSON.stringify(text)}`));
        };
        look.add(one);
        one();
      }),
    closed: () =>
      new Promise((resolve) => {
        const one = (): void => {
          if (!done) return;
          look.delete(one);
          resolve(text);
        };
        look.add(one);
        one();
      }),
  };
}
