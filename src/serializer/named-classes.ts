// Classes that a message needs and that nobody has loaded yet.

import type { ClassTable } from "./class-table.ts";

/**
 * Loads the classes that a parsed message names and that can still be loaded, all at once and before anything is built of it. The keys are
 * those of parsed forms, so it doesn't matter how they were escaped; what loads them looks them up among what the build recorded.
 */
export async function loadNamed(tree: unknown, classes: ClassTable): Promise<void> {
  if (classes.load === undefined) return;
  const keys = new Set<string>();
  collect(tree, keys);
  for (const key of keys) if (classes.get(key)) keys.delete(key);
  if (keys.size > 0) await classes.load(keys);
}

/** Adds the key of each serialized form, and each that an annotation of superjson's `meta` names: `["class", key]`. */
function collect(value: unknown, keys: Set<string>): void {
  if (typeof value !== "object" || value === null) return;
  const parts = value as Readonly<Record<string, unknown>>;
  if (Array.isArray(value)) {
    if (value[0] === "class" && typeof value[1] === "string") keys.add(value[1]);
    for (const one of value as unknown[]) collect(one, keys);
  } else {
    if (parts["serialized"] === true && typeof parts["key"] === "string") keys.add(parts["key"]);
    for (const name in parts) collect(parts[name], keys);
  }
}
