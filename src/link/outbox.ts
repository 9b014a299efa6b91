// What leaves a link, in three lanes. Control goes at once. Calls and answers go once in a turn of the
// event loop, all in one write, as long as the channel isn't crowded. Parts of bodies take what room is
// left, each body in its turn.

import type { Clock, HeldFor, Holding } from "../base/ports.ts";
import type { Channel } from "../base/ports/links.ts";
import { FrameWriter } from "./frame-writer.ts";
import { chunkBytes, kinds } from "./frames.ts";
import { RoundTrips, Window } from "./windows.ts";

/** Parts of bodies wait while one more would make it more than 256 KiB in the channel. */
const bodiesQueuedBytes = 256 * 1024 - chunkBytes;
/**
 * They wait while one more would make it more than this that the other end hasn't confirmed: most of it is
 * where no host shows it, in the buffers of sockets, and a call behind it would wait for all of it. It grows
 * as far as a round trip takes.
 */
const firstUnconfirmed = 1024 * 1024;
const mostUnconfirmed = 16 * 1024 * 1024;
/** What the windows of all bodies that come may grow by together. */
const mostGrown = 16 * 1024 * 1024;
/** Calls wait while there is more. */
const crowdedBytes = 512 * 1024;

/** In the pings that measure a round trip. */
export const tripMark = 2;

/** A body that has a part to send, and may. */
export interface PartSource {
  /** Adds the next part. Returns whether there is one more that can go. */
  addPart(writer: FrameWriter): boolean;
}

export class Outbox {
  /** Calls and answers, and control while nothing is crowded. */
  readonly calls: FrameWriter = new FrameWriter();
  /** What errors call the other end: its address, once that is known. */
  name: string;
  #inFlight = 0;
  #asked = 0;
  readonly #channel: Channel;
  readonly #soon: (run: () => void) => void;
  #urgent: FrameWriter | undefined;
  #bodies: PartSource[] = [];
  #isScheduled = false;
  #isClosed = false;
  /** Measured by pings with {@link tripMark}. */
  readonly trips: RoundTrips;
  /** Bytes of bodies that the other end hasn't confirmed, and how many it may be. */
  #unconfirmed = 0;
  readonly #unconfirmedWindow: Window;
  #grown = 0;
  /** Bytes of bodies that came and that this end hasn't confirmed. */
  #arrived = 0;
  #waiting = 0;
  #sent = 0;

  constructor(
    channel: Channel,
    {
      soon,
      name,
      clock,
    }: {
      readonly soon: (run: () => void) => void;
      readonly name: string;
      readonly clock: Pick<Clock, "now">;
    },
  ) {
    this.name = name;
    this.#channel = channel;
    this.#soon = soon;
    this.trips = new RoundTrips(
      () => clock.now(),
      () => {
        this.control().add(kinds.ping, 0, 1)[0] = tripMark;
        this.flushSoon();
      },
    );
    this.#unconfirmedWindow = new Window(this.trips, firstUnconfirmed, mostUnconfirmed);
  }

  /** Calls in flight, in both directions. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Those of them that this end has sent, and waits for. */
  get asked(): number {
    return this.#asked;
  }

  /** A call begins. */
  began(isOwn: boolean): void {
    this.#inFlight++;
    if (isOwn) this.#asked++;
  }

  /** A call is over at this end. */
  over(isOwn: boolean): void {
    this.#inFlight--;
    if (isOwn) this.#asked--;
  }

  /** How many bytes have left. */
  get left(): number {
    return this.#sent - this.#channel.queued;
  }

  /** How many wait in the channel. */
  get queued(): number {
    return this.#channel.queued;
  }

  /** Counts in the memory of this service. */
  hold(bytes: number): void {
    this.#channel.hold?.(bytes);
  }

  fits(bytes: number): boolean {
    return this.#channel.fits?.(bytes) !== false;
  }

