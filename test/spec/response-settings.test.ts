import { describe, expect, it } from "vitest";

import { ResponseSettings } from "../../src/http/context/response-settings.ts";
import { readSettings } from "../../src/http/context/settings-form.ts";

const create = (secure = true): ResponseSettings =>
  new ResponseSettings(() => ({
    secureCookies: secure,
    takesCookies: true,
    cookie: undefined,
    base: "",
  }));

describe("settings of an answer", () => {
  it.each([
    "content-type",
    "Content-Length",
    "content-security-policy",
    "X-Content-Type-Options",
    "access-control-allow-origin",
    "set-cookie",
    "location",
    "x-svc-node",
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
  ])("context-25: these headers can't be set: %s", (name) => {
    expect(() => create().headers.set(name, "x")).toThrow(TypeError);
    expect(() => create().headers.append(name, "x")).toThrow(TypeError);
    expect(() => create().headers.delete(name)).toThrow(TypeError);
  });

  it("x-content-type-options can be set to what each answer has, as many applications do (context-25)", () => {
    const settings = create();
    settings.headers.set("X-Content-Type-Options", "nosniff");
    const form = settings.form();
    expect(form?.headers).toEqual([["x-content-type-options", ["nosniff"], false]]);
    expect(readSettings(JSON.parse(JSON.stringify(form)))).toEqual(form);
  });

  it.each(["content-disposition", "Content-Language", "cache-control", "etag", "vary"])(
    "These headers can be set: %s",
    (name) => {
      const settings = create();
      settings.headers.set(name, "x");
      const answer = settings.onto({ status: 200, headers: {} }, { isPlain: true });
      expect(answer.headers).toEqual({ [name.toLowerCase()]: "x" });
    },
  );

  it.each([
    ["a line break in a value", "x-a", "1\r\nset-cookie: a=b"],
    ["a character that headers can't carry", "x-a", "€"],
    ["a space in a name", "x a", "1"],
    ["a line break in a name", "x-a\r\nx-b", "1"],
    ["an empty name", "", "1"],
    ["a value that is no string", "x-a", 1 as never],
  ])("A header with %s is a TypeError", (_, name, value) => {
    expect(() => create().headers.set(name, value)).toThrow(TypeError);
  });

  it.each([
    ["an empty name", "", "1", {}],
    ["a space in its name", "a b", "1", {}],
    ["a line break in its name", "a\n", "1", {}],
    ["an equals sign in its name", "a=b", "1", {}],
    ["a value that is no string", "a", undefined as never, {}],
    ["an invalid domain", "a", "1", { domain: "a b" }],
    ["a domain with a second attribute", "a", "1", { domain: "a; Path=/" }],
    ["a path with a second attribute", "a", "1", { path: "/; Domain=b" }],
    ["a relative path", "a", "1", { path: "x" }],
    ["a fraction as maxAge", "a", "1", { maxAge: 1.5 }],
    ["an invalid date", "a", "1", { expires: new Date(Number.NaN) }],
    ["an unknown sameSite", "a", "1", { sameSite: "some" as never }],
    ["SameSite=None without Secure", "a", "1", { sameSite: "none", secure: false } as const],
    ["SameSite=None in another case", "a", "1", { sameSite: "None" as never }],
    ["sameSite that is no text", "a", "1", { sameSite: false as never }],
    ["a path that is no text", "a", "1", { path: 5 as never }],
    ["Partitioned without Secure", "a", "1", { partitioned: true, secure: false }],
    ["the prefix __Secure- without Secure", "__Secure-a", "1", { secure: false }],
    ["the prefix __Host- and a path", "__Host-a", "1", { path: "/x" }],
    ["more than 4096 bytes", "a", "x".repeat(4096), {}],
  ])(
    "context-26: a cookie that browsers would reject is a TypeError (%s)",
    (_, name, value, options) => {
      expect(() => create().cookies.set(name, value, options)).toThrow(TypeError);
    },
  );

  it("SameSite=None needs Secure also where it is the default to be without", () => {
    expect(() => create(false).cookies.set("a", "1", { sameSite: "none" })).toThrow(/secure: true/);
    create(true).cookies.set("a", "1", { sameSite: "none" });
  });

  it("A value with a line break, a semicolon or other letters is percent-encoded", () => {
    const settings = create(false);
    settings.cookies.set("a", "1\r\nx; ü");
    expect(settings.onto({ status: 200, headers: {} }, { isPlain: true }).headers).toMatchObject({
      "set-cookie": ["a=1%0D%0Ax%3B%20%C3%BC; Path=/; HttpOnly; SameSite=Lax"],
    });
  });

  it("A deleted cookie is set with an end in the past", () => {
    const settings = create(false);
    settings.cookies.set("a", "1");
    settings.cookies.delete("a");
    expect(settings.onto({ status: 200, headers: {} }, { isPlain: true }).headers).toMatchObject({
      "set-cookie": [
        "a=; Max-Age=0; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Lax",
      ],
    });
  });

  it("Settings over 16384 bytes are refused, and those before stay", () => {
    const settings = create();
    settings.headers.set("x-a", "1");
    expect(() => settings.headers.set("x-b", "x".repeat(16_384))).toThrow(/16384 bytes/);
    expect(settings.form()?.headers).toEqual([["x-a", ["1"], false]]);
  });

  it("Settings count with the bytes that they have between services", () => {
    const settings = create();
    for (const letter of ['"', "é"])
      expect(() => settings.headers.set("x-a", letter.repeat(9_000))).toThrow(/16384 bytes/);
    settings.headers.set("x-a", "x".repeat(9_000));
  });

  it("A cookie that middleware sets keeps the answer out of caches as well", () => {
    const settings = create();
    settings.headers.set("cache-control", "public, max-age=60");
    const answer = settings.onto(
      { status: 200, headers: { "set-cookie": "session=1" } },
      { isPlain: true },
    );
    expect(answer.headers["cache-control"]).toBe("no-store");
  });

  it("An appended header goes beside the answer's own", () => {
    const settings = create();
    settings.headers.append("vary", "cookie");
    const answer = settings.onto({ status: 200, headers: { vary: "origin" } }, { isPlain: true });
    expect(answer.headers).toEqual({ vary: "origin, cookie" });
  });
});
