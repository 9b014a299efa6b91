// Collects outgoing frames, with one piece of memory for each write.

import type { Channel } from "../base/ports/links.ts";
import { headBytes, type Kind, lengthBytes, writeNumber } from "./frames.ts";
import { longBytes, mostPieces, pieceBytes, usefulBytes } from "./limits.ts";

const encoder = new TextEncoder();
const nothing = new Uint8Array();

const pieces: Uint8Array[] = [];

/** Collects frames for one write. */
export class FrameWriter {
  #bytes: Uint8Array | undefined;
  /** Offset of the next frame. */
  #end = 0;
  /** Offset of the bytes that aren't in `#whole`. */
  #start = 0;
  /** Finished pieces that go first, and their size. */
  #whole: Uint8Array[] = [];
  #wholeBytes = 0;

  /** Bytes that wait to be written. */
  get size(): number {
    return this.#wholeBytes + this.#end - this.#start;
  }

  /** Adds a frame with this payload, which must not change any more. */
  addBytes(kind: Kind, stream: number, payload: Uint8Array): void {
    if (payload.length < longBytes) return this.add(kind, stream, payload.length).set(payload);
    const at = this.#end;
    const end = at + lengthBytes + headBytes;
    const bytes = this.#room(end);
    head(bytes, at, headBytes + payload.length, kind, stream);
    this.#whole.push(bytes.subarray(this.#start, end), payload);
    this.#wholeBytes += end - this.#start + payload.length;
    this.#end = this.#start = end;
  }

  /** Adds a frame with a payload of `payload` bytes, and returns the memory for them. */
  add(kind: Kind, stream: number, payload: number): Uint8Array {
    const at = this.#end;
    const end = at + lengthBytes + headBytes + payload;
    const bytes = this.#room(end);
    head(bytes, at, headBytes + payload, kind, stream);
    this.#end = end;
    return bytes.subarray(end - payload, end);
  }

  /** Adds a frame with a number, or without a payload. */
  addNumber(kind: Kind, stream: number, number?: number): void {
    const at = this.#end;
    const payload = number === undefined ? 0 : 4;
    const end = at + lengthBytes + headBytes + payload;
    const bytes = this.#room(end);
    head(bytes, at, headBytes + payload, kind, stream);
    if (number !== undefined) writeNumber(bytes, end - 4, number);
    this.#end = end;
  }

  /** Adds a frame of flags (u8), the length of a text (u24), the text, and bytes or another text. */
  addText(
    kind: Kind,
    stream: number,
    text: string,
    flags: number,
    rest: Uint8Array | string,
  ): void {
    const at = this.#end;
    const start = at + lengthBytes + headBytes + 4;
    // A character has at most three bytes.
    const most = typeof rest === "string" ? 3 * rest.length : rest.length;
    const bytes = this.#room(start + 3 * text.length + most);
    const { written } = encoder.encodeInto(text, bytes.subarray(start));
    let end = start + written;
    if (typeof rest !== "string") {
      bytes.set(rest, end);
      end += rest.length;
    } else if (rest !== "") end += encoder.encodeInto(rest, bytes.subarray(end)).written;
    head(bytes, at, end - at - lengthBytes, kind, stream);
    writeNumber(bytes, start - 4, written);
    bytes[start - 4] = flags;
    this.#end = end;
  }

  /** Sends all frames so far. */
  sendTo(channel: Pick<Channel, "send">): void {
    const whole = this.#whole;
    if (whole.length > 0) {
      this.#whole = [];
      this.#wholeBytes = 0;
      const last = this.#end > this.#start ? undefined : whole.pop();
      for (const bytes of whole) channel.send(bytes, true);
      if (last !== undefined) channel.send(last);
    }
    if (this.#end > this.#start) channel.send(this.take());
    else this.#drop();
  }

  /** All frames so far except long payloads, in bytes that nothing else refers to. */
  take(): Uint8Array {
    const taken = (this.#bytes ?? nothing).subarray(this.#start, this.#end);
    this.#drop();
    return taken;
  }

  /** Leaves its memory to the next writer. */
  #drop(): void {
    const bytes = this.#bytes;
    if (
      bytes !== undefined &&
      bytes.length - this.#end >= usefulBytes &&
      pieces.length < mostPieces
    )
      pieces.push(bytes.subarray(this.#end));
    this.#bytes = undefined;
    this.#end = this.#start = 0;
  }

  #room(size: number): Uint8Array {
    const bytes = (this.#bytes ??= pieces.pop() ?? new Uint8Array(pieceBytes));
    if (size <= bytes.length) return bytes;
    const grown = new Uint8Array(Math.max(size, this.#end === 0 ? pieceBytes : 2 * bytes.length));
    grown.set(bytes.subarray(0, this.#end));
    if (this.#end === 0 && pieces.length < mostPieces) pieces.push(bytes);
    return (this.#bytes = grown);
  }
}

function head(bytes: Uint8Array, at: number, length: number, kind: Kind, stream: number): void {
  writeNumber(bytes, at, length);
  bytes[at + 4] = kind;
  bytes[at + 5] = 0;
  writeNumber(bytes, at + 6, stream);
}
