// Sends a large answer in slices, each after the caller has read the one before, so that only
// unread bytes are held.

import type { OutgoingMessage, ServerResponse } from "node:http";
import type { Writable } from "node:stream";

import { answerPace } from "./pace.ts";
import type { Holder } from "../../host/held-memory.ts";
import { sliceBytes, streamPieceBytes } from "../connection/limits.ts";

/** Slices of shared `bytes`: a slow reader needs no extra memory. */
export async function* slicesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += sliceBytes) yield bytes.subarray(at, at + sliceBytes);
}

/**
 * Copies `body`, of `size` bytes, into slices that can be freed one by one; a view would keep the
 * whole.
 */
export function sliced(body: string | Uint8Array, size: number): Buffer[] {
  const slices: Buffer[] = [];
  if (typeof body !== "string") {
    for (let at = 0; at < size; at += sliceBytes)
      slices.push(Buffer.from(body.subarray(at, at + sliceBytes)));
    return slices;
  }
  // If each character is one byte, as nearly always, copying takes a tenth of the time.
  const encoding = size === body.length ? "latin1" : "utf8";
  for (let at = 0, end: number; at < body.length; at = end) {
    end = at + sliceBytes;
    // Don't split a surrogate pair.
    if ((body.charCodeAt(end - 1) & 0xfc00) === 0xd800) end++;
    slices.push(Buffer.from(body.slice(at, end), encoding));
  }
  return slices;
}

/**
 * Writes `slices`, of `size` bytes together; resolves when the socket has the last one, or the
 * caller is gone.
 */
export async function writeSlices(
  response: ServerResponse,
  slices: Buffer[],
  size: number,
  holder: Holder,
): Promise<void> {
  holder.take(size);
  let left = size;
  for (
    let slice = slices.shift();
    slice !== undefined && !isGone(response);
    slice = slices.shift()
  ) {
    const { length } = slice;
    await writePiece(response, slice);
    left -= length;
    holder.give(length);
  }
  slices.length = 0;
  holder.give(left);
}

/**
 * Writes bytes of a large answer when it is their turn. Resolves when the socket has taken them, or the
 * caller is gone.
 */
export async function writePiece(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  const size = "stream" in response ? streamPieceBytes : sliceBytes;
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.subarray(at, at + size);
    await answerPace.piece(piece.length);
    if (isGone(response)) return;
    if (!response.write(piece)) await drained(response);
  }
}

/** Whether nothing can be written any more. A response of HTTP/2 doesn't say it itself, but its stream does. */
export function isGone(response: ServerResponse & { readonly stream?: Writable }): boolean {
  return response.destroyed || response.stream?.destroyed === true;
}

/** Resolves when the receiver has taken the written bytes, or is gone. */
export function drained(response: OutgoingMessage): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      response.off("drain", end);
      response.off("close", end);
      resolve();
    };
    response.on("drain", end);
    response.on("close", end);
  });
}
