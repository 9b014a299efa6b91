// Sends a hostile request and checks that the answer leaks nothing and the service still works.

import { afterAll, expect } from "vitest";
import {
  bytesOf,
  exchange,
  openSockets,
  type RawAnswer,
  type Service,
  type SocketOptions,
  type Sockets,
} from "./_sockets.ts";

/** Services that close after the file's tests. */
export async function socketsForAll(options: SocketOptions = {}): Promise<Sockets> {
  const sockets = await openSockets(options);
  afterAll(() => sockets.close());
  return sockets;
}

/** The services that accept calls. */
export const callServices = ["node", "gateway", "proxy"] as const;

const leak =
  /\/tmp\/|\/home\/|node_modules|file:\/\/|\n\s+at |\bE[A-Z]{4,}\b|errno|syscall|"stack"|127\.0\.0\.1/;

/** Checks that the next valid request works and finds no pollution. */
export async function expectAlive(sockets: Sockets, service: Service): Promise<void> {
  const [target, expected] =
    service === "repository" ? ["/health/live", "true"] : ["/rpc/a/canary", "alive"];
  expect(
    await exchange(sockets.ports[service], bytesOf({ target })),
    `the ${service} afterwards`,
  ).toMatchObject({ status: 200, body: expected });
}

/** Sends the request to each service. `expected` is a status or a list of accepted ones. */
export async function attack(
  sockets: Sockets,
  to: readonly Service[],
  bytes: Uint8Array | string,
  expected: number | readonly number[],
): Promise<RawAnswer[]> {
  const answers: RawAnswer[] = [];
  for (const service of to) {
    const answer = await exchange(sockets.ports[service], bytes);
    expect(
      [expected].flat(),
      `${service}: ${answer.status} ${answer.body.slice(0, 200)}`,
    ).toContain(answer.status);
    expect(answer.body).not.toMatch(leak);
    await expectAlive(sockets, service);
    answers.push(answer);
  }
  return answers;
}
