// Dates as ISO text, and back.

import { attempt } from "./fault.ts";

/** The same as a Date's own `toJSON`, in half the time, also for classes that override it. */
export function isoOf(date: Date): string | null {
  // An invalid date doesn't have a text.
  return attempt(() => Date.prototype.toISOString.call(date)) ?? null;
}

/**
 * The date of a Date form: February 30 and the hour 24 must not become another day. `undefined` for
 * other text.
 */
export function dateFrom(text: string): Date | undefined {
  const date = new Date(text);
  const day = date.getUTCDate();
  // Only the seconds may be left out. A day past a month's end becomes one of the first three of the next month,
  // and checking for those is cheaper than comparing days.
  return /^[+-]?\d{4,6}-\d\d-\d\dT(?!24).*Z$/.test(text) &&
    (day > 3 || (day > 0 && /-0[1-3]T/.test(text)))
    ? date
    : undefined;
}
