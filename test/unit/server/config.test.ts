import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { joiningWarning } from "../../../server/config-address.ts";
import { parseConfig, readConfig } from "../../../server/config.ts";
import { Problems } from "../../../src/problem.ts";

const root = "/app";
const parse = (value: unknown, env: Record<string, string> = {}) =>
  parseConfig(value, "seamline.json", { root, env });

/** `path: message` of each problem. */
function problemsOf(value: unknown, env: Record<string, string> = {}): string[] {
  try {
    parse(value, env);
  } catch (error) {
    if (error instanceof Problems)
      return error.problems.map((one) => `${one.path ?? ""}: ${one.message}`);
    throw error;
  }
  return [];
}

function hintsOf(value: unknown): (string | undefined)[] {
  try {
    parse(value);
  } catch (error) {
    if (error instanceof Problems) return error.problems.map((one) => one.hint);
    throw error;
  }
  return [];
}

const node = {
  mode: "node",
  url: "http://127.0.0.1:3001",
  repository: "http://127.0.0.1:3000",
  segments: ["shop"],
};
const repository = { mode: "repository", url: "http://127.0.0.1:3000" };

it("a name that the validator would drop without a word is refused, wherever names are the application's own", () => {
  const names = JSON.parse(
    '{ "constructor": ["a"], "__proto__": ["b"], "prototype": ["c"], "valueOf": ["d"] }',
  ) as object;
  const checks = JSON.parse('{ "__proto__": "./a.ts", "toString": "./b.ts" }') as object;
  const limits = JSON.parse('{ "__proto__": 1 }') as object;
  expect(problemsOf({ ...repository, layout: names, healthChecks: checks, limits })).toEqual([
    'layout.__proto__: "__proto__" can\'t be a name here',
    'layout.constructor: "constructor" can\'t be a name here',
    'layout.prototype: "prototype" can\'t be a name here',
    'healthChecks.__proto__: "__proto__" can\'t be a name here',
    'limits.__proto__: "__proto__" can\'t be a name here',
  ]);
  expect(
    parse({ ...repository, layout: { valueOf: ["d"] }, healthChecks: { toString: "./b.ts" } }),
  ).toMatchObject({
    layout: { valueOf: ["d"] },
    healthChecks: { toString: "/app/b.ts" },
  });
});

describe("addresses", () => {
  it("are kept without the slash at the end", () => {
    expect(parse({ ...node, gateway: "https://gateway.example/" })).toMatchObject({
      url: "http://127.0.0.1:3001",
      gateway: "https://gateway.example",
    });
  });

  it.each([
    ["127.0.0.1:3000", "expected an address"],
    ["ftp://a.b", "expected an address that begins with http:// or https://"],
    ["http://a.b/path", "expected host and port only"],
    ["http://a.b/?x", "expected host and port only"],
    ["http://me:secret@a.b", "can't hold a user name"],
  ])("refuses %s", (gateway, message) => {
    expect(problemsOf({ ...node, gateway })).toEqual([expect.stringContaining(message)]);
  });

  it("take https for the own one with tls, and only then", () => {
    const tls = { cert: "cert.pem", key: "/secret/key.pem", ca: "./ca.pem" };
    expect(parse({ ...repository, url: "https://a.b", tls })).toMatchObject({
      url: "https://a.b",
      tls: { cert: "/app/cert.pem", key: "/secret/key.pem", ca: "/app/ca.pem" },
    });
    expect(() => parse({ ...repository, url: "https://a.b" })).toThrow(
      /at url: https takes a certificate.*\n.*"tls"/,
    );
    expect(() => parse({ ...repository, url: "http://a.b:1", tls })).toThrow(
      /at url: a service with 'tls' .*\n.*'https:\/\/a\.b:1'/,
    );
  });
});

