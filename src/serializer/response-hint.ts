import { kindOf } from "./binary.ts";

/** What to say of a `Response` that a procedure returned, or that is in what it returned. */
export function responseHint(value: object): string | undefined {
  if (kindOf(value) !== "Response") return undefined;
  return "a Response can't be returned by a procedure: return what is in it, as text, data or a Blob. Whole responses are for routes, which aren't there yet";
}