  /** Whether the window of a body that comes may be so much larger. It is held until it is given back. */
  grow(bytes: number): boolean {
    if (this.#grown + bytes > mostGrown || !this.fits(bytes)) return false;
    this.#grown += bytes;
    this.hold(bytes);
    return true;
  }

  shrink(bytes: number): void {
    this.#grown -= bytes;
    this.hold(-bytes);
  }

  /** Counts what is held for a body, which is cut if nobody takes it when memory is short. */
  holding(body: HeldFor): Holding | undefined {
    return this.#channel.holding?.(body);
  }

  /** Writes what waits: this turn, and now if there is nothing else that could go with it. */
  flushSoon(): void {
    if (this.#inFlight <= 1) this.flush();
    else this.flushLater();
  }

  /** Writes what waits: this turn, with whatever else goes in it. */
  flushLater(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#soon(this.#flushNow);
  }

  readonly #flushNow = (): void => {
    this.#isScheduled = false;
    this.flush();
  };

  flush(): void {
    if (this.#isClosed) return;
    if (this.#urgent !== undefined && this.#urgent.size > 0) this.#send(this.#urgent);
    while (this.#channel.queued < crowdedBytes) {
      // A part goes with the calls that wait, in the same write.
      if (
        this.#bodies.length > 0 &&
        this.#unconfirmed <= this.#unconfirmedWindow.bytes - chunkBytes &&
        this.#channel.queued <= bodiesQueuedBytes
      )
        this.#addPart();
      if (this.calls.size === 0) break;
      this.#send(this.calls);
    }
    this.#account();
  }

  /** A part of a body can go. */
  ready(body: PartSource): void {
    this.#bodies.push(body);
    this.flushSoon();
  }

  /** The receiver of a body takes this many bytes more. */
  window(stream: number, bytes: number): void {
    this.control().addNumber(kinds.window, stream, bytes);
    this.flushSoon();
  }

  /** A part of a body has come, for whomever. */
  arrived(bytes: number): void {
    this.#arrived += bytes;
    if (this.#arrived < chunkBytes) return;
    this.control().addNumber(kinds.arrived, 0, this.#arrived);
    this.#arrived = 0;
    this.flushSoon();
  }

  /** The other end has so many bytes of bodies. */
  confirmed(bytes: number): void {
    this.#unconfirmed = Math.max(0, this.#unconfirmed - bytes);
    if (this.#unconfirmedWindow.moved(bytes)) this.#unconfirmedWindow.double();
    if (this.#bodies.length > 0) this.flushSoon();
  }

  /** After everything else that this end has said of the call. */
  cancel(stream: number): void {
    this.calls.addNumber(kinds.cancel, stream);
    this.flushSoon();
  }

  /** Where frames go that don't wait for calls in a crowd. */
  control(): FrameWriter {
    if (this.#channel.queued < crowdedBytes) return this.calls;
    return (this.#urgent ??= new FrameWriter());
  }

  /** Writes what is in the lanes, and nothing later. */
  close(): void {
    for (const writer of [this.#urgent, this.calls])
      if (writer !== undefined && writer.size > 0) this.#send(writer);
    this.#isClosed = true;
    this.#bodies = [];
    this.hold(-this.#waiting);
    this.#waiting = 0;
  }

  #addPart(): void {
    const before = this.calls.size;
    // Bodies that are over by their turn have none.
    while (this.calls.size === before && this.#bodies.length > 0) {
      const body = this.#bodies.shift()!;
      if (body.addPart(this.calls)) this.#bodies.push(body);
    }
    this.#unconfirmed += this.calls.size - before;
  }

  #send(writer: FrameWriter): void {
    this.#sent += writer.size;
    writer.sendTo(this.#channel);
  }

  #account(): void {
    const waiting = this.calls.size + this.#channel.queued;
    if (waiting === this.#waiting) return;
    this.hold(waiting - this.#waiting);
    this.#waiting = waiting;
  }
}
