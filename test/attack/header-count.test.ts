import { afterAll, beforeAll, expect, it } from "vitest";
import { calls } from "./_attack.ts";
import { bytesOf, exchange, openSockets, type Sockets } from "./_sockets.ts";

// Node drops header fields past a count of its own without a word. If one of ours is among them, the next service reads the rest of the
// request as something else than what was sent.

let sockets: Sockets;
beforeAll(async () => {
  sockets = await openSockets();
});
afterAll(() => sockets.close());

const filler = (count: number): string[] => Array.from({ length: count }, (_, at) => `a${at.toString(36)}:`);

it.each(calls)("no number of header fields makes a stranger's call a trusted one at the %s", async (door) => {
  const regexp = JSON.stringify({ value: { serialized: true, name: "RegExp", source: "a", flags: "" } });
  for (let count = 960; count <= 1_010; count++) {
    const fields = filler(count);
    expect((await exchange(sockets.ports[door], bytesOf({ target: "/rpc/a/audit", fields }))).status, `${count} fields`).toBeOneOf([
      401, 431,
    ]);
    const encoded = ["x-svc-data-encoding: serialized", ...fields];
    const answer = await exchange(sockets.ports[door], bytesOf({ target: "/rpc/a/echo", body: regexp, fields: encoded }));
    expect(answer.status, `${count} fields`).toBeOneOf([400, 415, 431]);
  }
});
