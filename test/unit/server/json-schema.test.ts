// The published JSON Schemas and the checks must accept and refuse the same.

import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

import { Ajv } from "ajv";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { parseConfig } from "../../../server/config/config.ts";
import * as jsonSchema from "../../../server/config/json-schema.ts";
import { createSchemas } from "../../../scripts/json-schemas.mjs";
import { schemas } from "../../../server/config/config-schema.ts";
import { parseSegment } from "../../../src/runtime/segment.ts";
import { Problems } from "../../../src/base/problem.ts";
import { filesIn, root } from "../../_sources.ts";

const { config, segment } = createSchemas(jsonSchema);
// Keywords for editors, which the validator doesn't know.
const ajv = new Ajv({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  keywords: ["enumDescriptions"],
});
const ofConfig = ajv.compile(config);
const ofSegment = ajv.compile(segment);

function takesConfig(value: unknown, env: Record<string, string> = {}): boolean {
  try {
    parseConfig(value, "a.json", { root: "/app", env });
    return true;
  } catch (error) {
    if (!(error instanceof Problems)) throw error;
    return false;
  }
}
const takesSegment = (value: unknown): boolean =>
  parseSegment(JSON.stringify(value), "a.segment.json").problems.length === 0;

const url = "http://127.0.0.1:3000";
const other = "http://127.0.0.1:3001";
const values: Readonly<Record<string, readonly unknown[]>> = {
  $schema: ["./a.json", 1],
  url: [
    url,
    "http://[::1]:0/",
    "https://a.b",
    "https://a.b:8443",
    "ftp://a.b",
    "http://a.b/c",
    "http://me@a.b",
    "http://",
    "http:a.b",
    " http://a",
    "HTTP://a.b",
    1,
    null,
  ],
  // None of them is the service's own, which only the check knows.
  gateway: [other, "https://b.c/", "a.b", ""],
  node: [other, false],
  link: ["auto", "always", "never", "http", true],
  repository: [other, "https://b.c", "http://a.b?c", []],
  segments: [["a"], ["a", "b"], [], ["a", "a"], [""], "a", [1]],
  trustKey: ["secret", "with space", "", 1],
  middleware: [["./a.ts"], [], [""], "a"],
  healthChecks: [{ a: "./a.ts" }, { a: "" }, { "": "./a.ts" }, {}, { a: 1 }, []],
  limits: [
    { bodyBytes: 1 },
    { callTimeoutMs: 5000, maxDepth: 3 },
    { localsBytes: 16_384 },
    { localsBytes: 16_385 },
    { headerTimeoutMs: 86_400_001 },
    { bodyBytes: 0 },
    { bodyBytes: 1.5 },
    { bodyBytes: "1" },
    { bodyByte: 1 },
    { bodyBytes: 2 ** 60 },
    [],
    {},
  ],
  origin: [
    "https://a.b",
    ["https://a.b", "http://c:1/"],
    "a.b",
    [],
    ["https://a.b/c"],
    "https://a.b/c",
    [1],
    1,
    null,
    "https://a@b",
  ],
  hosts: [["a.b", "c"], ["*"], [], [""], ["a.b:1"], ["http://a"], ["a/b"], ["[::1]"], [1], "a", {}],
  forwarded: [true, false, "yes", 1, null],
  errors: ["shown", "masked", "Masked", "", true, null],
  log: ["info", "none", "debug", 1],
  compression: [true, false, "gzip", 1, null],
  accessLog: [true, false, "yes", 1, null],
  traces: [
    true,
    false,
    { sample: 0 },
    { sample: 0.5 },
    { sample: 1 },
    { sample: -1 },
    { sample: 2 },
    {},
    { sample: "1" },
    1,
    { rate: 1 },
  ],
  openapi: [
    true,
    { token: "0123456789abcdef" },
    { token: "short" },
    { token: "0123456789abcdef", port: 1 },
    {},
    false,
    "on",
  ],
  metrics: [
    { token: "0123456789abcdef" },
    { token: "short" },
    { token: "0123456789 abcdef" },
    { token: "0123456789abcdef", port: 1 },
    { port: 9100 },
    { port: 9100, host: "10.0.0.1" },
    { port: 9100, host: "::1" },
    { port: 9100, host: "http://10.0.0.1" },
    { port: 9100, host: "" },
    { port: 0 },
    { port: 70_000 },
    { port: "9100" },
    {},
    true,
    "on",
  ],
  tls: [
    { cert: "a", key: "b" },
    { cert: "a", key: "b", ca: "c", passphrase: "d" },
    { cert: "a" },
    { cert: "a", key: "" },
    { cert: "a", key: "b", more: 1 },
    {},
    [],
    "a",
  ],
  endToEndTls: [true, false, "no", 1, null],
  name: ["node 1", "", " a", "é", "a".repeat(64), "a".repeat(65)],
  cache: ["./c", ""],
  healthIntervalMs: [1, 5000, 0, "5000", true],
  drainMs: [1, 86_400_000, 86_400_001, 0, 1.5, "5000", true],
  members: [
    ["node-1", "10.0.0.0/8"],
    ["fd00::1", "a.b.c"],
    [],
    ["a b"],
    [""],
    ["http://a"],
    "a",
    [1],
  ],
  directory: ["memory", "disk"],
  streamHeaders: [
    ["x-tenant", "authorization"],
    [],
    ["X-Tenant"],
    ["x-svc-hops"],
    ["x-forwarded-for"],
    ["cookie"],
    ["cookies"],
    ["a b"],
    [""],
    [1],
    "x-tenant",
    null,
  ],
  console: [true, false, "yes", 1, null],
  nodes: [
    { a: ["x"] },
    { a: ["x", "y"], b: [] },
    {},
    { a: "x" },
    { a: [1] },
    { "": ["x"] },
    { a: ["x", "x"] },
    [],
    [["x"]],
    null,
    "a",
  ],
  source: ["./src", ""],
  output: ["./dist", 1],
  index: ["index.html", ""],
  fallback: [
    true,
    false,
    "app.html",
    { page: "404.html", status: 404 },
    { page: "404.html", status: 500 },
    { page: "", status: 404 },
    { page: "404.html" },
    "",
    1,
    null,
    ["app.html"],
  ],
  headers: [
    { "/**": { "x-frame-options": "DENY" } },
    { "/**": {}, "/admin/*": { "referrer-policy": "no-referrer" } },
    {},
    { "/**": { "x-a": 1 } },
    { "/**": "a" },
    { "/**": [] },
    [],
    null,
    "a",
  ],
  revisions: [1, 0, 7, -1, 1.5, "1", null],
  assets: [[], ["**/*"], ["a", "a"], [""], "a"],
  browserSegments: [[], ["ui"], ["ui", "ui"]],
  browserModules: [["./a/*"], "a"],
  guards: ["required", "optional", true, null],
  validate: [false, true, "false", null],
  segmnts: [1],
  __proto__: [],
};
const modes = Object.keys(schemas) as (keyof typeof schemas)[];

