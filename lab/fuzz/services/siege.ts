// Slow and hostile callers, all at once: idle connections, heads and bodies that come byte by byte,
// answers that aren't read. Others must not notice, and each must be cut in its time.

import { connect, type Socket } from "node:net";
import { answersIn, deliver } from "./raw.ts";

export interface Crowd {
  readonly idle: number;
  readonly slowHeads: number;
  readonly slowBodies: number;
  /** Where they go: a procedure, or a route. */
  readonly bodyPath?: string;
  readonly unread: number;
  /** Milliseconds between two bytes. */
  readonly dripMs: number;
}

export interface CrowdResult {
  /**
   * How many of each kind were cut, and milliseconds until the first and the last of them; none if
   * none was.
   */
  readonly cuts: Readonly<Record<string, readonly number[]>>;
  /** Of those that read nothing, how many didn't get the whole answer when they did in the end. */
  readonly unreadCut: number;
  /** Milliseconds of the slowest ordinary call. */
  readonly slowest: number;
  readonly calls: number;
  /** Statuses other than 200, of ordinary calls. */
  readonly refused: readonly number[];
}

const host = "Host: localhost";

/** Larger than what the buffers of a connection take. */
const unreadBytes = 8_000_000;
const unreadPauseMs = 50;
/** How long the rest of an answer may take that wasn't cut. */
const restMs = 1_000;

/** However busy the machine is. */
const longestSiegeMs = 25_000;

/**
 * Sends a crowd to a service for `ms`, and then until all that `isOver` asks for has happened, and
 * ordinary calls beside it.
 */
export async function besiege(
  port: number,
  crowd: Crowd,
  ms: number,
  isOver: (calls: number, cuts: Readonly<Record<string, readonly number[]>>) => boolean = () =>
    true,
): Promise<CrowdResult> {
  const sockets: Socket[] = [];
  const timers: NodeJS.Timeout[] = [];
  const cuts: Record<string, number[]> = { idle: [], slowHeads: [], slowBodies: [], unread: [] };
  const begun = performance.now();
  const since = (): number => Math.round(performance.now() - begun);
  const open = (kind: keyof typeof cuts, act: (socket: Socket) => void): Socket => {
    const socket = connect(port, "127.0.0.1");
    sockets.push(socket);
    socket.on("error", () => {});
    socket.on("close", () => cuts[kind]?.push(since()));
    socket.once("connect", () => act(socket));
    return socket;
  };
  const drip = (socket: Socket): void => {
    socket.resume();
    timers.push(setInterval(() => socket.writable && socket.write("a"), crowd.dripMs));
  };
  for (let count = 0; count < crowd.idle; count++) open("idle", (socket) => socket.resume());
  for (let count = 0; count < crowd.slowHeads; count++)
    open("slowHeads", (socket) => {
      socket.write(`GET /rpc/a/canary HTTP/1.1\r\n${host}\r\nX-A: `);
      drip(socket);
    });
  for (let count = 0; count < crowd.slowBodies; count++)
    open("slowBodies", (socket) => {
      socket.write(
        `POST ${crowd.bodyPath ?? "/rpc/a/echo"} HTTP/1.1\r\n${host}\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{"value":"`,
      );
      drip(socket);
    });
  const unread: Socket[] = [];
  // One after the other: to make so many large answers at once takes a processor a second, however
  // they are read.
  const asking = setInterval(() => {
    if (unread.length >= crowd.unread) return clearInterval(asking);
    const socket = open("unread", (connected) => {
      connected.pause();
      connected.write(`GET /rpc/a/many?count=${unreadBytes} HTTP/1.1\r\n${host}\r\n\r\n`);
    });
    unread.push(socket);
  }, unreadPauseMs);
  timers.push(asking);
  let [slowest, calls] = [0, 0];
  const refused: number[] = [];
  const bytes = Buffer.from(`GET /rpc/a/canary HTTP/1.1\r\n${host}\r\n\r\n`);
  while (since() < ms || (!isOver(calls, cuts) && since() < longestSiegeMs)) {
    const sent = performance.now();
    const { text } = await deliver(port, bytes, { ending: "wait", answers: 1 }, 10_000);
    slowest = Math.max(slowest, performance.now() - sent);
    calls++;
    const status = answersIn(text)[0]?.status ?? 0;
    if (status !== 200) refused.push(status);
    // Not as often as the crowd sends: each call would come together with its parts.
    await new Promise((resolve) => setTimeout(resolve, 50 + 100 * Math.random()));
  }
  timers.forEach(clearInterval);
  const whole = await Promise.all(unread.map(readsWhole));
  for (const socket of sockets) socket.removeAllListeners("close").destroy();
  const ends = Object.entries(cuts).map(([kind, times]) => [
    kind,
    times.length === 0 ? [] : [times.length, Math.min(...times), Math.max(...times)],
  ]);
  const result = Object.fromEntries(ends) as Record<string, number[]>;
  const unreadCut = whole.filter((isWhole) => !isWhole).length;
  return { cuts: result, unreadCut, slowest: Math.round(slowest), calls, refused };
}

/** Reads an answer. One that reads nothing isn't told that its connection is cut. */
async function readsWhole(socket: Socket): Promise<boolean> {
  let bytes = 0;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, restMs);
    socket.once("close", () => (clearTimeout(timer), resolve()));
    socket.on("data", ({ length }: Buffer) => {
      bytes += length;
      timer.refresh();
    });
    socket.resume();
  });
  return bytes >= unreadBytes;
}
