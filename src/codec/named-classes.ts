// Loads the classes that a message names before it's decoded.

import type { ClassTable } from "./class-table.ts";

/**
 * Loads the classes that a parsed message names and that aren't registered yet, all at once. Takes
 * the keys from the parsed tree, where no escape can hide them; the loader looks them up among the
 * classes that the build recorded.
 */
export async function loadNamed(tree: unknown, classes: ClassTable): Promise<void> {
  if (classes.load === undefined) return;
  const keys = new Set<string>();
  collect(tree, keys);
  for (const key of keys) if (classes.get(key)) keys.delete(key);
  if (keys.size > 0) await classes.load(keys);
}

/**
 * Adds the key of each serialized form, and of each annotation `["class", key]` in superjson's
 * `meta`.
 */
function collect(value: unknown, keys: Set<string>): void {
  if (typeof value !== "object" || value === null) return;
  const members = value as Readonly<Record<string, unknown>>;
  if (Array.isArray(value)) {
    if (value[0] === "class" && typeof value[1] === "string") keys.add(value[1]);
    for (const item of value as unknown[]) collect(item, keys);
  } else {
    if (members["serialized"] === true && typeof members["key"] === "string")
      keys.add(members["key"]);
    for (const name of Object.keys(members)) collect(members[name], keys);
  }
}
