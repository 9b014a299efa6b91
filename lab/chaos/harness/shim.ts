// A network that fails: TCP connections between two services go through here, and can be held, reset, or
// slowed down to a drip.

import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

export type Weather = "fair" | "held" | "dripping";

/** Bytes on one way, and when they may go on. */
class Pipe {
  readonly #target: Socket;
  #waiting: Buffer[] = [];
  #ended = false;

  constructor(source: Socket, target: Socket, change: (bytes: Buffer) => Buffer) {
    this.#target = target;
    source.on("data", (bytes) => void this.#waiting.push(change(bytes)));
    source.on("end", () => (this.#ended = true));
  }

  /** Passes on what has come so far, or at most so many bytes of it. */
  flush(most: number): void {
    for (let left = most; left > 0 && this.#waiting.length > 0;) {
      const [first] = this.#waiting as [Buffer];
      const part = first.subarray(0, left);
      left -= part.length;
      if (part.length === first.length) this.#waiting.shift();
      else this.#waiting[0] = first.subarray(part.length);
      this.#target.write(part);
    }
    if (this.#ended && this.#waiting.length === 0) this.#target.end();
  }
}

interface Pair {
  readonly sockets: readonly [Socket, Socket];
  readonly pipes: readonly [Pipe, Pipe];
}

export class Shim {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  readonly #timer: NodeJS.Timeout;
  #weather: Weather = "fair";

  /** `changed` rewrites what goes to the target. */
  constructor(target: number, changed: (bytes: Buffer) => Buffer = (bytes) => bytes) {
    this.#server = createServer({ allowHalfOpen: true }, (front) => {
      const back = connect({ port: target, host: "127.0.0.1", allowHalfOpen: true });
      const sockets = [front, back] as const;
      const pipes = [
        new Pipe(front, back, changed),
        new Pipe(back, front, (bytes) => bytes),
      ] as const;
      const pair = { sockets, pipes };
      this.#pairs.add(pair);
      for (const socket of sockets) {
        socket.setNoDelay(true);
        socket.on("data", () => this.#flush(pair));
        socket.on("end", () => this.#flush(pair));
        // The other side learns of it, unless nothing gets through.
        socket.on("error", () => {});
        socket.on("close", (hadError) => {
          if (hadError && this.#weather !== "held") this.#cut(pair);
          if (sockets.every(({ destroyed }) => destroyed)) this.#pairs.delete(pair);
        });
      }
    });
    this.#timer = setInterval(() => {
      if (this.#weather === "dripping")
        for (const { pipes } of this.#pairs) for (const pipe of pipes) pipe.flush(dripBytes);
    }, 1);
  }

  async listen(port: number): Promise<void> {
    this.#server.listen(port, "127.0.0.1");
    await once(this.#server, "listening");
  }

  set weather(weather: Weather) {
    this.#weather = weather;
    for (const pair of this.#pairs) this.#flush(pair);
  }

  /** Breaks all connections. */
  reset(): void {
    for (const pair of this.#pairs) this.#cut(pair);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#server.close();
    this.reset();
  }

  #flush({ pipes, sockets }: Pair): void {
    if (this.#weather !== "fair") return;
    for (const pipe of pipes) pipe.flush(Infinity);
    // A side that broke while everything was held.
    if (sockets.some(({ errored }) => errored)) for (const socket of sockets) socket.destroy();
  }

  #cut({ sockets }: Pair): void {
    for (const socket of sockets) if (!socket.destroyed) socket.resetAndDestroy();
  }
}

/** Bytes each millisecond and direction of a connection. */
const dripBytes = 4;
