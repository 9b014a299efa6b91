// Compares a value with its copy after encoding and decoding.

import { expect } from "vitest";

import { difference } from "../e2e/wire/src/checks/difference.ts";

/** `toStrictEqual`, which doesn't compare names, types and bytes of files. */
export async function expectSame(actual: unknown, expected: unknown): Promise<void> {
  expect(actual).toStrictEqual(expected);
  expect(await difference(expected, actual)).toBeUndefined();
}
