// Changes of routes, beside the requests that each of the two builds answers.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareContracts } from "../../server/contract/compare.ts";
import {
  type Contract,
  contractFormat,
  type ContractRoute,
} from "../../server/contract/contract.ts";
import { readRoute, routesClash } from "../../src/http/route-pattern.ts";
import { createRouteTable } from "../../src/http/route-table.ts";

function contract(routes: readonly ContractRoute[]): Contract {
  return {
    format: contractFormat,
    application: {},
    procedures: [],
    routes,
    definitions: {},
    classes: {},
  };
}

function route(name: string, text: string, more: Partial<ContractRoute> = {}): ContractRoute {
  const pattern = readRoute(text);
  if ("message" in pattern) throw new Error(pattern.message);
  return { name, access: "public", ...pattern, ...more };
}

function told(before: readonly ContractRoute[], after: readonly ContractRoute[]) {
  return compareContracts(contract(before), contract(after)).map(
    ({ level, procedure, message }) => `${level} ${procedure}: ${message}`,
  );
}

describe("routes", () => {
  it("Messages name a request that isn't answered as before, and the route that gets it", () => {
    const show = route("show", "GET /images/:id");
    expect(told([show], [show, route("add", "GET /images/new")])).toEqual([
      "risky GET /images/:id: doesn't answer /images/new any more: 'GET /images/new' does",
      "fine GET /images/new: is new",
    ]);
    expect(told([show], [show, route("add", "POST /images/new")])).toEqual([
      "fine POST /images/new: is new",
    ]);
    expect(told([route("show", "* /images/:id")], [show])).toEqual([
      "breaking * /images/:id: doesn't answer POST /images/:id any more: 404 or 405",
    ]);
    expect(told([route("show", "GET /images/*at")], [show])).toEqual([
      "breaking GET /images/*at: doesn't answer /images/*at any more: 404 or 405",
    ]);
    expect(told([show], [route("show", "GET /images/*id")])).toEqual([
      "fine GET /images/:id: has changed, and answers what it did",
    ]);
  });

  it("A path of which one route keeps a part, and another one gets the rest, needs the access of both", () => {
    expect(
      told(
        [route("all", "GET /files/*at")],
        [
          route("all", "GET /files/*at"),
          route("inner", "GET /files/inner/*at", { access: "protected", guarded: true }),
        ],
      ),
    ).toEqual([
      "breaking GET /files/*at: is protected now: requests without the trust key are answered 401",
      "risky GET /files/*at: doesn't answer /files/inner/*at any more: 'GET /files/inner/*at' does",
      "risky GET /files/*at: has a guard now: it may refuse requests that were let in",
      "fine GET /files/inner/*at: is new",
    ]);
  });

  it("changes-8: A route of which no verdict is breaking or risky still answers each of its requests", () => {
    const texts = ["a", "b", "c"];
    const paths = ["/r"];
    for (const path of paths)
      if (path.split("/").length < 6) paths.push(...texts.map((text) => `${path}/${text}`));
    paths.push(...paths.map((path) => `${path}/`));
    const methods = ["GET", "POST", "DELETE"];
    const build = fc
      .uniqueArray(
        fc.tuple(
          fc.constantFrom("GET", "POST", "*"),
          fc.array(fc.constantFrom("a", "b", ":"), { maxLength: 3 }),
          fc.constantFrom("", "/", "/*rest"),
        ),
        { maxLength: 4, comparator: "IsStrictlyEqual" },
      )
      .map((rows) =>
        rows
          .map(([method, parts, end], at) =>
            route(
              `f${at}`,
              `${method} ${["/r", ...parts.map((part, index) => (part === ":" ? `:p${index}` : part))].join("/")}${end}`,
            ),
          )
          .filter((one, at, all) => !all.slice(0, at).some((other) => routesClash(one, other))),
      );
    const outcomes = new Set<string>();
    fc.assert(
      fc.property(build, build, (before, after) => {
        const [earlier, later] = [createRouteTable(before), createRouteTable(after)];
        const verdicts = compareContracts(contract(before), contract(after));
        for (const own of before) {
          const names = new Set(
            methods.flatMap((method) =>
              paths.flatMap((path) => {
                const match = earlier.match(method, path);
                if (match.kind !== "found" || match.route !== own) return [];
                const current = later.match(method, path);
                return [current.kind === "found" ? current.route.name : "nothing"];
              }),
            ),
          );
          const messages = verdicts
            .filter(
              ({ procedure, level }) =>
                procedure === `${own.method} ${own.path}` && level !== "fine",
            )
            .map(({ message }) => message);
          const isLost = messages.some((message) => message.includes("404 or 405"));
          expect(isLost, messages.join()).toBe(names.has("nothing"));
          const others = new Set([...names].filter((name) => name !== "nothing"));
          // One of them may be in its place; each further one is told.
          const count = messages.filter((message) => message.includes("'")).length;
          expect(count, messages.join()).toBeGreaterThanOrEqual(others.size - 1);
          outcomes.add(`${isLost} ${others.size > 1}`);
        }
      }),
      { numRuns: 500 },
    );
    expect([...outcomes].toSorted()).toEqual([
      "false false",
      "false true",
      "true false",
      "true true",
    ]);
  });

  it("Four hundred routes, all below one path, take seconds", () => {
    const routes = Array.from({ length: 200 }, (_, at) => [
      route(`one${at}`, `GET /r/:id/part${at}`),
      route(`all${at}`, `* /r/:id/part${at}/*rest`),
    ]).flat();
    const start = performance.now();
    expect(told(routes, [...routes, route("every", "GET /r/*rest")])).toEqual([
      "fine GET /r/*rest: is new",
    ]);
    expect(performance.now() - start).toBeLessThan(20_000);
  });
});