/** A mostly valid configuration in which any key can be invalid. */
const configs = fc.constantFrom(...modes).chain((mode) => {
  const keys = Object.keys(values).filter((key) => (values[key] ?? []).length > 0);
  const own = Object.keys(schemas[mode].entries).filter((key) => key !== "mode");
  const needed = own.filter((key) => ["url", "repository", "segments"].includes(key));
  const entry = (key: string) =>
    fc.tuple(
      fc.constant(key),
      fc.oneof(
        { weight: 6, arbitrary: fc.constant(values[key]?.[0]) },
        fc.constantFrom(...(values[key] ?? [])),
      ),
    );
  const others = fc.array(
    fc
      .oneof({ weight: 8, arbitrary: fc.constantFrom(...own) }, fc.constantFrom(...keys))
      .chain(entry),
    {
      maxLength: 5,
    },
  );
  return fc
    .tuple(fc.tuple(...needed.map(entry)), others, fc.integer({ min: 0, max: 9 }))
    .map(
      ([first, more, drop]) =>
        Object.fromEntries([["mode", mode], ...first.slice(drop === 0 ? 1 : 0), ...more]) as Record<
          string,
          unknown
        >,
    );
});

describe("the JSON Schema of configurations", () => {
  it("takes what the check takes, and nothing else", () => {
    const seen = { taken: 0, refused: 0 };
    fc.assert(
      fc.property(configs, (value) => {
        const taken = takesConfig(value);
        seen[taken ? "taken" : "refused"]++;
        expect(ofConfig(value), JSON.stringify({ value, errors: ofConfig.errors })).toBe(taken);
      }),
      { numRuns: 4_000 },
    );
    // Otherwise the property test would prove little.
    expect(seen.taken).toBeGreaterThan(400);
    expect(seen.refused).toBeGreaterThan(400);
  });

  it.each(modes)(
    "accepts and refuses the same values for each key of a %s as the check",
    (mode) => {
      const needed: Record<string, unknown> = {
        mode,
        url,
        repository: other,
        gateway: other,
        segments: ["a"],
      };
      const base = Object.fromEntries(
        Object.entries(needed).filter(([key]) => key in schemas[mode].entries),
      );
      for (const [key, all] of Object.entries(values))
        for (const one of all) {
          const value = { ...base, [key]: one };
          expect(ofConfig(value), JSON.stringify(value)).toBe(takesConfig(value));
        }
      expect(ofConfig(base)).toBe(true);
      for (const key of Object.keys(base)) {
        const { [key]: _, ...less } = base;
        expect(ofConfig(less), `without ${key}`).toBe(takesConfig(less));
      }
    },
  );

  it("has whole sentences for all keys, also where a comment names a package with an @", () => {
    const sentences: string[] = [];
    JSON.stringify(config, (key, value: unknown) => {
      if (key === "description" && typeof value === "string") sentences.push(value);
      return value;
    });
    expect(sentences.length).toBeGreaterThan(80);
    expect(sentences.filter((text) => !/[.:!?)]$/.test(text))).toEqual([]);
  });

  it("accepts a variable for each key that isn't a plain text", () => {
    const value = {
      mode: "gateway",
      url: "http://${HOST}:${PORT:-80}",
      healthIntervalMs: "${MS}",
      log: "${LOG:-info}",
      trustKey: "${KEY}",
      limits: { bodyBytes: "${MS}" },
    };
    expect(takesConfig(value, { HOST: "a", MS: "5", KEY: "k" })).toBe(true);
    expect(ofConfig(value)).toBe(true);
    expect(ofConfig({ ...value, mode: "${MODE}" })).toBe(true);
    expect(ofConfig({ ...value, healthIntervalMs: "MS" })).toBe(false);
    const secure = { mode: "gateway", url: "https://${HOST}", tls: { cert: "a", key: "b" } };
    expect([
      ofConfig(secure),
      ofConfig({ ...secure, url: "${URL}" }),
      ofConfig({ ...secure, url: "http://${HOST}" }),
    ]).toEqual([true, true, false]);
  });

  it("has a description for every key, and the check's defaults", () => {
    const branches = config["allOf"] as {
      then: {
        properties: Record<string, { description?: string; default?: unknown; const?: string }>;
      };
    }[];
    for (const { then } of branches.slice(0, modes.length)) {
      const { mode, ...keys } = then.properties;
      expect(
        Object.entries(keys).filter(
          ([key, one]) => (one.description ?? "").length < 10 && !["tls"].includes(key),
        ),
      ).toEqual([]);
      const needed: Record<string, unknown> = {
        mode: mode?.const,
        url,
        repository: other,
        gateway: other,
        segments: ["a"],
      };
      const given = Object.fromEntries(
        Object.entries(needed).filter(([key]) => key in then.properties),
      );
      const filled = parseConfig(given, "a.json", { root: "/", env: {} }) as unknown as Record<
        string,
        unknown
      >;
      for (const [key, value] of Object.entries(filled)) {
        if (key in given) continue;
        const told = keys[key]?.default;
        expect(typeof told === "string" ? told.replace(/^\.\//, "/") : told, key).toEqual(value);
      }
    }
  });
});

describe("the JSON Schema of segment files", () => {
  const module = fc.constantFrom(
    "./a",
    "./a/b.js",
    "./",
    "./a/../b",
    "./..",
    "./a..b",
    "./..a/b",
    "a",
    "../a",
    "/a",
    ".\\a",
    "./a\\b",
    "$schema",
    "$guard",
    "$guards",
    "__proto__",
  );
  const guard = fc.constantFrom<unknown>(
    "./auth.ts#signedIn",
    "./a/auth",
    "./a b#default",
    "./a#",
    "./a#b c",
    "./a#b#c",
    "./..#a",
    "./a/..#b/c",
    "./a/../b#c",
    "./a..b#c",
    "./a#..",
    "./a\\b#c",
    "./a#b\\c",
    "./#a",
    "auth#signedIn",
    "#signedIn",
    "",
    true,
    false,
    null,
    1,
  );
  const name = fc.constantFrom("quote", "default", "a b", "__proto__", "");
  const right = fc.record(
    {
      access: fc.constantFrom("public", "private", "protected"),
      guard: fc.constantFrom<unknown>("./auth.ts#signedIn", "./a/auth", false),
    },
    { requiredKeys: ["access"] },
  );
  const version = fc.oneof(
    fc.constantFrom(
      "1",
      "1.2",
      "1.2.3",
      "01",
      "999999999",
      "",
      "1.",
      "1.2.3.4",
      "v1",
      "1234567890",
      " 1",
      "1\n",
    ),
    fc.constantFrom<unknown>(1, null, ["1"]),
  );
  const entry = fc.oneof(
    { weight: 3, arbitrary: right },
    fc.record(
      {
        access: fc.constantFrom<unknown>("public", "private", "protected", "Public", 1, null),
        version,
        as: fc.constantFrom<unknown>("a", "é", "a/b", "a b", "", "a@1", 1),
        safe: fc.constantFrom<unknown>(true, false, 1),
        idempotent: fc.constantFrom<unknown>(true, false, "true"),
        resume: fc.constantFrom<unknown>(true, false, 1),
        timeoutMs: fc.constantFrom<unknown>(
          1,
          2_000,
          86_400_000,
          86_400_001,
          0,
          -1,
          1.5,
          "1",
          null,
        ),
        guard,
        acess: fc.constant("public"),
      },
      { requiredKeys: [] },
    ),
    fc.constantFrom<unknown>("public", null, [], {}),
  );
  const exported = fc.oneof(
    {
      weight: 5,
      arbitrary: fc
        .array(fc.tuple(name, entry), { maxLength: 3 })
        .map((all) => JSON.parse(textOf(all)) as unknown),
    },
    fc.constantFrom<unknown>(null, [], "a", 1),
    guard,
  );
  const textOf = (all: readonly (readonly [string, unknown])[]): string =>
    `{${[...new Map(all)].map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join()}}`;

  it("takes what the check takes, and nothing else", () => {
    const seen = { taken: 0, refused: 0 };
    fc.assert(
      fc.property(
        fc.oneof(
          fc
            .array(fc.tuple(module, exported), { maxLength: 2 })
            .map((all) => JSON.parse(textOf(all)) as unknown),
          fc.jsonValue(),
        ),
        (value) => {
          const taken = takesSegment(value);
          seen[taken ? "taken" : "refused"]++;
          expect(ofSegment(value), JSON.stringify({ value, errors: ofSegment.errors })).toBe(taken);
        },
      ),
      { numRuns: 4_000 },
    );
    expect(seen.taken).toBeGreaterThan(400);
    expect(seen.refused).toBeGreaterThan(400);
  });
});

describe("the JSON files of this repository", () => {
  const named = filesIn("demo")
    .filter((path) => path.endsWith(".segment.json") || /^demo\/config\/.*\.json$/.test(path))
    .map((path) => ({
      path,
      value: JSON.parse(readFileSync(resolve(root, path), "utf8")) as Record<string, unknown>,
    }));

  it("name the right schema in the demo, which accepts them", () => {
    expect(named.length).toBeGreaterThan(5);
    for (const { path, value } of named) {
      const kind = path.endsWith(".segment.json") ? "segment" : "config";
      const target = resolve(root, dirname(path), String(value["$schema"]));
      expect(target, path).toBe(resolve(root, `node_modules/seamline/schema/${kind}.json`));
      expect((kind === "segment" ? ofSegment : ofConfig)(value), path).toBe(true);
    }
    expect(existsSync(resolve(root, "node_modules/seamline/package.json"))).toBe(true);
  });
});
