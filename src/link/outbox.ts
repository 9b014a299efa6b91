// The outgoing side of a link, in three lanes. Control goes at once. Calls and answers go once in a turn of the
// event loop, all in one write, unless the channel is crowded. Parts of bodies take the room that is left, each
// body in its turn.

import type { Clock, HeldFor, Holding } from "../base/ports.ts";
import type { Channel } from "../base/ports/links.ts";
import { FrameWriter } from "./frame-writer.ts";
import { kinds } from "./frames.ts";
import { RoundTrips, Window } from "./windows.ts";
import {
  bodiesQueuedBytes,
  chunkBytes,
  crowdedBytes,
  firstUnconfirmed,
  mostGrown,
  mostUnconfirmed,
} from "./limits.ts";

/** Marks the pings that measure a round trip. */
export const tripMark = 2;

/** A body with a part that may be sent. */
export interface PartSource {
  /** Adds the next part. Returns whether another part can go. */
  addPart(writer: FrameWriter): boolean;
}

export class Outbox {
  /** Calls and answers, and control unless the channel is crowded. */
  readonly calls: FrameWriter = new FrameWriter();
  /** The other end's name in errors: its address, once that is known. */
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
  /** Bytes of bodies that the other end hasn't confirmed, and their limit. */
  #unconfirmed = 0;
  readonly #unconfirmedWindow: Window;
  #grown = 0;
  /** Received bytes of bodies that this end hasn't confirmed. */
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

  /** Calls that this end has sent and waits for. */
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

  /** Bytes that have left the channel. */
  get left(): number {
    return this.#sent - this.#channel.queued;
  }

  /** Bytes that wait in the channel. */
  get queued(): number {
    return this.#channel.queued;
  }

  /** Counts bytes as held by this service. */
  hold(bytes: number): void {
    this.#channel.hold?.(bytes);
  }

  fits(bytes: number): boolean {
    return this.#channel.fits?.(bytes) !== false;
  }

  /** Grows the window of a received body if there is room. The bytes count as held until {@link shrink}. */
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

  /** Counts the bytes held for a body, which is cut if it isn't taken while memory is short. */
  holding(body: HeldFor): Holding | undefined {
    return this.#channel.holding?.(body);
  }

  /** Writes waiting frames: at once if no other call could add to them, otherwise at the end of this turn. */
  flushSoon(): void {
    if (this.#inFlight <= 1) this.flush();
    else this.flushLater();
  }

  /** Writes waiting frames at the end of this turn, with all others of the turn. */
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
      // A part goes in the same write as waiting calls.
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

  /** Tells the sender of a body that its window has grown by this many bytes. */
  window(stream: number, bytes: number): void {
    this.control().addNumber(kinds.window, stream, bytes);
    this.flushSoon();
  }

  /** A part of any body has come. */
  arrived(bytes: number): void {
    this.#arrived += bytes;
    if (this.#arrived < chunkBytes) return;
    this.control().addNumber(kinds.arrived, 0, this.#arrived);
    this.#arrived = 0;
    this.flushSoon();
  }

  /** The other end has received this many bytes of bodies. */
  confirmed(bytes: number): void {
    this.#unconfirmed = Math.max(0, this.#unconfirmed - bytes);
    if (this.#unconfirmedWindow.moved(bytes)) this.#unconfirmedWindow.double();
    if (this.#bodies.length > 0) this.flushSoon();
  }

  /** Goes after all other frames of the call. */
  cancel(stream: number): void {
    this.calls.addNumber(kinds.cancel, stream);
    this.flushSoon();
  }

  /** The lane for frames that overtake calls in a crowded channel. */
  control(): FrameWriter {
    if (this.#channel.queued < crowdedBytes) return this.calls;
    return (this.#urgent ??= new FrameWriter());
  }

  /** Writes waiting frames except bodies, and nothing after that. */
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
    // Bodies that have ended meanwhile have no part.
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
