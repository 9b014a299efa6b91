// Entity tags: how a caller learns that its copy of an answer is current.

import type { HeaderFields } from "../base/ports.ts";

/**
 * Whether `if-none-match` names this `etag`. Weak and strong tags with the same name are equal (RFC 9110,
 * section 13.1.2).
 */
export function hasTag({ "if-none-match": tags }: HeaderFields, etag: string): boolean {
  if (tags === undefined) return false;
  const name = withoutWeakness(etag);
  return String(tags)
    .split(",")
    .map((tag) => tag.trim())
    .some((tag) => tag === "*" || withoutWeakness(tag) === name);
}

const withoutWeakness = (tag: string): string => tag.replace(/^W\//, "");
