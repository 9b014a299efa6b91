// A large answer goes out in slices, each when the caller has taken the one before: only bytes that are still to be taken are held.

import type { ServerResponse } from "node:http";

import type { Holder } from "./held-memory.ts";

const sliceBytes = 65_536;

/** Slices of `bytes` that others share: whoever takes them slowly makes nobody hold more. */
export async function* slicesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += sliceBytes) yield bytes.subarray(at, at + sliceBytes);
}

/** `body`, of `size` bytes, in slices that are let go of one by one: of a view of it each would keep the whole. */
export function sliced(body: string | Uint8Array, size: number): Buffer[] {
  const slices: Buffer[] = [];
  if (typeof body !== "string") {
    for (let at = 0; at < size; at += sliceBytes)
      slices.push(Buffer.from(body.subarray(at, at + sliceBytes)));
    return slices;
  }
  // Where each character is a byte, as nearly always, a copy of the bytes takes a tenth of the time.
  const encoding = size === body.length ? "latin1" : "utf8";
  for (let at = 0, end: number; at < body.length; at = end) {
    end = at + sliceBytes;
    // The halves of a pair are one character.
    if ((body.charCodeAt(end - 1) & 0xfc00) === 0xd800) end++;
    slices.push(Buffer.from(body.slice(at, end), encoding));
  }
  return slices;
}

/** Writes `slices`, of `size` bytes together, and resolves when the last is with the socket, or the caller has gone. Held are those that wait. */
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
    slice !== undefined && !response.destroyed;
    slice = slices.shift()
  ) {
    const { length } = slice;
    if (!response.write(slice)) await drained(response);
    left -= length;
    holder.give(length);
  }
  slices.length = 0;
  holder.give(left);
}

function drained(response: ServerResponse): Promise<void> {
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
