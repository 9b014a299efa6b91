import { runInThisContext } from "node:vm";

import { expect, it } from "vitest";

import type { Middleware } from "../../../src/middleware.ts";
import { looksAtArguments } from "../../../src/roles/lazy-arguments.ts";

/** Source text, as no compiler has touched it. */
const written = (source: string): Middleware => runInThisContext(`(${source})`) as Middleware;

it.each([
  "{ async handle(fqn, version, args, headers, next) { return await next(); } }",
  "{ handle(a, b, c, d, e) { return e(); } }",
  "{ handle: async (_fqn, _version, _args, _headers, next) => await next() }",
  "{ handle: async function named(f, v, $a, h, n) { h.set('args', f); return n(); } }",
  "{ handle: function (f, v, a) { return 1; } }",
])("a handle that never mentions its arguments can't look at them: %s", (source) => {
  expect(looksAtArguments(written(source))).toBe(false);
});

it.each([
  "{ async handle(fqn, version, args, headers, next) { args.get('a'); return await next(); } }",
  "{ async handle(fqn, version, args, headers, next) { return await next(); /* args */ } }",
  "{ async handle(fqn, version, args, headers, next = () => args) { return await next(); } }",
  "{ async handle(fqn, version, args, headers, next) { return await this.inner(...arguments); } }",
  "{ async handle(fqn, version, args, headers, next) { eval('ar' + 'gs'); return await next(); } }",
  "{ async handle(fqn, version, args, headers, next) { \\u0061rgs.clear(); return await next(); } }",
  "{ async handle(...all) { return await all[4](); } }",
  "{ async handle(fqn, version, { size }, headers, next) { return await next(); } }",
  "{ async handle(fqn, version, args = new Map(), headers, next) { return await next(); } }",
  "{ handle: (function (f, v, a, h, n) { return n(); }).bind(null) }",
  "{ handle: new Proxy(async (f, v, a, h, n) => n(), {}) }",
])("in doubt it can: %s", (source) => {
  expect(looksAtArguments(written(source))).toBe(true);
});
