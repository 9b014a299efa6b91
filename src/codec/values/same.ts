// Whether two values read the same in a message.

import { bytesOf } from "./binary.ts";
import type { KnownClass } from "./known-class.ts";

/** The application's classes. */
interface Classes {
  of(value: object): KnownClass | undefined;
}

/** Compares data, and for instances the data that travels. Anything else is only the same as itself. */
export function isSame(
  left: unknown,
  right: unknown,
  classes: Classes,
  compared: Map<unknown, unknown> = new Map(),
): boolean {
  if (Object.is(left, right) || (compared.has(left) && compared.get(left) === right)) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null)
    return false;
  if (Object.getPrototypeOf(left) !== Object.getPrototypeOf(right)) return false;
  compared.set(left, right);
  const [content, other] = [contentOf(left, classes), contentOf(right, classes)];
  return (
    content !== undefined &&
    content.length === other?.length &&
    content.every((item, index) => isSame(item, other[index], classes, compared))
  );
}

function contentOf(value: object, classes: Classes): readonly unknown[] | undefined {
  const known = classes.of(value);
  if (known?.hasForm === false)
    return [...known.names, ...known.record.fields].map(
      (name) => (value as Readonly<Record<string, unknown>>)[name ?? ""],
    );
  if (value instanceof Map) return [...(value as Map<unknown, unknown>)].flat();
  if (value instanceof Set) return [...(value as Set<unknown>)];
  if (value instanceof Date) return [value.getTime()];
  if (value instanceof URL || value instanceof RegExp) return [String(value)];
  const bytes = bytesOf(value);
  if (bytes) return [...bytes];
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null
    ? Object.entries(value).flat()
    : undefined;
}
