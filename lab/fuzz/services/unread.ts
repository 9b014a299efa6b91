// Callers that ask for large answers and read nothing of them, all at once, and ordinary calls beside them.

import { connect, type Socket } from "node:net";
import { answersIn, deliver } from "./raw.ts";

/** Larger than what the buffers of a connection take. */
const answerBytes = 8 * 1024 * 1024;

/** The requests of such callers. */
export const unreadKinds = {
  text: `/rpc/a/many?count=${answerBytes}`,
  bytes: `/rpc/a/bytes?count=${answerBytes}`,
  /** Many calls get the same list at the same moment. */
  shared: `/rpc/a/shared?count=${answerBytes}`,
  whole: `/whole/${answerBytes}`,
  stream: `/stream/${answerBytes}`,
} as const;
export type UnreadKind = keyof typeof unreadKinds;

export interface UnreadResult {
  /** Ordinary calls that were answered with 200. */
  readonly served: number;
  /** Statuses of the others; 0 if there was no answer. */
  readonly refused: readonly number[];
  /** Milliseconds of the slowest of them. */
  readonly slowest: number;
}

/** Sends so many callers to a service for `ms`, and at least until an ordinary call is served. */
export async function leaveUnread(
  port: number,
  kind: UnreadKind,
  callers: number,
  ms: number,
): Promise<UnreadResult> {
  const sockets: Socket[] = [];
  for (let count = 0; count < callers; count++) {
    const socket = connect(port, "127.0.0.1");
    sockets.push(socket);
    socket.pause();
    socket.on("error", () => {});
    socket.once("connect", () =>
      socket.write(`GET ${unreadKinds[kind]} HTTP/1.1\r\nHost: localhost\r\n\r\n`),
    );
  }
  const canary = Buffer.from("GET /rpc/a/canary HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const begun = performance.now();
  const refused: number[] = [];
  let [served, slowest] = [0, 0];
  const isOver = (): boolean => {
    const passed = performance.now() - begun;
    return passed > ms && (served > 0 || passed > longestMs);
  };
  while (!isOver()) {
    const sent = performance.now();
    const { text } = await deliver(port, canary, { ending: "wait", answers: 1 }, longestMs);
    const status = answersIn(text)[0]?.status ?? 0;
    if (status === 200) {
      served++;
      slowest = Math.max(slowest, performance.now() - sent);
    } else refused.push(status);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  for (const socket of sockets) socket.destroy();
  return { served, refused, slowest: Math.round(slowest) };
}

/** However busy the machine is. */
const longestMs = 25_000;
