import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { attack, calls } from "./_attack.ts";
import { bytesOf, doors, exchange, openSockets, type Sockets } from "./_sockets.ts";

// Node drops header fields past a count of its own without a word. If one of ours is among them, the next service reads the rest of the
// request as something else than what was sent.

let sockets: Sockets;
beforeAll(async () => {
  sockets = await openSockets();
});
afterAll(() => sockets.close());

const filler = (count: number, size = 0): string[] =>
  Array.from({ length: count }, (_, at) => `a${at.toString(36)}: ${"x".repeat(size)}`);
const raw = (line: string, ...fields: string[]): string =>
  `${[line, ...fields].join("\r\n")}\r\n\r\n`;

describe("the number of header fields", () => {
  it.each(calls)("never makes a stranger's call a trusted one, at the %s", async (door) => {
    const regexp = JSON.stringify({
      value: { serialized: true, name: "RegExp", source: "a", flags: "" },
    });
    for (const count of [
      ...Array.from({ length: 40 }, (_, at) => 180 + at),
      ...Array.from({ length: 51 }, (_, at) => 960 + at),
    ]) {
      const fields = filler(count);
      const guarded = await exchange(
        sockets.ports[door],
        bytesOf({ target: "/rpc/a/audit", fields }),
      );
      expect(guarded.status, `${count} fields`).toBe(count > 200 ? 431 : 401);
      const encoded = ["x-svc-data-encoding: serialized", ...fields];
      const answer = await exchange(
        sockets.ports[door],
        bytesOf({ target: "/rpc/a/echo", body: regexp, fields: encoded }),
      );
      // Its content type is one of those that count.
      expect(answer.status, `${count} fields`).toBe(count > 199 ? 431 : 400);
    }
  });

  it("is limited at each service, in an answer that says so", async () => {
    const answers = await attack(
      sockets,
      doors,
      bytesOf({ target: "/x", fields: filler(201) }),
      431,
    );
    for (const { head, body } of answers) {
      expect(body).toBe("More than 200 header fields (limit 'headerCount')");
      expect(head).toMatch(/\r\nx-svc-error: RequestHeaderFieldsTooLarge\r\n/i);
      expect(head).toMatch(/\r\ncontent-security-policy: sandbox; default-src 'none'\r\n/i);
    }
  });

  it("can't be exceeded by fields of ours that a stranger sends", async () => {
    await attack(
      sockets,
      doors,
      bytesOf({ target: "/x", fields: Array.from({ length: 230 }, (_, at) => `x-svc-${at}: 1`) }),
      431,
    );
  });
});

describe("the size of a head", () => {
  it("is limited by what the caller sends", async () => {
    const answers = await attack(
      sockets,
      doors,
      bytesOf({ target: "/x", fields: filler(40, 410) }),
      431,
    );
    for (const { body } of answers)
      expect(body).toBe("More than 16384 bytes of headers (limit 'header')");
    await attack(sockets, doors, bytesOf({ target: `/${"x".repeat(16_384)}` }), 431);
  });

  it.each([
    ["as many fields as a caller may send", { target: "/rpc/a/canary", fields: filler(200) }],
    [
      "as many bytes as a caller may send",
      {
        target: "/rpc/a/canary",
        fields: [`a: ${"x".repeat(16_384 - "/rpc/a/canary".length - 5)}`],
      },
    ],
    ["both", { target: "/rpc/a/canary", fields: filler(200, 74) }],
  ])("that the first service accepts passes all others: %s", async (_, request) => {
    for (const door of calls)
      expect(await exchange(sockets.ports[door], bytesOf(request)), door).toMatchObject({
        status: 200,
        body: "alive",
      });
  });

  it("stays within the limit when fields of one name are joined on the way", async () => {
    const fields = Array.from({ length: 200 }, () => `a: ${"x".repeat(76)}`);
    for (const door of calls)
      expect(
        await exchange(sockets.ports[door], bytesOf({ target: "/rpc/a/canary", fields })),
        door,
      ).toMatchObject({ status: 200 });
  });
});

describe("a request that could be for two hosts", () => {
  it.each([
    ["two Host fields", raw("GET /rpc/a/canary HTTP/1.1", "Host: localhost", "Host: localhost")],
    [
      "two different ones",
      raw("GET /rpc/a/canary HTTP/1.1", "Host: localhost", "host: evil.example"),
    ],
    [
      "an absolute target that disagrees with Host",
      raw("GET http://evil.example/rpc/a/canary HTTP/1.1", "Host: localhost"),
    ],
    [
      "the same by its port",
      raw("GET http://localhost:81/rpc/a/canary HTTP/1.1", "Host: localhost"),
    ],
    [
      "the same by a user",
      raw("GET http://localhost@evil.example/rpc/a/canary HTTP/1.1", "Host: localhost"),
    ],
    [
      "an absolute target beside an empty Host",
      raw("GET http://localhost/rpc/a/canary HTTP/1.1", "Host:"),
    ],
    ["HTTP/0.9", raw("GET /rpc/a/canary HTTP/0.9")],
    ["a version that nobody speaks here", raw("GET /rpc/a/canary HTTP/2.0", "Host: localhost")],
  ])("is refused: %s", async (_, bytes) => {
    await attack(sockets, doors, bytes, 400);
  });

  it.each([
    [
      "an absolute target that agrees",
      raw("GET http://LocalHost/rpc/a/canary HTTP/1.1", "Host: localhost:80"),
    ],
    ["an absolute target without Host", raw("GET http://localhost/rpc/a/canary HTTP/1.0")],
    ["HTTP/1.0 without Host", raw("GET /rpc/a/canary HTTP/1.0")],
  ])("is answered when it is for one: %s", async (_, bytes) => {
    for (const door of calls)
      expect(await exchange(sockets.ports[door], bytes), door).toMatchObject({
        status: 200,
        body: "alive",
      });
  });
});
