// One hostile request, and what must be true after it: an answer that tells nothing, and a process that goes on as it was.

import { expect } from "vitest";
import { bytesOf, type Door, exchange, type RawAnswer, type Sockets } from "./_sockets.ts";

/** The doors that take calls. */
export const calls = ["node", "gateway", "proxy"] as const;

const telling =
  /\/tmp\/|\/home\/|node_modules|file:\/\/|\n\s+at |\bE[A-Z]{4,}\b|errno|syscall|"stack"|127\.0\.0\.1/;

/** The next good request works, and finds nothing changed. */
export async function alive(sockets: Sockets, door: Door): Promise<void> {
  const [target, expected] =
    door === "repository" ? ["/health/live", "true"] : ["/rpc/a/canary", "alive"];
  expect(
    await exchange(sockets.ports[door], bytesOf({ target })),
    `the ${door} afterwards`,
  ).toMatchObject({ status: 200, body: expected });
}

/** Sends it to each door; `expected` is one status or those that are right. */
export async function attack(
  sockets: Sockets,
  to: readonly Door[],
  bytes: Uint8Array | string,
  expected: number | readonly number[],
): Promise<RawAnswer[]> {
  const answers: RawAnswer[] = [];
  for (const door of to) {
    const answer = await exchange(sockets.ports[door], bytes);
    expect([expected].flat(), `${door}: ${answer.status} ${answer.body.slice(0, 200)}`).toContain(
      answer.status,
    );
    expect(answer.body).not.toMatch(telling);
    await alive(sockets, door);
    answers.push(answer);
  }
  return answers;
}