describe("variables", () => {
  it("are taken from the environment, with a default where one is given", () => {
    const config = parse(
      { ...node, url: "http://${HOST}:${PORT:-4000}", name: "${NAME:-}x" },
      { HOST: "10.0.0.1" },
    );
    expect(config).toMatchObject({ url: "http://10.0.0.1:4000", name: "x" });
  });

  it("count as unset when they are empty and a default is there", () => {
    expect(parse({ ...node, name: "${NAME:-a}" }, { NAME: "" })).toMatchObject({ name: "a" });
  });

  it("become numbers where a number belongs, and nowhere else", () => {
    const config = parse(
      {
        mode: "gateway",
        url: "http://127.0.0.1:1",
        monitor: "${MS}",
        trustKey: "${KEY}",
        limits: { body: "${MS}" },
      },
      { MS: "250", KEY: "1234567890123456" },
    );
    expect(config).toMatchObject({
      monitor: 250,
      trustKey: "1234567890123456",
      limits: { body: 250 },
    });
  });

  it("become true and false for the console, and nowhere else", () => {
    const config = parse(
      { mode: "gateway", url: "http://127.0.0.1:1", console: "${ON}", trustKey: "${ON:-}" },
      { ON: "true" },
    );
    expect(config).toMatchObject({ console: true, trustKey: "true" });
    expect(
      parse({ mode: "gateway", url: "http://127.0.0.1:1", console: "${ON:-false}" }, {}),
    ).toMatchObject({ console: false });
  });

  it("that are not set are all told, each once, with the key and the nearest name", () => {
    expect(problemsOf({ ...node, url: "${URI}", gateway: "${GATE}" }, { GATES: "x" })).toEqual([
      "url: the environment has no variable URI",
      "gateway: the environment has no variable GATE",
    ]);
  });

  it("refuses a name that can't be one, one inside another, and one without its end", () => {
    expect(problemsOf({ ...node, name: "${a b}" })).toEqual(["name: '${a b}' is no variable"]);
    expect(problemsOf({ ...node, name: "${A:-${B}}" }, { A: "1", B: "2" })).toEqual([
      "name: '${A:-${B}}' has a variable inside another",
    ]);
    expect(problemsOf({ ...node, segments: ["a", "${A"] }, { A: "1" })).toEqual([
      "segments.1: '${A' has no closing brace",
    ]);
  });

  it("are those of the environment only", () => {
    expect(problemsOf({ ...node, name: "${toString}" })).toEqual([
      "name: the environment has no variable toString",
    ]);
  });
});

describe("problems", () => {
  it("lead from a port or a host to the address that has both", () => {
    expect(hintsOf({ ...node, port: 3000, host: "0.0.0.0" })).toEqual([
      "Host and port stand in 'url'.",
      "Host and port stand in 'url'.",
    ]);
  });

  it("are all told at once", () => {
    const found = problemsOf({
      mode: "node",
      url: 3,
      segments: "shop",
      repositori: "x",
      gateway: "http://127.0.0.1:1",
      index: "a.html",
    });
    expect(found).toEqual([
      "repositori: unknown key",
      "index: mode 'node' has no such key; it belongs to repository, standalone",
      "url: expected an address such as http://127.0.0.1:3000, found 3",
      "repository: it is missing",
      'segments: expected a list of texts, found "shop"',
    ]);
  });

  it("name the line and column of their keys, and the file's keys that are there twice", async () => {
    const folder = await mkdtemp(join(tmpdir(), "seamline-config-"));
    const text =
      '{\n  "mode": "gateway",\n  "url": "http://127.0.0.1:1",\n  "limits": {\n    "body": "big" },\n  "log": "info", "log": "wran"\n}';
    await writeFile(join(folder, "a.json"), text);
    await expect(
      readConfig("a.json", { root: folder }).finally(() => rm(folder, { recursive: true })),
    ).rejects.toMatchObject({
      problems: [
        { path: "limits.body", line: 5, column: 5, message: 'expected a number, found "big"' },
        {
          path: "log",
          line: 6,
          column: 3,
          message: 'expected info, warn, error or none, found "wran"',
          hint: "Did you mean 'warn'?",
        },
        { line: 6, column: 18, message: 'the key "log" is there twice, first in line 6' },
      ],
    });
  });

  it("keep secrets to themselves", () => {
    const tls = { cert: "a", key: "b", passphrase: 12345 };
    const found = problemsOf({ ...repository, url: "https://a.b", tls, trustKey: ["hush"] });
    expect(found).toEqual(["trustKey: expected a text", "tls.passphrase: expected a text"]);
  });

  it("are told of objects that hold themselves, too", () => {
    const round: Record<string, unknown> = {};
    round["round"] = round;
    expect(problemsOf({ ...repository, limits: round })[0]).toBe(
      "limits: it is nested too deep to be a configuration",
    );
  });

  it("offer the nearest known key", () => {
    expect(() => parse({ ...node, segmnts: [] })).toThrow("Did you mean 'segments'?");
  });

  it.each(["__proto__", "constructor", "toString"])("refuse %s as any other unknown key", (key) => {
    expect(
      problemsOf(JSON.parse(`{"mode":"gateway","url":"http://127.0.0.1:1","${key}":1}`)),
    ).toEqual([`${key}: unknown key`]);
  });

  it("name an unknown limit and the known ones", () => {
    expect(problemsOf({ ...repository, limits: { bodi: 1, depth: 0 } })).toEqual([
      expect.stringMatching(/^limits\.depth: expected a number from 1 up/),
      expect.stringMatching(/^limits\.bodi: unknown limit; known: body, depth/),
    ]);
  });

  it("refuse what only a later version does, rather than ignore it", () => {
    const gateway = { mode: "gateway", url: "http://127.0.0.1:1" };
    expect(problemsOf({ ...gateway, repository: "http://127.0.0.1:2" })).toEqual([]);
    expect(problemsOf({ ...gateway, directory: "nats://x" })).toEqual([
      expect.stringContaining("memory only"),
    ]);
  });

  it.each(["", "with a space in it", "sixteen-chars-ü!"])(
    "refuse the trust key '%s'",
    (trustKey) => {
      expect(problemsOf({ ...repository, trustKey })).toEqual([
        expect.stringMatching(/^trustKey: it /),
      ]);
    },
  );

  it.each([[null], [[]], ["text"], [7]])("refuse a configuration that is %j", (value) => {
    expect(problemsOf(value)).toEqual([expect.stringContaining("expected a JSON object")]);
  });
});

