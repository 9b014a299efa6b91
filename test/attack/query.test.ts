// QUERY with bodies, types and heads that a proper client doesn't send.

import { describe, expect, it } from "vitest";

import { attack, callServices, socketsForAll } from "./_attack.ts";
import { bytesOf, exchange } from "./_sockets.ts";

const sockets = await socketsForAll();
const everywhere = [...callServices, "standalone"] as const;
const query = (target: string, more: Parameters<typeof bytesOf>[0] = {}): Buffer =>
  bytesOf({ method: "QUERY", target, ...more });

describe("a QUERY", () => {
  it("changes nothing: a procedure that isn't safe never runs, however it is asked for", async () => {
    const json = { value: "x" };
    for (const target of ["/rpc/a/echo", "/rpc/a/echo?value=x", "/rpc/a/echo@0", "/rpc/a%2Fecho"])
      for (const { body } of await attack(sockets, everywhere, query(target, { json }), 405))
        expect(body).toContain("answers QUERY only with");
    for (const field of [
      "x-http-method-override: POST",
      "x-method-override: POST",
      "x-svc-cross-site: no",
      "content-type: application/json, text/plain",
    ])
      await attack(
        sockets,
        everywhere,
        query("/rpc/a/echo", { json, fields: [field] }),
        [405, 415],
      );
  });

  it("with a body of another type, or of none, is refused without being read", async () => {
    for (const [type, status] of [
      ["text/plain", 415],
      ["multipart/form-data; boundary=a", 415],
      ["application/x-www-form-urlencoded", 415],
      ["application/json+x", 415],
      ["", 400],
      [" ; charset=utf-8", 415],
    ] as const)
      await attack(
        sockets,
        everywhere,
        query("/rpc/a/safe", { body: "value=x", fields: [`content-type: ${type}`] }),
        status,
      );
    await attack(sockets, everywhere, query("/rpc/a/safe"), 400);
    const packed = ["content-type: application/json", "content-encoding: gzip"];
    await attack(sockets, everywhere, query("/rpc/a/safe", { body: "{}", fields: packed }), 415);
  });

  it("has the limits of a POST", async () => {
    const value = "x".repeat(2_000_000);
    await attack(sockets, everywhere, query("/rpc/a/safe", { json: { value } }), 413);
    const deep = `{"value":${"[".repeat(500)}${"]".repeat(500)}}`;
    await attack(sockets, everywhere, query("/rpc/a/safe", { body: deep }), 400);
    await attack(sockets, everywhere, query("/rpc/a/safe", { body: '{"__proto__":1}' }), 400);
  });

  it("is a method by its exact name", async () => {
    for (const service of everywhere)
      for (const method of ["query", "Query"]) {
        const { status } = await exchange(
          sockets.ports[service],
          bytesOf({ method, target: "/rpc/a/safe", json: {} }),
        );
        // Node's parser doesn't know the method.
        expect(status).toBe(400);
      }
  });

  it("for a file or an endpoint of the runtime is no GET", async () => {
    for (const target of ["/health", "/svc/client.js"])
      await attack(sockets, everywhere, query(target, { json: {} }), [404, 405]);
  });
});

describe("names with several @", () => {
  it.each([
    ["/rpc/a/canary@@0", 404],
    ["/rpc/a/canary@0@0", 404],
    ["/rpc/a/canary@0%400", 404],
    ["/rpc/a/canary%25400", 404],
    ["/rpc/@a/canary", 404],
    ["/rpc/a@0/canary", 404],
    ["/rpc/a/@0", 404],
    ["/rpc/@0", 404],
    ["/rpc/a/../a/canary@0", 404],
    ["/rpc/a/canary@0/..", 404],
    ["/rpc/a/canary@.", 400],
    ["/rpc/a/canary@0..0", 400],
    ["/rpc/a/canary@99999999999", 400],
    [`/rpc/a/canary@${"0".repeat(8_000)}`, 400],
    [`/rpc/a/canary${"@0".repeat(4_000)}`, 404],
    ["/rpc/a/canary@0?version=0", 400],
    ["/rpc/a/secret@0", 404],
    ["/rpc/a/audit@0", 401],
    ["/rpc/a/canary@0", 200],
    ["/rpc/a/canary%400.0", 200],
  ])("%s is answered %i by every service", async (target, status) => {
    await attack(sockets, everywhere, bytesOf({ target }), status);
  });
});
