// A WebSocket (RFC 6455) as the channel of a link, for networks that pass no other upgrade. A link's bytes may be
// cut anywhere, so messages aren't put together again. Texts and extensions end it.

import { getRandomValues } from "node:crypto";
import type { Socket } from "node:net";

import type { ChannelReceiver } from "../../../src/base/ports/links.ts";
import type { HeldMemory, Holder } from "../../host/held-memory.ts";
import { SocketChannel } from "./socket-channel.ts";
import {
  longBytes,
  mostControlBytes,
  mostHeadBytes,
  mostMessageBytes,
} from "../connection/limits.ts";

const opcodes = { rest: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
/** Reasons for closing a WebSocket. */
const codes = { normal: 1000, malformed: 1002, text: 1003, tooLarge: 1009 } as const;

export class WebSocketChannel extends SocketChannel {
  /** A dialer masks its frames, an acceptor doesn't. */
  readonly #isDialer: boolean;
  #receiver: ChannelReceiver | undefined;
  #isOver = false;
  /** Bytes of heads that are queued in the socket. */
  #queuedHeads = 0;
  /** The head of the incoming frame, as far as it has come. */
  readonly #head = new Uint8Array(mostHeadBytes);
  #headBytes = 0;
  #opcode = 0;
  #key = new Uint8Array(4);
  /** Bytes of the frame's payload that have come, and that are missing. */
  #came = 0;
  #left = 0;
  /** Size of the incoming message so far; `undefined` if the next frame begins one. */
  #message: number | undefined;
  readonly #control = new Uint8Array(mostControlBytes);

  constructor(socket: Socket, head: Buffer, memory: HeldMemory, holder: Holder, isDialer: boolean) {
    super(socket, head, memory, holder);
    this.#isDialer = isDialer;
  }

  /** Without heads: a link derives from it which of its own bytes have left. */
  override get queued(): number {
    return Math.max(0, super.queued - this.#queuedHeads);
  }

  override send(bytes: Uint8Array, isMore = false): void {
    for (let at = 0; at < bytes.length; at += mostMessageBytes) {
      const end = at + mostMessageBytes;
      this.#write(opcodes.binary, bytes.subarray(at, end), isMore || end < bytes.length);
    }
  }

  override close(): void {
    this.#sayClosed(codes.normal);
    super.close();
  }

  override open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
    super.open({
      onBytes: (bytes) => this.#read(bytes),
      onDrain: () => receiver.onDrain(),
      onClose: (cause) => receiver.onClose(cause),
    });
  }

  #write(opcode: number, payload: Uint8Array, isMore = false): void {
    const { length } = payload;
    const lengthCode = lengthCodeOf(length);
    const lengthBytes = lengthBytesOf(lengthCode);
    const headBytes = 2 + lengthBytes + (this.#isDialer ? 4 : 0);
    // The payload must not change, so it is masked in a copy.
    const isCopied = this.#isDialer || length < longBytes;
    const frame = Buffer.allocUnsafe(headBytes + (isCopied ? length : 0));
    frame[0] = 0x80 | opcode;
    frame[1] = (this.#isDialer ? 0x80 : 0) | lengthCode;
    if (lengthBytes === 2) frame.writeUInt16BE(length, 2);
    if (lengthBytes === 8) frame.writeBigUInt64BE(BigInt(length), 2);
    if (isCopied) frame.set(payload, headBytes);
    if (this.#isDialer) {
      const key = nextKey();
      frame.set(key, headBytes - key.length);
      mask(frame.subarray(headBytes), key, 0);
    }
    this.#queuedHeads += headBytes;
    super.send(frame, isMore || !isCopied, () => (this.#queuedHeads -= headBytes));
    if (!isCopied) super.send(payload, isMore);
  }

  #read(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && !this.#isOver;) {
      if (this.#left === 0) {
        this.#head[this.#headBytes++] = bytes[at++]!;
        if (this.#headBytes === headSize(this.#head, this.#headBytes)) this.#begin();
        continue;
      }
      const part = bytes.subarray(at, at + this.#left);
      at += part.length;
      if (!this.#isDialer) mask(part, this.#key, this.#came);
      const isControl = this.#opcode >= opcodes.close;
      if (isControl) this.#control.set(part, this.#came);
      else this.#receiver!.onBytes(part);
      this.#came += part.length;
      this.#left -= part.length;
      if (isControl && this.#left === 0) this.#controlled();
    }
  }

  /** The head of a frame is complete. */
  #begin(): void {
    const [first = 0, second = 0] = this.#head;
    const opcode = first & 0x0f;
    const isFinal = first >= 0x80;
    const isControl = opcode >= opcodes.close;
    const length = lengthIn(this.#head);
    if (opcode === opcodes.text) return this.#refuse(codes.text, "a text");
    const isKnown = isControl
      ? opcode <= opcodes.pong && isFinal && length <= mostControlBytes
      : opcode === (this.#message === undefined ? opcodes.binary : opcodes.rest);
    const isMasked = second >= 0x80;
    // The bits between the two are for extensions.
    if (!isKnown || (first & 0x70) !== 0 || isMasked === this.#isDialer)
      return this.#refuse(codes.malformed, "what isn't a message of a link");
    if (!isControl) {
      const message = (this.#message ?? 0) + length;
      if (message > mostMessageBytes)
        return this.#refuse(codes.tooLarge, `a message of more than ${mostMessageBytes} bytes`);
      this.#message = isFinal ? undefined : message;
    }
    this.#opcode = opcode;
    this.#key = this.#head.slice(this.#headBytes - 4, this.#headBytes);
    this.#left = length;
    this.#headBytes = this.#came = 0;
    if (isControl && length === 0) this.#controlled();
  }

  /** A control frame has come, perhaps from something between the two ends. */
  #controlled(): void {
    const payload = this.#control.slice(0, this.#came);
    if (this.#opcode === opcodes.ping) this.#write(opcodes.pong, payload);
    if (this.#opcode !== opcodes.close) return;
    const code = payload.length < 2 ? "without a code" : `with ${numberIn(payload.subarray(0, 2))}`;
    this.closeFor(new Error(`The other end closed the WebSocket ${code}`));
  }

  #refuse(code: number, what: string): void {
    this.#sayClosed(code);
    this.closeFor(new Error(`The other end of the WebSocket sent ${what}`));
  }

  #sayClosed(code: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#write(opcodes.close, Uint8Array.of(code >> 8, code & 0xff));
  }
}

/** The length of a head, as far as its first bytes tell. */
function headSize(head: Uint8Array, came: number): number {
  if (came < 2) return 2;
  const isMasked = head[1]! >= 0x80;
  return 2 + lengthBytesOf(head[1]! & 0x7f) + (isMasked ? 4 : 0);
}

/** The seven bits of a head for a length: the length itself, or a code for the bytes that follow (RFC 6455, 5.2). */
function lengthCodeOf(length: number): number {
  if (length < 126) return length;
  return length < 65_536 ? 126 : 127;
}

/** The number of bytes that follow such a code. */
function lengthBytesOf(code: number): number {
  if (code < 126) return 0;
  return code === 126 ? 2 : 8;
}

function lengthIn(head: Uint8Array): number {
  const length = head[1]! & 0x7f;
  if (length < 126) return length;
  return numberIn(head.subarray(2, length === 126 ? 4 : 10));
}

const numberIn = (bytes: Uint8Array): number =>
  bytes.reduce((number, byte) => number * 256 + byte, 0);

const keys = new Uint8Array(4096);
let nextKeyAt = keys.length;

/**
 * Callers decide some of the bytes that a link carries. If they could guess the key, they could make a service send
 * bytes that a proxy takes for a request (RFC 6455, 10.3).
 */
function nextKey(): Uint8Array {
  if (nextKeyAt === keys.length) {
    getRandomValues(keys);
    nextKeyAt = 0;
  }
  return keys.subarray(nextKeyAt, (nextKeyAt += 4));
}

/** Masks or unmasks bytes in place, which begin at `from` of a payload. */
function mask(bytes: Uint8Array, key: Uint8Array, from: number): void {
  const { byteOffset, length } = bytes;
  const aligned = Math.min(-byteOffset & 3, length);
  let at = 0;
  for (; at < aligned; at++) bytes[at]! ^= key[(from + at) & 3]!;
  const count = (length - at) >> 2;
  if (count > 0) {
    const turned = Uint8Array.from(key, (_, index) => key[(from + at + index) & 3]!);
    const [word = 0] = new Uint32Array(turned.buffer);
    const words = new Uint32Array(bytes.buffer, byteOffset + at, count);
    for (let index = 0; index < count; index++) words[index]! ^= word;
    at += 4 * count;
  }
  for (; at < length; at++) bytes[at]! ^= key[(from + at) & 3]!;
}
