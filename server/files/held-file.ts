// Files whose contents a service keeps from its start: its build's pages and manifest. A deploy may replace the
// output while the service runs, and a page that is newer than the service has files that aren't found.

import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { access, stat } from "node:fs/promises";
import type { HttpResponse } from "../../src/base/ports.ts";
import { answerHeaders, mediaTypes } from "../../src/base/protocol.ts";
import { sharedMs } from "./times.ts";

export interface HeldFile {
  readonly bytes: Buffer;
  /** Weak, as compressed answers have it too. */
  readonly etag: string;
  /** Identifies the file on disk at that time. */
  readonly stamp: string;
}

/** Reads a file. It must exist. */
export function holdFile(path: string): HeldFile {
  // Read the stamp first: if the file is replaced in between, at worst the page is checked in vain.
  const stamp = stampOf(statSync(path));
  const bytes = readFileSync(path);
  const etag = `W/"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
  return { bytes, etag, stamp };
}

function stampOf({ ino, mtimeMs, size }: { ino: number; mtimeMs: number; size: number }): string {
  return [ino, mtimeMs, size].join(" ");
}

/**
 * Whether the files that pages load are there, checked for each page: another build may have replaced the output.
 * `onReplaced` is called when the page was replaced, and again when the answer changes.
 */
export function wholeness(
  paths: readonly string[],
  onReplaced: ((isWhole: boolean) => void) | undefined,
): (page: { readonly path: string; readonly held?: HeldFile | undefined }) => Promise<boolean> {
  let reported: boolean | undefined;
  let answer: Promise<boolean> | undefined;
  const look = async (): Promise<boolean> => {
    const isWhole = await areThere(paths);
    if (reported !== isWhole) onReplaced?.(isWhole);
    reported = isWhole;
    setTimeout(() => (answer = undefined), sharedMs).unref();
    return isWhole;
  };
  return async ({ path, held }) => {
    const found = await stat(path).catch(() => undefined);
    if (held === undefined || (found && stampOf(found)) === held.stamp) return true;
    return await (answer ??= look());
  };
}

async function areThere(paths: readonly string[]): Promise<boolean> {
  // In batches, so that other requests aren't kept waiting.
  for (let at = 0; at < paths.length; at += 64) {
    const found = paths.slice(at, at + 64).map((path) =>
      access(path).then(
        () => true,
        () => false,
      ),
    );
    if ((await Promise.all(found)).includes(false)) return false;
  }
  return true;
}

/** Replaces a page whose files aren't there. */
export const replacedAnswer: HttpResponse = {
  status: 503,
  headers: { ...answerHeaders, "content-type": mediaTypes.text, "retry-after": "1" },
  body: "The files of this page are gone, since another build has replaced them: the service has to be restarted",
};
