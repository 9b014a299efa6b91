// A large answer goes out in slices, each when the caller has taken the one before: only bytes that are still to be taken are held.

import type { ServerResponse } from "node:http";

import type { Holder } from "./held-memory.ts";

const sliceBytes = 65_536;

/** Parts of `bytes` that others share: whoever takes them slowly makes nobody hold more. */
export async function* slicesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += sliceBytes) yield bytes.subarray(at, at + sliceBytes);
}

/** Writes `bytes`, and resolves when the last slice is with the socket, or the caller has gone. Held are those that wait. */
export async function writeSlices(response: ServerResponse, bytes: Buffer, holder: Holder): Promise<void> {
  holder.take(bytes.length);
  let left = bytes.length;
  while (left > 0 && !response.destroyed) {
    const slice = bytes.subarray(bytes.length - left, bytes.length - left + sliceBytes);
    if (!response.write(slice)) await drained(response);
    left -= slice.length;
    holder.give(slice.length);
  }
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
