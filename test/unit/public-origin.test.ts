import { describe, expect, it } from "vitest";

import type { HeaderFields, HttpRequest } from "../../src/ports.ts";
import { createPublicOrigin, type PublicOriginOptions } from "../../src/public-origin.ts";
import { stranger, type Trust } from "../../src/trust.ts";
import { TestLog } from "../_cluster.ts";

const requestWith = (headers: HeaderFields, scheme: "http" | "https" = "http"): HttpRequest => ({
  method: "GET",
  target: "/",
  scheme,
  headers,
  readBody: async () => new Uint8Array(),
  signal: new AbortController().signal,
});
const create = (options: PublicOriginOptions = {}, log: TestLog = new TestLog()) =>
  createPublicOrigin(log, options);
const member: Trust = { holdsKey: false, member: true, trusted: false };
const keyHolder: Trust = { holdsKey: true, member: true, trusted: true };

describe("hosts that a service answers for", () => {
  const accepts = (
    options: PublicOriginOptions,
    host: string | undefined,
    more: HeaderFields = {},
  ): boolean => {
    const web = create(options);
    web.listensAt("http://Inner.example:3000");
    return web.accepts(requestWith({ host, ...more }));
  };

  it.each([
    "localhost",
    "localhost:3000",
    "LocalHost.",
    "shop.localhost",
    "127.0.0.1",
    "127.0.0.1:3000",
    "10.1.2.3",
    "[::1]",
    "[::1]:3000",
    "[2001:DB8::1]:80",
    "inner.example",
    "inner.example:8080",
    "INNER.EXAMPLE.:3000",
    "",
    undefined,
  ])("takes %s", (host) => {
    expect(accepts({}, host)).toBe(true);
  });

  it.each([
    "evil.example",
    "evil.example:3000",
    "notlocalhost",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "inner.example.evil.example",
    "evil-inner.example",
    "1.2.3",
    "0x7f000001",
    "::1",
    "[::1",
    "[::1].evil.example",
    "*",
  ])("doesn't take %s", (host) => {
    expect(accepts({}, host)).toBe(false);
  });

  it("takes those of its origins and of 'hosts', whatever the port", () => {
    const options = {
      origins: ["https://shop.example", "https://m.shop.example:8443"],
      hosts: ["Other.example"],
    };
    for (const host of ["shop.example", "shop.example:81", "m.shop.example", "other.example:3000"])
      expect(accepts(options, host)).toBe(true);
    for (const host of ["www.shop.example", "example"]) expect(accepts(options, host)).toBe(false);
  });

  it("takes all with *", () => {
    for (const host of ["evil.example", "a", undefined])
      expect(accepts({ hosts: ["*"] }, host)).toBe(true);
  });

  it("believes what was forwarded when told to, and checks both hosts then", () => {
    const forwarded = { origins: ["https://shop.example"], forwarded: true };
    expect(accepts(forwarded, "127.0.0.1", { "x-forwarded-host": "shop.example" })).toBe(true);
    expect(accepts(forwarded, "127.0.0.1", { "x-forwarded-host": "evil.example" })).toBe(false);
    // A page whose name was pointed here can set any other header itself.
    expect(accepts(forwarded, "evil.example", { "x-forwarded-host": "shop.example" })).toBe(false);
    expect(accepts({}, "127.0.0.1", { "x-forwarded-host": "evil.example" })).toBe(true);
  });

  it("tells the log once for each host, with the key to set, and not for ever", () => {
    const log = new TestLog();
    const web = create({}, log);
    const refused = (host: string): string => web.misdirected(requestWith({ host })).message;
    expect(refused("Evil.example:80")).toBe(
      `This service doesn't answer for the host "evil.example"`,
    );
    refused("evil.example");
    expect(log.lines).toEqual([
      `warning: refused a request for the host "evil.example". If it is one of this service's, add it to 'hosts' or set 'origin'`,
    ]);
    for (let at = 0; at < 1000; at++) refused(`${at}.example`);
    expect(log.lines.length).toBeLessThan(50);
    expect(refused("x".repeat(10_000)).length).toBeLessThan(400);
  });
});

