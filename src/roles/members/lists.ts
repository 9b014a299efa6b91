// The lists that a gateway holds, by digest. A list stays while members share it. One that was
// uploaded and that no member has joined with yet stays for a while.

import { BadRequest, NodeNotAvailable, PayloadTooLarge } from "../../base/errors.ts";
import type { Host } from "../../base/ports.ts";
import { listOf, type MemberList, type Offered, readList, textOfList } from "./member-list.ts";

/** A list of 100,000 procedures takes 5 to 10 MB. */
export const maxListBytes: number = 64 * 1024 * 1024;
/** Lists that no member has yet, complete or not: this many, with this many bytes together. */
const maxUploads = 16;
const maxUploadedBytes = 128 * 1024 * 1024;
/** An upload is dropped this long after its last part, and a complete one if nobody joins with it. */
const uploadIdleMs = 10_000;

/** A member that was told to send a list, and doesn't for this long, seems to be gone. */
const sendingMs = 1_000;
/** More lists than this aren't coming at once: their members are all told to send. */
const maxExpected = 100;

/** Some bytes of a list's text. */
export interface ListPart {
  /** Where they begin. */
  readonly start: number;
  /** How long the whole text is. */
  readonly total: number;
  readonly bytes: Uint8Array;
}

export interface Lists {
  /** The list, if members have it or it has been uploaded. */
  find(digest: string): MemberList | undefined;
  /**
   * Takes a part of a list that may be uploaded by several members at once, and returns how many
   * bytes it has from the start. The list is there once these are all. A part that begins further
   * on is left for later. Throws if the list isn't what its digest says.
   */
  add(digest: string, part: ListPart): number;
  /**
   * Whether a member should send the list. While one does, or was just told to, the others needn't:
   * a gateway that restarts would get a long list from each of a thousand members.
   */
  shouldSend(digest: string): boolean;
  /** The list that a member sent when it joined. */
  of(offered: Offered): MemberList;
  /** One more member has the list. Returns it as the other members have it. */
  share(list: MemberList): MemberList;
  /** One member less has it. A list that no member has is forgotten. */
  release(list: MemberList): void;
}

/** A list on its way, or a complete one that no member has joined with. */
class Upload {
  readonly total: number;
  received = 0;
  list: MemberList | undefined;
  cancelExpiry = (): void => {};
  /** Grows with what comes, whatever total was announced. */
  #bytes = new Uint8Array(0);

  constructor(total: number) {
    this.total = total;
  }

  get text(): Uint8Array {
    return this.#bytes.subarray(0, this.received);
  }

  add({ start, bytes }: ListPart): void {
    if (start > this.received) return;
    const fresh = bytes.subarray(this.received - start);
    const end = this.received + fresh.length;
    if (end > this.#bytes.length) {
      const larger = new Uint8Array(Math.min(this.total, Math.max(end, 2 * this.#bytes.length)));
      larger.set(this.text);
      this.#bytes = larger;
    }
    this.#bytes.set(fresh, this.received);
    this.received = end;
  }

  complete(list: MemberList): void {
    this.list = list;
    this.#bytes = new Uint8Array(0);
  }
}

/** Without `keepsDetails`, what lists say for the console is forgotten. */
export function createLists(
  host: Pick<Host, "clock" | "digest">,
  { keepsDetails = false }: { readonly keepsDetails?: boolean } = {},
): Lists {
  /** With the number of members that have each. */
  const shared = new Map<string, { readonly list: MemberList; members: number }>();
  const uploads = new Map<string, Upload>();
  /** Until when each list that members were told to send is expected to move. */
  const expected = new Map<string, number>();
  const encoder = new TextEncoder();

  const expectSoon = (digest: string): void => {
    const now = host.clock.now();
    if (expected.size >= maxExpected)
      for (const [key, until] of expected) if (until <= now) expected.delete(key);
    if (expected.size < maxExpected) expected.set(digest, now + sendingMs);
  };

  const drop = (digest: string): void => {
    uploads.get(digest)?.cancelExpiry();
    uploads.delete(digest);
    expected.delete(digest);
  };

  const begin = (digest: string, total: number): Upload => {
    let bytes = total;
    for (const upload of uploads.values()) bytes += upload.total;
    if (uploads.size >= maxUploads || bytes > maxUploadedBytes)
      throw new NodeNotAvailable(
        "This gateway is receiving as many lists as it can hold: send the list again in a moment",
      );
    const upload = new Upload(total);
    uploads.set(digest, upload);
    return upload;
  };

  const complete = (digest: string, upload: Upload): void => {
    const actual = host.digest(upload.text);
    if (actual !== digest)
      throw new BadRequest(
        `The list doesn't fit its digest ${digest}: the SHA-256 of these ${upload.total} bytes is ${actual}`,
      );
    const list = readList(upload.text, digest);
    upload.complete(keepsDetails ? list : { ...list, details: undefined });
  };

  const find = (digest: string): MemberList | undefined =>
    shared.get(digest)?.list ?? uploads.get(digest)?.list;

  return {
    find,
    add(digest, part) {
      const { start, total, bytes } = part;
      if (find(digest) !== undefined) return total;
      if (total > maxListBytes)
        throw new PayloadTooLarge(`A list may have ${maxListBytes} bytes, not ${total}`);
      if (start + bytes.length > total)
        throw new BadRequest(`The part ends after byte ${total}, where the list should end`);
      const upload = uploads.get(digest) ?? begin(digest, total);
      if (upload.total !== total)
        throw new BadRequest(
          `The list has ${total} bytes according to this part, and ${upload.total} according to an earlier one`,
        );
      upload.cancelExpiry();
      upload.cancelExpiry = host.clock.after(uploadIdleMs, () => drop(digest));
      upload.add(part);
      expectSoon(digest);
      if (upload.received < total) return upload.received;
      try {
        complete(digest, upload);
      } catch (error) {
        drop(digest);
        throw error;
      }
      return total;
    },
    shouldSend(digest) {
      if ((expected.get(digest) ?? -Infinity) > host.clock.now()) return false;
      expectSoon(digest);
      return true;
    },
    of(offered) {
      const digest = host.digest(encoder.encode(textOfList(offered)));
      return find(digest) ?? listOf(offered, digest);
    },
    share(list) {
      const { digest } = list;
      let entry = shared.get(digest);
      if (entry === undefined) shared.set(digest, (entry = { list, members: 0 }));
      entry.members++;
      drop(digest);
      return entry.list;
    },
    release({ digest }) {
      const entry = shared.get(digest);
      if (entry !== undefined && --entry.members === 0) shared.delete(digest);
    },
  };
}
