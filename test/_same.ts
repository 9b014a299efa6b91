// Whether a value that travelled is what it was.

import { expect } from "vitest";

import { difference } from "../e2e/wire/src/checks/difference.ts";

/** `toStrictEqual`, and what it takes for the same: two files with different names, types or bytes. */
export async function expectSame(actual: unknown, expected: unknown): Promise<void> {
  expect(actual).toStrictEqual(expected);
  expect(await difference(expected, actual)).toBeUndefined();
}