describe("what the caller asked for", () => {
  const forwarded = { "x-forwarded-host": "shop.example", "x-forwarded-proto": "https" };

  it("is what the request says, for a stranger", () => {
    expect(create().asked(requestWith({ host: "a:1", ...forwarded }), stranger)).toEqual({
      host: "a:1",
      scheme: "http",
    });
    expect(create().asked(requestWith({ host: "a" }, "https"), stranger)).toEqual({
      host: "a",
      scheme: "https",
    });
  });

  it("is what a member of the deployment says of it, and nothing where it says nothing", () => {
    expect(create().asked(requestWith({ host: "gateway", ...forwarded }), member)).toEqual({
      host: "shop.example",
      scheme: "https",
    });
    expect(create().asked(requestWith({ host: "gateway" }), member)).toEqual({
      host: undefined,
      scheme: undefined,
    });
    expect(create().asked(requestWith({ host: "gateway" }), keyHolder)).toEqual({
      host: "gateway",
      scheme: "http",
    });
  });

  it("is what something in front says of it, when that is believed", () => {
    const web = create({ forwarded: true });
    expect(web.asked(requestWith({ host: "inner", ...forwarded }), stranger)).toEqual({
      host: "shop.example",
      scheme: "https",
    });
    const list = { "x-forwarded-host": "shop.example, inner", "x-forwarded-proto": "https, http" };
    expect(web.asked(requestWith({ host: "inner", ...list }), stranger)).toEqual({
      host: "shop.example",
      scheme: "https",
    });
    const odd = { "x-forwarded-host": "", "x-forwarded-proto": "ftp" };
    expect(web.asked(requestWith({ host: "inner", ...odd }), stranger)).toEqual({
      host: "inner",
      scheme: "http",
    });
  });
});

describe("a request that a page of another origin causes", () => {
  const isForeign = (
    fields: HeaderFields,
    options: PublicOriginOptions = {},
    host = "shop.example",
  ): boolean => create(options).isForeign(fields, { host, scheme: "http" });

  it("is known by what the browser says of the site", () => {
    for (const site of [
      "cross-site",
      "same-site",
      "",
      "Same-Origin",
      "same-origin, none",
      "anything",
    ])
      expect(isForeign({ "sec-fetch-site": site, origin: "http://shop.example" }), site).toBe(true);
    for (const site of ["same-origin", "none"])
      expect(isForeign({ "sec-fetch-site": site, origin: "http://a" }), site).toBe(false);
  });

  it("is known by Origin, else by Referer, where the browser says nothing of the site", () => {
    expect(isForeign({})).toBe(false);
    expect(isForeign({ origin: "http://shop.example" })).toBe(false);
    expect(isForeign({ referer: "http://shop.example/a?b" })).toBe(false);
    for (const from of [
      "http://evil.example",
      "http://shop.example:81",
      "null",
      "",
      "shop.example",
      "about:blank",
    ]) {
      expect(isForeign({ origin: from }), from).toBe(true);
      expect(isForeign({ referer: from }), from).toBe(true);
    }
    expect(isForeign({ origin: "http://evil.example", referer: "http://shop.example/" })).toBe(
      true,
    );
    expect(isForeign({ origin: "http://shop.example", referer: "http://evil.example/" })).toBe(
      false,
    );
    expect(
      create().isForeign({ origin: "http://shop.example" }, { host: undefined, scheme: "http" }),
    ).toBe(true);
  });

  it("is one of no configured origin, whatever the host says", () => {
    const options = { origins: ["https://shop.example", "https://m.shop.example"] };
    expect(isForeign({ origin: "https://m.shop.example" }, options, "127.0.0.1:3000")).toBe(false);
    expect(isForeign({ referer: "https://shop.example/a" }, options, "127.0.0.1:3000")).toBe(false);
    expect(isForeign({ origin: "http://shop.example" }, options, "shop.example")).toBe(true);
    expect(isForeign({ origin: "http://127.0.0.1:3000" }, options, "127.0.0.1:3000")).toBe(true);
  });
});
