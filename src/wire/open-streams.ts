// The streams of procedures that a service sends: how many, and whether they move.

import { DeadlineExceeded } from "../base/errors.ts";
import type { Clock, HttpRequest, HttpResponse } from "../base/ports.ts";
import type { StreamFigures } from "../base/ports/telemetry.ts";
import type { Limits } from "../base/limits.ts";
import { BreakableBody } from "../http/breakable-body.ts";
import { refusedStart, tooManyOpenStreams } from "../http/refusals.ts";
import { Idle } from "../http/idle.ts";

/** Streams of one address over HTTP: each holds a connection of the service, and a page's don't come that way. */
const mostPerCaller = 100;

/** The exchange that a stream answers. */
interface Followed {
  /** The caller that is counted for {@link mostPerCaller}, if any. */
  readonly caller: string | undefined;
  readonly request: Pick<HttpRequest, "via">;
  expire(reason: Error): void;
}

export class OpenStreams {
  readonly #clock: Clock;
  readonly #limits: Pick<Limits, "maxStreams" | "streamIdleMs">;
  #open = 0;
  #items = 0;
  readonly #callers = new Map<string, number>();
  /** Tell readers to ask elsewhere. */
  readonly #moves = new Set<() => void>();

  constructor(clock: Clock, limits: Pick<Limits, "maxStreams" | "streamIdleMs">) {
    this.#clock = clock;
    this.#limits = limits;
  }

  get open(): number {
    return this.#open;
  }

  get figures(): StreamFigures {
    return { limit: this.#limits.maxStreams, items: this.#items };
  }

  /** Notes an item of a stream of this service. */
  yields(): void {
    this.#items++;
  }

  /** Throws if no more may be open, before anything of another one runs. */
  assertRoom(caller: string | undefined): void {
    if (this.#open >= this.#limits.maxStreams) throw tooManyOpenStreams();
    if (caller !== undefined && (this.#callers.get(caller) ?? 0) >= mostPerCaller)
      throw refusedStart(
        "overload",
        `This address has as many streams open as it may (${mostPerCaller})`,
      );
  }

  /** Tells the readers of streams that may go on elsewhere to ask again. */
  move(): void {
    for (const move of this.#moves) move();
  }

  /** `move` tells the stream's reader to ask elsewhere. Returns what to call at the stream's end. */
  movable(move: () => void): () => void {
    this.#moves.add(move);
    return () => this.#moves.delete(move);
  }

  /** The stream, which is broken off when nothing moves for too long. */
  follow(exchange: Followed, { status, headers, body }: HttpResponse): HttpResponse {
    const { streamIdleMs } = this.#limits;
    // Over a link, the other end answers pings: its reader may take its time.
    const isLink = exchange.request.via !== undefined;
    let isWaiting = false;
    const idle: Idle = new Idle(this.#clock, () => {
      if (isLink && !isWaiting) return idle.again();
      const error = new DeadlineExceeded(`The stream stood still for ${streamIdleMs} ms`);
      exchange.expire(error);
      sent.breakOff(error);
    });
    const sent = new BreakableBody(body as AsyncIterable<Uint8Array>, {
      onMove: () => {
        isWaiting = !isWaiting;
        idle.moved();
      },
      onEnd: () => {
        this.#counts(exchange.caller, -1);
        idle.stop();
      },
    });
    this.#counts(exchange.caller, 1);
    idle.limit(streamIdleMs);
    return { status, headers, body: sent };
  }

  #counts(caller: string | undefined, change: 1 | -1): void {
    this.#open += change;
    if (caller === undefined) return;
    const count = (this.#callers.get(caller) ?? 0) + change;
    if (count > 0) this.#callers.set(caller, count);
    else this.#callers.delete(caller);
  }
}
