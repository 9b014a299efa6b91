// Two ends of a link in memory. Bytes are cut anywhere on their way. The link ends with its test.

import { onTestFinished } from "vitest";
import type { Clock, HttpResponse } from "../../../src/base/ports.ts";
import type { Channel, ChannelReceiver } from "../../../src/base/ports/links.ts";
import type { Takes } from "../../../src/link/directions.ts";
import { FrameReader } from "../../../src/link/frames.ts";
import type { ArrivedCall } from "../../../src/link/calls.ts";
import { Link } from "../../../src/link/link.ts";
import { TestClock } from "../../../server/testing/test-clock.ts";

export type Handle = (call: ArrivedCall) => Promise<HttpResponse>;

/** One direction of a channel. `cut` says how many of the bytes that wait are delivered at once. */
class Wire {
  #receiver: ChannelReceiver | undefined;
  #other: ChannelReceiver | undefined;
  #waiting: Uint8Array[] = [];
  #queued = 0;
  #isClosed = false;
  /** All that was ever sent. */
  sent = 0;
  /** Holds everything back. */
  isHeld = false;
  onSend: ((bytes: Uint8Array) => void) | undefined = undefined;
  /** Each write takes so many milliseconds of the clock. */
  delayMs = 0;
  /** Delivers 500 bytes each time it is told to. */
  isSlow = false;
  readonly #cut: (available: number) => number;
  readonly #clock: Clock;

  constructor(cut: (available: number) => number, clock: Clock) {
    this.#cut = cut;
    this.#clock = clock;
  }

  get queued(): number {
    return this.#queued;
  }

  send(bytes: Uint8Array): void {
    if (this.#isClosed) return;
    this.onSend?.(bytes);
    // As sockets of Node have them, whose `slice` copies nothing.
    this.#waiting.push(Buffer.from(bytes));
    // With a delay, bytes leave this end at once.
    if (this.delayMs === 0) this.#queued += bytes.length;
    this.sent += bytes.length;
    this.deliverSoon();
  }

  deliverSoon(): void {
    if (this.delayMs === 0) setImmediate(() => this.#deliver());
    else this.#clock.after(this.delayMs, () => this.#deliver());
  }

  to(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
  }

  from(sender: ChannelReceiver): void {
    this.#other = sender;
  }

  close(): void {
    this.#isClosed = true;
  }

  #deliver(): void {
    if (this.isHeld) return;
    const [first] = this.#waiting;
    if (first === undefined) return;
    const size = Math.max(1, Math.min(first.length, this.isSlow ? 500 : this.#cut(first.length)));
    const part = Buffer.from(first.subarray(0, size));
    if (size >= first.length) this.#waiting.shift();
    else this.#waiting[0] = first.subarray(size);
    if (this.delayMs === 0) this.#queued -= size;
    this.#receiver?.onBytes(part);
    if (this.#queued < 16_384) this.#other?.onDrain();
    if (!this.isSlow && this.delayMs === 0) this.deliverSoon();
  }
}

export function linked(
  handlers: { readonly dialer?: Handle; readonly acceptor?: Handle },
  cut: (available: number) => number = (available) => available,
  mostCalls = 100,
  time?: Clock,
  takes: Takes = () => true,
) {
  const clock = new TestClock();
  const there = new Wire(cut, clock);
  const back = new Wire(cut, clock);
  const nobody: Handle = async () => ({ status: 404, headers: {}, body: "nobody" });
  const closed: unknown[] = [];
  const faults: unknown[] = [];
  /** Of both ends together. */
  const memory = { held: 0, isShort: false };
  const receivers: ChannelReceiver[] = [];
  const shut = (): void => {
    there.close();
    back.close();
    for (const receiver of receivers.splice(0)) receiver.onClose();
  };
  onTestFinished(shut);
  const end = (out: Wire, into: Wire, isDialer: boolean, handle: Handle = nobody): Link => {
    const channel: Channel = {
      send: (bytes) => out.send(bytes),
      get queued() {
        return out.queued;
      },
      close: () => setImmediate(shut),
      hold: (bytes) => (memory.held += bytes),
      fits: () => !memory.isShort,
      open(receiver) {
        into.to(receiver);
        out.from(receiver);
        receivers.push(receiver);
      },
    };
    const link: Link = new Link(channel, {
      name: "http://other",
      isDialer,
      mostCalls,
      takes,
      clock: time ?? clock,
      soon: (run) => void setImmediate(run),
      handle,
      onFault: (fault) => faults.push(fault),
      onBadAnswer: (error) => faults.push(error),
      onDraining: () => {},
      onClose: (cause) => closed.push(cause),
    });
    const reader = new FrameReader(link.onFrame);
    channel.open({
      onBytes(bytes) {
        try {
          reader.push(bytes);
          link.heard();
        } catch (error) {
          link.close(error);
        }
      },
      onDrain: () => link.drained(),
      onClose: (cause) => link.closed(cause),
    });
    return link;
  };
  return {
    dialer: end(there, back, true, handlers.dialer),
    acceptor: end(back, there, false, handlers.acceptor),
    there,
    back,
    closed,
    faults,
    clock,
    memory,
    /** As if the cable were cut. */
    shut,
  };
}
