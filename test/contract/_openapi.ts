// Checks OpenAPI documents by tools that others wrote.

import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect } from "vitest";

let linter: Worker | undefined;

/** A document is valid for its version, and has nothing that a linter would complain of. */
export async function expectValid(document: object): Promise<void> {
  linter ??= new Worker(join(import.meta.dirname, "_lint.mjs"));
  linter.unref();
  const answer = once(linter, "message");
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
  linter.postMessage(JSON.stringify(document));
  const [problems] = (await answer) as [readonly string[]];
  expect(problems).toEqual([]);
}
