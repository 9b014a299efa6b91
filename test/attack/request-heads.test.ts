import { describe, expect, it } from "vitest";

import { attack, callServices, socketsForAll } from "./_attack.ts";
import { bytesOf, services, exchange } from "./_sockets.ts";

// Node silently drops header fields past a limit. If one of ours is among them, the next service
// misinterprets the request.

const sockets = await socketsForAll();

const filler = (count: number, size = 0): string[] =>
  Array.from({ length: count }, (_, at) => `a${at.toString(36)}: ${"x".repeat(size)}`);
const raw = (line: string, ...fields: string[]): string =>
  `${[line, ...fields].join("\r\n")}\r\n\r\n`;

describe("the number of a request's header fields", () => {
  it.each(callServices)("never makes an outside call trusted at the %s", async (service) => {
    const regexp = JSON.stringify({
      value: { serialized: true, name: "RegExp", source: "a", flags: "" },
    });
    for (const count of [
      ...Array.from({ length: 40 }, (_, at) => 180 + at),
      ...Array.from({ length: 51 }, (_, at) => 960 + at),
    ]) {
      const fields = filler(count);
      const guarded = await exchange(
        sockets.ports[service],
        bytesOf({ target: "/rpc/a/audit", fields }),
      );
      expect(guarded.status, `${count} fields`).toBe(count > 200 ? 431 : 401);
      const encoded = ["x-svc-data-encoding: serialized", ...fields];
      const answer = await exchange(
        sockets.ports[service],
        bytesOf({ target: "/rpc/a/echo", body: regexp, fields: encoded }),
      );
      // The content type counts too.
      expect(answer.status, `${count} fields`).toBe(count > 199 ? 431 : 400);
    }
  });

  it("is limited at each service, and the answer names the limit", async () => {
    const answers = await attack(
      sockets,
      services,
      bytesOf({ target: "/x", fields: filler(201) }),
      431,
    );
    for (const { head, body } of answers) {
      expect(body).toBe("More than 200 header fields (limit 'headerCount')");
      expect(head).toMatch(/\r\nx-svc-error: RequestHeaderFieldsTooLarge\r\n/i);
      expect(head).toMatch(/\r\ncontent-security-policy: sandbox; default-src 'none'\r\n/i);
    }
  });

  it("is refused in the caller's encoding", async () => {
    const refusal = {
      target: "/rpc/a/echo",
      fields: ["x-svc-data-encoding: serialized", ...filler(201)],
    };
    for (const { head, body } of await attack(sockets, services, bytesOf(refusal), 431)) {
      expect(JSON.parse(body)).toEqual({
        serialized: true,
        name: "Error",
        type: "RequestHeaderFieldsTooLarge",
        message: "More than 200 header fields (limit 'headerCount')",
        trace: [],
        fields: {},
      });
      expect(head).toMatch(/\r\nx-svc-error: RequestHeaderFieldsTooLarge\r\n/i);
      expect(head).toMatch(/\r\ncontent-type: application\/json/i);
    }
    refusal.fields[0] = "x-svc-data-encoding: superjson";
    for (const { body } of await attack(sockets, services, bytesOf(refusal), 431))
      expect(JSON.parse(body)).toMatchObject({
        json: { name: "RequestHeaderFieldsTooLarge" },
        meta: { values: ["Error"] },
      });
    refusal.fields[0] = "x-svc-data-encoding: morse";
    for (const { body } of await attack(sockets, services, bytesOf(refusal), 431))
      expect(body).toBe("More than 200 header fields (limit 'headerCount')");
  });

  it("can't exceed the limit by x-svc fields from outside", async () => {
    await attack(
      sockets,
      services,
      bytesOf({ target: "/x", fields: Array.from({ length: 230 }, (_, at) => `x-svc-${at}: 1`) }),
      431,
    );
  });
});

describe("the size of a request's head", () => {
  it("is limited", async () => {
    const answers = await attack(
      sockets,
      services,
      bytesOf({ target: "/x", fields: filler(40, 410) }),
      431,
    );
    for (const { body } of answers)
      expect(body).toBe("More than 16384 bytes of headers (limit 'headerBytes')");
    await attack(sockets, services, bytesOf({ target: `/${"x".repeat(16_384)}` }), 431);
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
  ])("is accepted by all services if the first one accepts it: %s", async (_, request) => {
    for (const service of callServices)
      expect(await exchange(sockets.ports[service], bytesOf(request)), service).toMatchObject({
        status: 200,
        body: "alive",
      });
  });

  it("stays within the limit when a service joins fields with the same name", async () => {
    const fields = Array.from({ length: 200 }, () => `a: ${"x".repeat(76)}`);
    for (const service of callServices)
      expect(
        await exchange(sockets.ports[service], bytesOf({ target: "/rpc/a/canary", fields })),
        service,
      ).toMatchObject({ status: 200 });
  });
});

describe("a request with an ambiguous host", () => {
  it.each([
    ["two Host fields", raw("GET /rpc/a/canary HTTP/1.1", "Host: localhost", "Host: localhost")],
    [
      "two different Host fields",
      raw("GET /rpc/a/canary HTTP/1.1", "Host: localhost", "host: evil.example"),
    ],
    [
      "an absolute target that disagrees with Host",
      raw("GET http://evil.example/rpc/a/canary HTTP/1.1", "Host: localhost"),
    ],
    [
      "an absolute target with another port",
      raw("GET http://localhost:81/rpc/a/canary HTTP/1.1", "Host: localhost"),
    ],
    [
      "an absolute target with a user name",
      raw("GET http://localhost@evil.example/rpc/a/canary HTTP/1.1", "Host: localhost"),
    ],
    [
      "an absolute target with an empty Host",
      raw("GET http://localhost/rpc/a/canary HTTP/1.1", "Host:"),
    ],
    ["HTTP/0.9", raw("GET /rpc/a/canary HTTP/0.9")],
    ["an unsupported version", raw("GET /rpc/a/canary HTTP/2.0", "Host: localhost")],
  ])("is refused: %s", async (_, bytes) => {
    await attack(sockets, services, bytes, 400);
  });

  it.each([
    [
      "an absolute target that agrees",
      raw("GET http://LocalHost/rpc/a/canary HTTP/1.1", "Host: localhost:80"),
    ],
    ["an absolute target without Host", raw("GET http://localhost/rpc/a/canary HTTP/1.0")],
    ["HTTP/1.0 without Host", raw("GET /rpc/a/canary HTTP/1.0")],
  ])("is answered if the hosts agree: %s", async (_, bytes) => {
    for (const service of callServices)
      expect(await exchange(sockets.ports[service], bytes), service).toMatchObject({
        status: 200,
        body: "alive",
      });
  });
});
