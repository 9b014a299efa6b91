// Types end where the network begins: a caller may send anything.
import { type FieldErrors, Invalid } from "./errors.ts";

/** What is wrong with a value, or undefined. */
export type Check = (value: unknown) => string | undefined;

export const text =
  (longest: number): Check =>
  (value) => {
    if (typeof value !== "string" || value.trim() === "") return "can't be blank";
    // Postgres has no zero character.
    if (value.includes("\0")) return "is invalid";
    return value.length > longest ? `is too long (maximum is ${longest} characters)` : undefined;
  };

export const optional =
  (inner: Check): Check =>
  (value) =>
    value === undefined ? undefined : inner(value);

/** Null and the empty text say that there is nothing. */
export const maybe =
  (inner: Check): Check =>
  (value) =>
    value === undefined || value === null || value === "" ? undefined : inner(value);

export const tags: Check = (value) =>
  Array.isArray(value) && value.length <= 20 && value.every((tag) => text(40)(tag) === undefined)
    ? undefined
    : "must be a list of at most 20 short texts";

/** Throws with all that is wrong. */
export function check<T extends object>(
  values: T,
  checks: { readonly [Field in keyof T]?: Check },
): void {
  if (typeof values !== "object" || values === null)
    throw new Invalid({ value: ["must be an object"] });
  const errors: Record<string, string[]> = {};
  for (const [field, find] of Object.entries<Check | undefined>(checks)) {
    const problem = find?.(values[field as keyof T]);
    if (problem !== undefined) errors[field] = [problem];
  }
  if (Object.keys(errors).length > 0) throw new Invalid(errors satisfies FieldErrors);
}