describe("whatever comes in", () => {
  it("is a configuration, or problems that name the file", () => {
    const mode = fc.constantFrom("node", "gateway", "repository", "standalone", "proxy", "other");
    const value = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom("http://a.b", "${X}", "${X:-y}", "${", ["a"]),
    );
    const keys = fc.constantFrom(
      "url",
      "gateway",
      "repository",
      "segments",
      "limits",
      "assets",
      "log",
      "trustKey",
      "healthChecks",
      "__proto__",
    );
    fc.assert(
      fc.property(
        mode,
        fc.array(fc.tuple(keys, value)),
        fc.jsonValue(),
        (one, entries, anything) => {
          for (const given of [anything, { ...Object.fromEntries(entries), mode: one }]) {
            try {
              expect(parse(given, { X: "1" }).mode).toBeTypeOf("string");
            } catch (error) {
              if (!(error instanceof Problems)) throw error;
              expect(error.problems.every(({ file }) => file === "seamline.json")).toBe(true);
            }
          }
        },
      ),
    );
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe("a configuration file", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "seamline-config-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("is found relative to the application folder, and so are the paths in it", async () => {
    const values = {
      $schema: "x",
      ...repository,
      source: "source",
      healthChecks: { db: "./check.ts" },
      middleware: ["some-package", "./log.ts"],
    };
    await writeFile(join(folder, "a.json"), `\uFEFF${JSON.stringify(values)}`);
    expect(await readConfig("a.json", { root: folder })).toEqual({
      ...repository,
      source: join(folder, "source"),
      output: join(folder, "dist"),
      index: "index.html",
      assets: [],
      healthChecks: { db: join(folder, "check.ts") },
      middleware: ["some-package", join(folder, "log.ts")],
    });
  });

  it("that isn't there is named, with the ways to name another", async () => {
    await expect(readConfig("./none.json", { root: folder })).rejects.toThrow(
      /^none\.json: there is no such file\n.*--config/,
    );
    await expect(readConfig("./seamline.json", { root: folder })).rejects.toThrow(
      /^seamline\.json: there is no such file\n {2}→ Write one, \{ "mode": "standalone", "url": .*--config/,
    );
  });

  it("that is no JSON is named with line and column", async () => {
    await writeFile(join(folder, "a.json"), '{\n  "mode": "node",\n  url: 1\n}');
    await expect(readConfig("a.json", { root: folder })).rejects.toThrow(
      /^a\.json:3:3: this is not JSON/,
    );
  });

  it("may be given as an object", async () => {
    expect(await readConfig(repository, { root: folder })).toMatchObject({
      mode: "repository",
      output: join(folder, "dist"),
    });
  });
});

it("an address that only its own machine finds is no address to join with", () => {
  const gateway = "http://10.0.0.1:3000";
  for (const url of ["http://0.0.0.0:3001", "http://[::]:3001"])
    expect(joiningWarning(url, gateway)).toContain(`is told '${url}'`);
  for (const url of ["http://127.0.0.1:3001", "http://node-a:3001", "http://[::1]:3001"])
    expect(joiningWarning(url, gateway)).toBeUndefined();
});

it("members of a gateway are host names, addresses and ranges, and what is none of them is named", () => {
  const config = { mode: "gateway", url: "http://10.0.0.1:3002" };
  const members = [
    "node-1",
    "node-1.shop.internal",
    "10.0.0.7",
    "10.0.0.0/8",
    "fd00::/16",
    "NODE_2.",
  ];
  expect(parseConfig({ ...config, members }, "a.json", { root: "/app", env: {} })).toMatchObject({
    members,
  });
  const problems = (given: unknown): readonly string[] => {
    try {
      parseConfig({ ...config, members: given }, "a.json", { root: "/app", env: {} });
      return [];
    } catch (error) {
      return (error as Problems).problems.map(({ path, message }) => `${path}: ${message}`);
    }
  };
  for (const wrong of [
    "10.0.0.0/33",
    "10.0.0.256",
    "10.0.0",
    "http://node-1",
    "node-1:3003",
    "*.shop",
    "",
    "fd00::/129",
    "a b",
    "-a",
  ])
    expect(problems(["node-1", wrong])).toEqual([
      `members.1: expected a host name, an address or a range such as 10.0.0.0/8, found '${wrong}'`,
    ]);
  expect(problems([])).toEqual([
    "members: expected at least one name or range: without any nobody could join, found an array",
  ]);
  expect(problems("node-1")).toEqual(['members: expected a list of texts, found "node-1"']);
});
