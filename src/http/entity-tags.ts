// What tells a caller that it has an answer already.

import type { HeaderFields } from "../base/ports.ts";

/** Whether the caller has what has this `etag`, by `if-none-match`. Weak and strong tags of one name are the same (RFC 9110, section 13.1.2). */
export function hasTag({ "if-none-match": tags }: HeaderFields, etag: string): boolean {
  if (tags === undefined) return false;
  const name = withoutWeakness(etag);
  return String(tags)
    .split(",")
    .map((tag) => tag.trim())
    .some((tag) => tag === "*" || withoutWeakness(tag) === name);
}

const withoutWeakness = (tag: string): string => tag.replace(/^W\//, "");
