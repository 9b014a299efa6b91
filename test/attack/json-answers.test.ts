// Callers that ask for JSON: odd `accept` fields, and what problem details could tell them.

import { describe, expect, it } from "vitest";

import { attack, callServices, socketsForAll } from "./_attack.ts";
import { bytesOf, exchange } from "./_sockets.ts";

const sockets = await socketsForAll();
const everywhere = [...callServices, "standalone"] as const;
const accept = (field: string): string[] => [`accept: ${field}`];

describe("an accept field", () => {
  it.each([
    ["of 8 KB of ranges", `${"a/b;q=0.1,".repeat(800)}application/json`, true],
    ["of 8 KB of commas", `${",".repeat(8_000)}application/json`, true],
    ["of 8 KB of semicolons", `application/json${";".repeat(8_000)}`, true],
    ["of 8 KB of quotes", `${'"'.repeat(8_001)},application/json`, false],
    ["of 8 KB of backslashes in a quote", `application/json;a="${"\\".repeat(8_000)}`, true],
    ["of 8 KB of spaces", `application/json${" ".repeat(8_000)};q=1`, true],
    ["of weights that aren't numbers", "application/json;q=1e3, application/json;q=-1", false],
  ])("%s is read at once", async (_, field, isJson) => {
    const target = "/rpc/a/nowhere";
    const started = performance.now();
    for (const { body, head } of await attack(
      sockets,
      everywhere,
      bytesOf({ target, fields: accept(field) }),
      404,
    )) {
      expect(/content-type: application\/problem\+json/i.test(head)).toBe(isJson);
      expect(body.startsWith("{")).toBe(isJson);
    }
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  it("twice counts as one list, in order", async () => {
    const ask = (...fields: string[]) =>
      bytesOf({ target: "/rpc/a/nowhere", fields: fields.map((field) => `accept: ${field}`) });
    for (const [bytes, isJson] of [
      [ask("application/json", "text/plain"), true],
      [ask("text/plain", "application/json"), false],
    ] as const)
      for (const { body } of await attack(sockets, everywhere, bytes, 404))
        expect(body.startsWith("{")).toBe(isJson);
  });
});

describe("problem details", () => {
  it("are what the HTTP layer itself refuses with", async () => {
    for (const [status, title, request] of [
      [
        431,
        "RequestHeaderFieldsTooLarge",
        { fields: Array.from({ length: 201 }, (_, at) => `a${at}: b`) },
      ],
      [400, "BadRequest", { fields: ["host: elsewhere"] }],
      [413, "PayloadTooLarge", { body: "{}", fields: ["content-type: application/json"] }],
    ] as const) {
      const fields = [...accept("application/json"), ...request.fields];
      const body = "body" in request ? JSON.stringify("x".repeat(2_000_000)) : undefined;
      const bytes = bytesOf({
        target: "/rpc/a/echo",
        fields,
        ...(body !== undefined && { body }),
      });
      for (const answer of await attack(sockets, everywhere, bytes, status)) {
        expect(JSON.parse(answer.body)).toMatchObject({ status, title });
        expect(answer.head).toMatch(/\r\ncontent-type: application\/problem\+json\r\n/i);
        expect(answer.head).toMatch(/\r\nvary: accept, x-svc-data-encoding\r\n/i);
      }
    }
  });

  it("tell a private procedure from an unknown one no more than text does", async () => {
    const ask = async (name: string, port: number): Promise<string> => {
      const fields = accept("application/json");
      const { head, body } = await exchange(port, bytesOf({ target: `/rpc/a/${name}`, fields }));
      return (head + body)
        .replaceAll(name, "name")
        .replace(/\r\n(?:date|content-length): .*/gi, "");
    };
    for (const service of everywhere) {
      const port = sockets.ports[service];
      expect(await ask("hidden", port)).toBe(await ask("nowhere", port));
    }
  });
});
