// The frames of a link. A frame is a length (u32, of all that follows), a kind with the bit that says
// whether it must be understood (u8), the length of an extension area that may be ignored (u8) and
// the area itself, the number of a stream (u32, 0 for the link itself), and a payload. Big endian.

import type { CallFrom } from "../base/ports.ts";
import { longChunkBytes, mostFrameBytes, mostHandshakeBytes } from "./limits.ts";

/**
 * Kinds of frames. A receiver skips unknown kinds, unless they are marked or begin calls: both ends count
 * calls, and a skipped one would never be answered.
 */
export const kinds = {
  /** An acceptor's first frame: its introduction and its proof. */
  welcome: 0x01,
  /** A call for a caller outside of the deployment. */
  callOutside: 0x10,
  /** A call for a caller outside of the deployment who has shown the key. */
  callTrusted: 0x11,
  /** A request by the service at the other end itself, which has proven the key. */
  callOwn: 0x12,
  /** A call that a procedure makes. */
  callService: 0x13,
  answer: 0x18,
  /** A part of a body. */
  chunk: 0x19,
  /** A body is complete. */
  end: 0x1a,
  /** The caller has left, or the sender of a body can't go on. */
  cancel: 0x1b,
  /** The window of a body grows by this many bytes. */
  window: 0x1c,
  ping: 0x20,
  pong: 0x21,
  /**
   * Without a payload: send no more calls. With one: this end closes the link now, having taken so many calls,
   * for this reason.
   */
  goAway: 0x22,
  /** The limit of concurrent calls. */
  credit: 0x23,
  /** This many bytes of bodies have arrived, read or not. */
  arrived: 0x24,
} as const;
export type Kind = (typeof kinds)[keyof typeof kinds];

/** Only the kind of a call's frame tells whose call it is; the call itself can't claim it. */
export const callKinds: Readonly<Record<CallFrom, Kind>> = {
  outside: kinds.callOutside,
  trusted: kinds.callTrusted,
  service: kinds.callService,
  key: kinds.callOwn,
};

/** Kinds from 0x10 to 0x17 begin calls, also those of a later release. */
const beginsCall = (kind: number): boolean => (kind & 0x78) === 0x10;

/** A frame of an unknown kind with this bit ends the link. */
const mustUnderstand = 0x80;
const known: ReadonlySet<number> = new Set(Object.values(kinds));

/** Size of a frame's length field. */
export const lengthBytes = 4;
/** Size of a frame's other fields, without an extension. */
export const headBytes = 6;

/** The other end violated the protocol, which ends the link. */
export class ProtocolError extends Error {
  override readonly name: string = "ProtocolError";
}

/**
 * Gets each frame. The payload is valid during the call only, unless it may be kept: then it doesn't change,
 * and little else is in its memory. A long part of a body is handed over in pieces, as the channel cut it: one
 * `first`, then any number of `rest`.
 */
export type OnFrame = (
  kind: Kind,
  stream: number,
  payload: Uint8Array,
  isKept: boolean,
  cut?: "first" | "rest",
) => void;

/** Finds the frames in the bytes of a channel, which may be cut anywhere. */
export class FrameReader {
  #onFrame: OnFrame;
  /** Bytes that the other end may still send before it has proven the key. */
  #allowance: number;
  /** The beginning of an incomplete frame. */
  #kept: Uint8Array = nothing;
  #keptBytes = 0;
  /** Missing bytes of a part that is being handed over in pieces, and its stream. */
  #rest = 0;
  #restOf = 0;

  /** `allowance` bounds all frames together, until {@link FrameReader.admit}. */
  constructor(onFrame: OnFrame, allowance: number = Infinity) {
    this.#onFrame = onFrame;
    this.#allowance = allowance;
  }

  /** The other end has proven the key: later frames go to `onFrame`, without an allowance. */
  admit(onFrame: OnFrame): void {
    this.#onFrame = onFrame;
    this.#allowance = Infinity;
  }

