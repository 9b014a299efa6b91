import { describe, expect, it } from "vitest";

import { readRoute, routesClash } from "../../src/http/route-pattern.ts";
import { createRouteTable } from "../../src/http/route-table.ts";

const route = (text: string) => {
  const read = readRoute(text);
  if ("message" in read) throw new Error(read.message);
  return read;
};
const table = (...texts: string[]) =>
  createRouteTable(texts.map((text) => ({ ...route(text), text })));

describe("reading the route of an entry", () => {
  it.each([
    ["POST", /a method, a blank and a path/],
    ["POST  /a", /a method, a blank and a path/],
    ["POST /a b", /a method, a blank and a path/],
    ["post /a", /expected one of GET, POST/],
    ["HEAD /a", /expected one of GET, POST/],
    ["OPTIONS /a", /expected one of GET, POST/],
    ["TRACE /a", /expected one of GET, POST/],
    ["GET a", /doesn't start with a slash/],
    ["GET /", /doesn't begin with a literal part/],
    ["GET /:id", /doesn't begin with a literal part/],
    ["GET /*path", /doesn't begin with a literal part/],
    ["GET /rpc/a", /begins with "rpc"/],
    ["GET /svc", /begins with "svc"/],
    ["GET /health/x", /begins with "health"/],
    ["GET /nodes", /begins with "nodes"/],
    ["GET /metrics", /begins with "metrics"/],
    ["GET /@vite/x", /begins with "@vite"/],
    ["GET /a/:", /the part ":"/],
    ["GET /a/v:x", /the part "v:x"/],
    ["GET /a/:x.json", /the part ":x\.json"/],
    ["GET /a{/b}", /the part "a\{"/],
    ["GET /a/(b)", /the part "\(b\)"/],
    ["GET /a/*rest/b", /wildcard "\*rest" before its end/],
    ["GET /a/:x/:x", /two parameters "x"/],
    ["GET /a/:__proto__", /the part ":__proto__"/],
    ["GET /a//b", /an empty part/],
    ["GET /a/../b", /which no request's path has/],
    ["GET /a/%2e", /which no request's path has/],
    ["GET /a/100%", /which no request's path has/],
    ["GET /a#b", /which no request's path has/],
  ])("refuses %j", (text, message) => {
    expect(readRoute(text)).toMatchObject({ message, hint: expect.any(String) as string });
  });

  it.each(["GET /a", "* /a/", "POST /webhooks/:provider", "GET /files/*path", "PUT /über/:id"])(
    "takes %j",
    (text) => {
      expect(readRoute(text)).toEqual({
        method: text.split(" ")[0],
        path: text.split(" ")[1],
      });
    },
  );

  it.each([
    ["GET /a/:x", "GET /a/:y", true],
    ["GET /a/:x", "* /a/:y", true],
    ["GET /a/*x", "GET /a/*y", true],
    ["GET /a/:x", "POST /a/:x", false],
    ["GET /a/:x", "GET /a/b", false],
    ["GET /a/:x", "GET /a/*x", false],
    ["GET /a", "GET /a/", false],
    ["GET /a", "GET /A", false],
  ])("%j and %j clash: %j", (left, right, clash) => {
    expect(routesClash(route(left), route(right))).toBe(clash);
  });
});

describe("matching a request", () => {
  it.each([
    ["/a/b/c", "GET /a/b/:y"],
    ["/a/x/c", "GET /a/:x/c"],
    ["/a/x/d", "GET /a/*rest"],
    ["/a/b", "GET /a/:x"],
    ["/a/b/c/d", "GET /a/*rest"],
    ["/a/b/", "GET /a/*rest"],
    ["/a", undefined],
    ["/a/", undefined],
    ["/A/b", undefined],
    ["/b", undefined],
  ])("%s is for %s: literal before parameter before wildcard", (path, expected) => {
    const found = table("GET /a/*rest", "GET /a/:x", "GET /a/:x/c", "GET /a/b/:y").match(
      "GET",
      path,
    );
    expect(found.kind === "found" ? found.route.text : undefined).toBe(expected);
  });

  it("decodes parameters once", () => {
    const routes = table("GET /a/:x", "GET /w/*rest");
    expect(routes.match("GET", "/a/%2541%2Fb?x=1")).toMatchObject({ params: { x: "%41/b" } });
    expect(routes.match("GET", "/w/b%20c/d/")).toMatchObject({
      params: { rest: "b c/d/" },
    });
    expect(routes.match("GET", "/w/b%2fc/..d/.e")).toMatchObject({
      params: { rest: "b/c/..d/.e" },
    });
  });

  it("finds a literal that isn't ASCII in its escaped form", () => {
    expect(table("GET /ü/:x").match("GET", "/%C3%BC/1").kind).toBe("found");
  });

  it.each([
    "/a/.",
    "/a/..",
    "/a/../b",
    "/a/%2e%2E",
    "/a/%2e",
    "/a/.%2e/b",
    "/a/x%2f..%2fy",
    "/a/..%5cb",
    "/a/%2fetc/passwd",
    "/a/%2Fetc",
    "/a/b/%2f",
    "/a/b%2f",
    "/a/b%2f%2fc",
    "/a/b%2f.",
    "/a/b%5cc",
    "/a//b",
    "/a\\b",
    "/a/b\\c",
    "/a/%",
    "/a/%ff",
    "/a/b#c",
  ])("%s is malformed", (path) => {
    const kind = table("GET /a/*rest", "GET /a/:x").match("GET", path).kind;
    expect(["malformed", "none"]).toContain(kind);
    if (path !== "/a\\b") expect(kind).toBe("malformed");
  });

  it("a HEAD request is for the most specific route that answers GET", () => {
    const routes = table("* /a/:x", "GET /a/b");
    expect(routes.match("HEAD", "/a/b")).toMatchObject({ route: { text: "GET /a/b" } });
    expect(routes.match("HEAD", "/a/c")).toMatchObject({ route: { text: "* /a/:x" } });
  });

  it("a path whose routes have other methods names them", () => {
    const routes = table("GET /a/:x", "POST /a/b", "PUT /c");
    expect(routes.match("DELETE", "/a/b")).toEqual({
      kind: "other-method",
      allowed: ["POST", "GET", "HEAD"],
    });
    expect(routes.match("POST", "/a/b")).toMatchObject({ route: { text: "POST /a/b" } });
    expect(table("* /a").match("TRACE", "/a").kind).toBe("other-method");
  });
});
