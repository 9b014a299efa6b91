import { describe, expect, it } from "vitest";

import type { HeaderFields, HttpRequest } from "../../src/base/ports.ts";
import { createPublicOrigin, type PublicOriginOptions } from "../../src/http/public-origin.ts";
import { stranger, type Trust } from "../../src/http/trust.ts";
import { TestLog } from "../_cluster.ts";
import { chunksOf } from "../../src/http/bodies.ts";

const requestWith = (headers: HeaderFields, scheme: "http" | "https" = "http"): HttpRequest => ({
  method: "GET",
  target: "/",
  scheme,
  headers,
  body: chunksOf(),
  readBody: async () => new Uint8Array(),
  signal: new AbortController().signal,
});
const create = (options: PublicOriginOptions = {}, log: TestLog = new TestLog()) =>
  createPublicOrigin(log, options);
const member: Trust = { holdsKey: false, member: true, relays: true, trusted: false, inner: false };
const keyHolder: Trust = {
  holdsKey: true,
  member: true,
  relays: false,
  trusted: true,
  inner: false,
};

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

  it("checks both hosts if forwarding headers are trusted", () => {
    const forwarded = { origins: ["https://shop.example"], forwarded: true };
    expect(accepts(forwarded, "127.0.0.1", { "x-forwarded-host": "shop.example" })).toBe(true);
    expect(accepts(forwarded, "127.0.0.1", { "x-forwarded-host": "evil.example" })).toBe(false);
    // A page whose name was pointed here can set any other header itself.
    expect(accepts(forwarded, "evil.example", { "x-forwarded-host": "shop.example" })).toBe(false);
    expect(accepts({}, "127.0.0.1", { "x-forwarded-host": "evil.example" })).toBe(true);
  });

  it("are logged once each when refused, with the key to set, up to a limit", () => {
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

describe("the requested origin", () => {
  const forwarded = { "x-forwarded-host": "shop.example", "x-forwarded-proto": "https" };

  it("is taken from the request itself for a caller from outside", () => {
    expect(
      create().requestedOrigin(requestWith({ host: "a:1", ...forwarded }), stranger),
    ).toMatchObject({
      host: "a:1",
      scheme: "http",
    });
    expect(create().requestedOrigin(requestWith({ host: "a" }, "https"), stranger)).toMatchObject({
      host: "a",
      scheme: "https",
    });
  });

  it("is taken from a member's forwarding headers only, and unknown without them", () => {
    expect(
      create().requestedOrigin(requestWith({ host: "gateway", ...forwarded }), member),
    ).toMatchObject({
      host: "shop.example",
      scheme: "https",
    });
    expect(create().requestedOrigin(requestWith({ host: "gateway" }), member)).toMatchObject({
      host: undefined,
      scheme: undefined,
    });
    expect(create().requestedOrigin(requestWith({ host: "gateway" }), keyHolder)).toMatchObject({
      host: "gateway",
      scheme: "http",
    });
  });

  it("is taken from forwarding headers of a trusted reverse proxy", () => {
    const web = create({ forwarded: true });
    expect(
      web.requestedOrigin(requestWith({ host: "inner", ...forwarded }), stranger),
    ).toMatchObject({
      host: "shop.example",
      scheme: "https",
    });
    const list = { "x-forwarded-host": "shop.example, inner", "x-forwarded-proto": "https, http" };
    expect(web.requestedOrigin(requestWith({ host: "inner", ...list }), stranger)).toMatchObject({
      host: "shop.example",
      scheme: "https",
    });
    const odd = { "x-forwarded-host": "", "x-forwarded-proto": "ftp" };
    expect(web.requestedOrigin(requestWith({ host: "inner", ...odd }), stranger)).toMatchObject({
      host: "inner",
      scheme: "http",
    });
  });
});

describe("a request by a page of another origin", () => {
  const isForeign = (
    fields: HeaderFields,
    options: PublicOriginOptions = {},
    host = "shop.example",
  ): boolean => create(options).isForeign(fields, { host, scheme: "http", isForwarded: false });

  it("is recognised by Sec-Fetch-Site", () => {
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

  it("is recognised by Origin, else by Referer, without Sec-Fetch-Site", () => {
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
      create().isForeign(
        { origin: "http://shop.example" },
        { host: undefined, scheme: "http", isForwarded: false },
      ),
    ).toBe(true);
  });

  it("is any of an origin that is not configured, whatever the host", () => {
    const options = { origins: ["https://shop.example", "https://m.shop.example"] };
    expect(isForeign({ origin: "https://m.shop.example" }, options, "127.0.0.1:3000")).toBe(false);
    expect(isForeign({ referer: "https://shop.example/a" }, options, "127.0.0.1:3000")).toBe(false);
    expect(isForeign({ origin: "http://shop.example" }, options, "shop.example")).toBe(true);
    expect(isForeign({ origin: "http://127.0.0.1:3000" }, options, "127.0.0.1:3000")).toBe(true);
  });
});
