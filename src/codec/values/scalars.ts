// Values that both encodings write as text. Each function returns `undefined` for text that isn't
// exactly what an encoder writes.

import { attempt, Fault } from "./fault.ts";
import type { ValueLimits } from "../../base/limits.ts";

/** A number that JSON can't write. */
export function specialNumber(text: string): number | undefined {
  return /^(NaN|-?Infinity|-0)$/.test(text) ? Number(text) : undefined;
}

/** Throws a {@link Fault} past the limit: parsing takes quadratic time. */
export function bigIntFrom(text: string, limits: ValueLimits): bigint | undefined {
  if (text.replace("-", "").length > limits.maxDigits)
    throw new Fault(`more than ${limits.maxDigits} digits (limit 'maxDigits')`);
  return /^-?\d+$/.test(text) ? BigInt(text) : undefined;
}

export function urlFrom(text: string): URL | undefined {
  return attempt(() => new URL(text));
}

export function regExpFrom(source: string, flags: string): RegExp | undefined {
  return attempt(() => new RegExp(source, flags));
}
