// Hostile cookies, and hostile values that a procedure sets in its answer.

import { describe, expect, it } from "vitest";

import { attack, callServices, socketsForAll } from "./_attack.ts";
import { bytesOf, exchange, services } from "./_sockets.ts";

const sockets = await socketsForAll();

describe("a Cookie field", () => {
  it("of 1 MB answers 431 at each service", async () => {
    const fields = [`Cookie: session=${"x".repeat(1_048_576)}`];
    await attack(sockets, services, bytesOf({ target: "/rpc/a/canary", fields }), 431);
  });

  it.each([
    "no-pair; good=1",
    "=no name; good=1",
    "good=1; bad name=2; b@d(=3",
    ";;; ; good=1 ;",
    "__proto__=2; constructor=3; good=1",
    "bad=%E0%A4%A; good=1",
    'quoted="; good=1',
    "\u00e4=\u00fc; good=1",
    `good=1; ${"a=b; ".repeat(2_000)}`,
  ])("with malformed pairs gives the valid ones: %#", async (cookie) => {
    const request = bytesOf({ target: "/rpc/a/cookie?name=good", fields: [`Cookie: ${cookie}`] });
    for (const { body } of await attack(sockets, callServices, request, 200))
      expect(body).toBe("1");
  });

  it.each(["__proto__", "constructor", "toString", "none"])(
    "has no cookie of the name of an object's property: %s",
    async (name) => {
      const request = bytesOf({ target: `/rpc/a/cookie?name=${name}`, fields: ["Cookie: good=1"] });
      // `undefined` is answered without content.
      await attack(sockets, callServices, request, 204);
    },
  );
});

describe("a value from a request that a procedure puts into its answer", () => {
  const breaks = ["\r\nx-evil: 1", "\nx-evil: 1", "\rx-evil: 1", "\u0000", "\r\n\r\n<script>"];

  it.each(breaks)("can't add a line as a header's value: %j", async (text) => {
    const request = bytesOf({
      target: "/rpc/a/setHeader",
      json: { name: "x-a", value: `a${text}` },
    });
    for (const { head } of await attack(sockets, callServices, request, 500))
      expect(head).not.toMatch(/x-evil|x-a:/i);
  });

  it.each([...breaks, "", " ", "a b", "a:b", "set-cookie", "x-svc-trust-key", "content-length"])(
    "can't be a header's name: %j",
    async (name) => {
      const request = bytesOf({ target: "/rpc/a/setHeader", json: { name, value: "1" } });
      for (const { head } of await attack(sockets, callServices, request, 500))
        expect(head).not.toMatch(/x-evil|x-svc-trust-key/i);
    },
  );

  it.each(breaks)("can't add a line as a cookie's value: %j", async (text) => {
    const request = bytesOf({ target: "/rpc/a/setCookie", json: { name: "a", value: `1${text}` } });
    for (const { head } of await attack(sockets, callServices, request, 200)) {
      expect(head).not.toMatch(/^x-evil/im);
      expect(head.match(/^set-cookie: a=1%0|^set-cookie: a=1%/gim)).toHaveLength(1);
    }
  });

  it.each([...breaks, "", "a b", "a=b", "a;b", "__Host-a; Domain=evil.example"])(
    "can't be a cookie's name: %j",
    async (name) => {
      const request = bytesOf({ target: "/rpc/a/setCookie", json: { name, value: "1" } });
      for (const { head } of await attack(sockets, callServices, request, 500))
        expect(head).not.toMatch(/set-cookie|x-evil/i);
    },
  );
});

describe("the state of a call that an outsider sends", () => {
  const encoded = (value: unknown): string =>
    Buffer.from(JSON.stringify(value)).toString("base64url");

  it.each([
    ["locals", [`x-svc-locals: ${encoded({ user: "admin" })}`]],
    ["locals that are no base64", ["x-svc-locals: %%%"]],
    ["settings of an answer", [`x-svc-response: ${encoded({ cookies: [["a", "a=1"]] })}`]],
    ["another outer request", ["x-svc-request: GET plain 10.0.0.1 https://evil.example/"]],
    [
      "locals and a wrong credential",
      [`x-svc-locals: ${encoded({ user: "admin" })}`, "x-svc-credential: service abc"],
    ],
  ])("has no effect: %s", async (_, fields) => {
    const request = bytesOf({ target: "/rpc/a/locals", fields });
    for (const { head, body } of await attack(sockets, callServices, request, 200)) {
      expect(body).toBe("{}");
      expect(head).not.toMatch(/set-cookie|x-svc-response|x-svc-locals/i);
    }
  });

  it("has no effect with the trust key's own field in a wrong form", async () => {
    for (const service of callServices)
      expect(
        (
          await exchange(
            sockets.ports[service],
            bytesOf({
              target: "/rpc/a/locals",
              fields: ["x-svc-trust-key:", `x-svc-locals: ${encoded({ user: "admin" })}`],
            }),
          )
        ).body,
      ).toBe("{}");
  });
});
