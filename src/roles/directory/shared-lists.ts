// Lists of procedures in the directory, by digest and in parts. Members with the same list share it: the first one
// writes it, and any of them again if it is gone.

import type { Buckets } from "../../base/ports/buckets.ts";
import type { Host } from "../../base/ports.ts";
import { type MemberList, readList } from "../members/member-list.ts";
import { maxListBytes, partBytes } from "../common/limits.ts";

/** A list's digest and length. */
export interface ListName {
  readonly digest: string;
  readonly bytes: number;
}

const partKey = (digest: string, part: number): string => `${digest}.${part}`;
const encoder = new TextEncoder();

/** Writes a list unless it is there. */
export async function writeSharedList(
  buckets: Buckets,
  { digest, bytes }: ListName,
  text: () => Uint8Array,
): Promise<void> {
  // This value is written after the parts, so they are there if it is.
  if ((await buckets.get("lists", digest)) !== undefined) return;
  const all = text();
  for (let part = 0; part * partBytes < bytes; part++)
    await buckets.put(
      "lists",
      partKey(digest, part),
      all.subarray(part * partBytes, (part + 1) * partBytes),
    );
  await buckets.put("lists", digest, encoder.encode(String(bytes)));
}

/** Throws an error with the mistake in the list: its parts aren't signed, so anyone may have written them. */
export async function readSharedList(
  host: Pick<Host, "digest">,
  buckets: Buckets,
  { digest, bytes }: ListName,
): Promise<MemberList> {
  if (bytes > maxListBytes) throw new Error(`a list may have ${maxListBytes} bytes, not ${bytes}`);
  const text = new Uint8Array(bytes);
  for (let start = 0; start < bytes; start += partBytes) {
    const part = await buckets.get("lists", partKey(digest, start / partBytes));
    if (part === undefined) throw new Error(`the list ${digest} isn't complete`);
    if (part.length !== Math.min(partBytes, bytes - start))
      throw new Error(`a part of the list ${digest} has ${part.length} bytes`);
    text.set(part, start);
  }
  if (host.digest(text) !== digest) throw new Error(`the list doesn't fit its digest ${digest}`);
  return readList(text, digest);
}