  /** Throws a {@link ProtocolError} for bytes that aren't a frame, and errors of `onFrame`. */
  push(bytes: Uint8Array): void {
    let at = 0;
    if (this.#rest > 0) {
      at = Math.min(this.#rest, bytes.length);
      this.#rest -= at;
      this.#onFrame(kinds.chunk, this.#restOf, bytes.subarray(0, at), isMost(at, bytes), "rest");
    }
    while (this.#keptBytes > 0 && at < bytes.length) {
      const missing = this.#missing();
      const taken = Math.min(missing, bytes.length - at);
      this.#keep(bytes.subarray(at, at + taken));
      at += taken;
      if (taken < missing || this.#missing() > 0) continue;
      const whole = this.#kept.subarray(0, this.#keptBytes);
      // The next frame may be kept while this one is handled.
      this.#kept = nothing;
      this.#keptBytes = 0;
      this.#frame(whole, 0, whole.length, true);
    }
    for (;;) {
      if (bytes.length - at < lengthBytes) break;
      const end = at + lengthBytes + this.#lengthAt(bytes, at);
      if (end > bytes.length) break;
      this.#frame(bytes, at, end, isMost(end - at, bytes));
      at = end;
    }
    if (at < bytes.length && !this.#begin(bytes, at)) this.#keep(bytes.subarray(at));
  }

  /** Hands over the beginning of a long part of a body. Returns whether it is one. */
  #begin(bytes: Uint8Array, at: number): boolean {
    const head = at + lengthBytes + headBytes;
    if (head > bytes.length || bytes[at + lengthBytes]! !== kinds.chunk) return false;
    const body = head + bytes[at + lengthBytes + 1]!;
    const end = at + lengthBytes + this.#lengthAt(bytes, at);
    if (body >= bytes.length || end - body < longChunkBytes || this.#allowance !== Infinity)
      return false;
    this.#restOf = readNumber(bytes, body - 4);
    this.#rest = end - bytes.length;
    const payload = bytes.subarray(body);
    this.#onFrame(kinds.chunk, this.#restOf, payload, isMost(payload.length, bytes), "first");
    return true;
  }

  /** Missing bytes of the incomplete frame, or of its length field. */
  #missing(): number {
    if (this.#keptBytes < lengthBytes) return lengthBytes - this.#keptBytes;
    return lengthBytes + this.#lengthAt(this.#kept, 0) - this.#keptBytes;
  }

  #keep(bytes: Uint8Array): void {
    const size = this.#keptBytes + bytes.length;
    if (size > this.#kept.length) {
      // Allocated once in the frame's size, if that is known: it may come byte by byte.
      const start = this.#keptBytes === 0 ? bytes : this.#kept.subarray(0, this.#keptBytes);
      const isKnown = start.length >= lengthBytes;
      const whole = isKnown ? lengthBytes + this.#lengthAt(start, 0) : size;
      const grown = new Uint8Array(Math.max(size, whole));
      grown.set(this.#kept.subarray(0, this.#keptBytes));
      this.#kept = grown;
    }
    this.#kept.set(bytes, this.#keptBytes);
    this.#keptBytes = size;
  }

  #lengthAt(bytes: Uint8Array, at: number): number {
    const length = readNumber(bytes, at);
    if (length < headBytes) throw new ProtocolError(`A frame of ${length} bytes is too short`);
    if (length > mostFrameBytes)
      throw new ProtocolError(`A frame of ${length} bytes is over the limit of ${mostFrameBytes}`);
    if (length + lengthBytes > this.#allowance)
      throw new ProtocolError(`More than ${mostHandshakeBytes} bytes before a proof`);
    return length;
  }

  #frame(bytes: Uint8Array, at: number, end: number, isKept: boolean): void {
    this.#allowance -= end - at;
    const marked = bytes[at + lengthBytes]!;
    const kind = marked & ~mustUnderstand;
    const body = at + lengthBytes + headBytes + bytes[at + lengthBytes + 1]!;
    if (body > end) throw new ProtocolError("A frame is shorter than its extension");
    if (known.has(kind))
      this.#onFrame(kind as Kind, readNumber(bytes, body - 4), bytes.subarray(body, end), isKept);
    else if (marked !== kind || beginsCall(kind))
      throw new ProtocolError(`Unknown frame kind ${kind} that must be understood`);
  }
}

const nothing = new Uint8Array();

/** Whether these bytes are at least half of their memory, so that keeping them wastes little. */
const isMost = (size: number, { buffer }: Uint8Array): boolean => 2 * size >= buffer.byteLength;

export function readNumber(bytes: Uint8Array, at: number): number {
  return bytes[at]! * 0x1000000 + ((bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!);
}

export function writeNumber(bytes: Uint8Array, at: number, number: number): void {
  bytes[at] = number >>> 24;
  bytes[at + 1] = number >>> 16;
  bytes[at + 2] = number >>> 8;
  bytes[at + 3] = number;
}
