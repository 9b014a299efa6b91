// Payloads. Of frames that begin a call or an answer: flags (u8), the length of the head (u24), the
// head, and the body if it is short. Of a goodbye: how many calls were taken (u32), and why.

import type { FrameWriter } from "./frame-writer.ts";
import { type Kind, kinds, ProtocolError, readNumber, writeNumber } from "./frames.ts";

/** The body follows in parts. */
export const bodyFollows = 1;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Adds a frame with a head, and with the body if it is given. */
export function addHeadFrame(
  writer: FrameWriter,
  kind: Kind,
  stream: number,
  head: string,
  body: Uint8Array | string | undefined,
): void {
  writer.addText(kind, stream, head, body === undefined ? bodyFollows : 0, body ?? "");
}

export interface HeadPayload {
  readonly flags: number;
  readonly text: string;
  readonly rest: Uint8Array;
}

/** Throws a {@link ProtocolError}. */
export function headIn(payload: Uint8Array): HeadPayload {
  if (payload.length < 4) throw new ProtocolError("A frame without a head");
  const first = readNumber(payload, 0);
  const end = 4 + (first & 0xffffff);
  if (end > payload.length) throw new ProtocolError("A frame is shorter than its head");
  let text: string;
  try {
    text = decoder.decode(payload.subarray(4, end));
  } catch {
    throw new ProtocolError("A head isn't UTF-8");
  }
  return { flags: first >>> 24, text, rest: payload.subarray(end) };
}

/** Throws a {@link ProtocolError}. */
export function numberIn(payload: Uint8Array): number {
  if (payload.length !== 4)
    throw new ProtocolError("The payload of this frame must be a number of four bytes");
  return readNumber(payload, 0);
}

/** Adds a goodbye: this end closes the link now, has taken so many calls, and gives the reason. */
export function addGoodbye(writer: FrameWriter, taken: number, cause: unknown): void {
  const text = String(cause instanceof Error ? cause.message : cause).slice(0, 500);
  const why = new TextEncoder().encode(text);
  const payload = writer.add(kinds.goAway, 0, 4 + why.length);
  writeNumber(payload, 0, taken);
  payload.set(why, 4);
}

/** The other end closed the link and gave a reason. */
export class Goodbye extends Error {}

/** Throws a {@link ProtocolError}. */
export function goodbyeIn(payload: Uint8Array): { readonly taken: number; readonly cause: Error } {
  if (payload.length < 4) throw new ProtocolError("A goodbye must say how many calls were taken");
  const why = new TextDecoder().decode(payload.subarray(4));
  const cause = new Goodbye(`The other end has ended the link: ${why}`);
  return { taken: readNumber(payload, 0), cause };
}
