// Access levels, which limit the callers from outside a procedure's node. They are compared only here.

import { type Access, entryOf, type Manifest, type SegmentEntry } from "./manifest.ts";

/** All access levels, the most open first. */
export const accesses: readonly Access[] = ["public", "protected", "private"];

export function isAccess(value: unknown): value is Access {
  return accesses.includes(value as Access);
}

/** Whether anyone but the node that holds the procedure may call it. */
export function isCallable(access: Access): boolean {
  return access !== "private";
}

/** Whether arguments of the callers from outside of an entry are checked by types. */
export function isChecked({
  access,
  validate,
}: Pick<SegmentEntry, "access"> & { readonly validate?: boolean | undefined }): boolean {
  return isCallable(access) && validate !== false;
}

/**
 * The more open access wins: a procedure of two segments is public if one of them makes it public.
 */
export function mostOpen(levels: readonly Access[]): Access {
  return accesses.find((access) => levels.includes(access)) ?? "private";
}

/** FQNs of the procedures that others may call where these segments are loaded. */
export function callableIn(
  { procedures, segments }: Pick<Manifest, "procedures" | "segments">,
  names: readonly string[],
): readonly string[] {
  const entries = names
    .flatMap((name) => entryOf(segments, name) ?? [])
    .filter(({ access }) => isCallable(access));
  return [...new Set(entries.map(({ procedure }) => procedures[procedure]?.fqn ?? ""))];
}
