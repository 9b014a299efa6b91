import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { errorsWarning } from "../../../server/config/config-address.ts";
import { parseConfig, readConfig } from "../../../server/config/config.ts";
import { Problems } from "../../../src/base/problem.ts";

const root = "/app";
const parse = (value: unknown, env: Record<string, string> = {}) =>
  parseConfig(value, "seamline.json", { root, env });

/** `path: message` of each problem. */
function problemsOf(value: unknown, env: Record<string, string> = {}): string[] {
  try {
    parse(value, env);
  } catch (error) {
    if (error instanceof Problems)
      return error.problems.map(({ path = "", message }) => `${path}: ${message}`);
    throw error;
  }
  return [];
}

function hintsOf(value: unknown): (string | undefined)[] {
  try {
    parse(value);
  } catch (error) {
    if (error instanceof Problems) return error.problems.map(({ hint }) => hint);
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

it("a configuration refuses names such as __proto__, which the validator would drop silently", () => {
  const names = JSON.parse(
    '{ "constructor": ["a"], "__proto__": ["b"], "prototype": ["c"], "valueOf": ["d"] }',
  ) as object;
  const checks = JSON.parse('{ "__proto__": "./a.ts", "toString": "./b.ts" }') as object;
  const limits = JSON.parse('{ "__proto__": 1 }') as object;
  expect(problemsOf({ ...repository, nodes: names, healthChecks: checks, limits })).toEqual([
    'nodes.__proto__: "__proto__" can\'t be a name here',
    'nodes.constructor: "constructor" can\'t be a name here',
    'nodes.prototype: "prototype" can\'t be a name here',
    'healthChecks.__proto__: "__proto__" can\'t be a name here',
    'limits.__proto__: "__proto__" can\'t be a name here',
  ]);
  expect(
    parse({ ...repository, nodes: { valueOf: ["d"] }, healthChecks: { toString: "./b.ts" } }),
  ).toMatchObject({
    nodes: { valueOf: ["d"] },
    healthChecks: { toString: "/app/b.ts" },
  });
});

describe("an address in a configuration", () => {
  it("loses its trailing slash", () => {
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
    ["http://me:secret@a.b", "can't contain a user name"],
  ])("is refused if it is %s", (gateway, message) => {
    expect(problemsOf({ ...node, gateway })).toEqual([expect.stringContaining(message)]);
  });

  it("in 'url' is https if and only if the configuration has 'tls'", () => {
    const tls = { cert: "cert.pem", key: "/secret/key.pem", ca: "./ca.pem" };
    expect(parse({ ...repository, url: "https://a.b", tls })).toMatchObject({
      url: "https://a.b",
      tls: { cert: "/app/cert.pem", key: "/secret/key.pem", ca: "/app/ca.pem" },
    });
    expect(() => parse({ ...repository, url: "https://a.b" })).toThrow(
      /at url: https needs a certificate.*\n.*"tls"/,
    );
    expect(() => parse({ ...repository, url: "http://a.b:1", tls })).toThrow(
      /at url: a service with 'tls' .*\n.*'https:\/\/a\.b:1'/,
    );
  });
});

describe("a variable in a configuration", () => {
  it("is replaced from the environment, or by its default", () => {
    const config = parse(
      { ...node, url: "http://${HOST}:${PORT:-4000}", name: "${NAME:-}x" },
      { HOST: "10.0.0.1" },
    );
    expect(config).toMatchObject({ url: "http://10.0.0.1:4000", name: "x" });
  });

  it("falls back to its default if it is empty", () => {
    expect(parse({ ...node, name: "${NAME:-a}" }, { NAME: "" })).toMatchObject({ name: "a" });
  });

  it("becomes a number only where the key expects one", () => {
    const config = parse(
      {
        mode: "gateway",
        url: "http://127.0.0.1:1",
        healthIntervalMs: "${MS}",
        trustKey: "${KEY}",
        limits: { bodyBytes: "${MS}" },
      },
      { MS: "250", KEY: "1234567890123456" },
    );
    expect(config).toMatchObject({
      healthIntervalMs: 250,
      trustKey: "1234567890123456",
      limits: { bodyBytes: 250 },
    });
  });

  it("becomes a boolean only where the key expects one", () => {
    const config = parse(
      { mode: "gateway", url: "http://127.0.0.1:1", console: "${ON}", trustKey: "${ON:-}" },
      { ON: "true" },
    );
    expect(config).toMatchObject({ console: true, trustKey: "true" });
    expect(
      parse({ mode: "gateway", url: "http://127.0.0.1:1", console: "${ON:-false}" }, {}),
    ).toMatchObject({ console: false });
  });

  it("becomes a number or a boolean for each key that takes one", () => {
    const config = parse(
      {
        mode: "standalone",
        url: "http://127.0.0.1:1",
        revisions: "${COUNT}",
        forwarded: "${ON}",
        endToEndTls: "${ON:-false}",
        traces: { sample: "${SHARE}" },
        fallback: { page: "404.html", status: "${STATUS:-404}" },
        nodes: { shop: ["${COUNT}"] },
      },
      { COUNT: "3", ON: "true", SHARE: "0.25" },
    );
    expect(config).toMatchObject({
      revisions: 3,
      forwarded: true,
      endToEndTls: true,
      traces: { sample: 0.25 },
      fallback: { page: "404.html", status: 404 },
      nodes: { shop: ["3"] },
    });
  });

  it("that isn't set is reported once, with its key and a similar name", () => {
    expect(problemsOf({ ...node, url: "${URI}", gateway: "${GATE}" }, { GATES: "x" })).toEqual([
      "url: the environment variable URI isn't set",
      "gateway: the environment variable GATE isn't set",
    ]);
  });

  it("is refused if its name is invalid, if it is nested or if it has no closing brace", () => {
    expect(problemsOf({ ...node, name: "${a b}" })).toEqual(["name: '${a b}' isn't a variable"]);
    expect(problemsOf({ ...node, name: "${A:-${B}}" }, { A: "1", B: "2" })).toEqual([
      "name: '${A:-${B}}' has a variable inside another",
    ]);
    expect(problemsOf({ ...node, segments: ["a", "${A"] }, { A: "1" })).toEqual([
      "segments.1: '${A' has no closing brace",
    ]);
  });

  it("doesn't read inherited properties of the environment object", () => {
    expect(problemsOf({ ...node, name: "${toString}" })).toEqual([
      "name: the environment variable toString isn't set",
    ]);
  });
});

describe("the problems of a configuration", () => {
  it("point from 'port' and 'host' to 'url'", () => {
    expect(hintsOf({ ...node, port: 3000, host: "0.0.0.0" })).toEqual([
      "Set host and port in 'url'.",
      "Set host and port in 'url'.",
    ]);
  });

  it("are all reported at once", () => {
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
      "index: mode 'node' doesn't have this key; it belongs to repository, standalone",
      "url: expected an address such as http://127.0.0.1:3000, found 3",
      "repository: it is missing",
      'segments: expected a list of strings, found "shop"',
    ]);
  });

  it("have the line and column of their key, and include duplicate keys", async () => {
    const folder = await mkdtemp(join(tmpdir(), "seamline-config-"));
    const text =
      '{\n  "mode": "gateway",\n  "url": "http://127.0.0.1:1",\n  "limits": {\n    "bodyBytes": "big" },\n  "log": "info", "log": "wran"\n}';
    await writeFile(join(folder, "a.json"), text);
    await expect(
      readConfig("a.json", { root: folder }).finally(() => rm(folder, { recursive: true })),
    ).rejects.toMatchObject({
      problems: [
        { path: "limits.bodyBytes", line: 5, column: 5, message: 'expected a number, found "big"' },
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

  it("don't contain secrets", () => {
    const tls = { cert: "a", key: "b", passphrase: 12345 };
    const found = problemsOf({ ...repository, url: "https://a.b", tls, trustKey: { key: "hush" } });
    expect(found).toEqual([
      "trustKey: expected a string, or a list of strings with the one first that signs",
      "tls.passphrase: expected a string",
    ]);
    expect(problemsOf({ ...repository, metrics: { token: "hush" } })).toEqual([
      "metrics.token: expected 16 to 256 printable ASCII characters without blanks",
    ]);
  });

  it("are reported for a cyclic object", () => {
    const round: Record<string, unknown> = {};
    round["round"] = round;
    expect(problemsOf({ ...repository, limits: round })[0]).toBe(
      "limits: it is nested too deeply for a configuration",
    );
  });

  it("suggest the most similar key", () => {
    expect(() => parse({ ...node, segmnts: [] })).toThrow("Did you mean 'segments'?");
  });

  it.each(["__proto__", "constructor", "toString"])("include %s as an unknown key", (key) => {
    expect(
      problemsOf(JSON.parse(`{"mode":"gateway","url":"http://127.0.0.1:1","${key}":1}`)),
    ).toEqual([`${key}: unknown key`]);
  });

  it("name an unknown limit and list the valid ones", () => {
    expect(problemsOf({ ...repository, limits: { bodi: 1, maxDepth: 0 } })).toEqual([
      expect.stringMatching(/^limits\.maxDepth: expected a number of at least 1/),
      expect.stringMatching(/^limits\.bodi: unknown limit; known: bodyBytes, uploadBytes/),
    ]);
  });

  it("include a key of a later version, which isn't ignored", () => {
    const gateway = { mode: "gateway", url: "http://127.0.0.1:1" };
    expect(problemsOf({ ...gateway, repository: "http://127.0.0.1:2" })).toEqual([]);
    expect(problemsOf({ ...gateway, mesh: "nats://x" })).toEqual(["mesh: unknown key"]);
  });

  it.each(["", "with a space in it", "sixteen-chars-ü!"])(
    "include the invalid trust key '%s'",
    (trustKey) => {
      expect(problemsOf({ ...repository, trustKey })).toEqual([
        expect.stringMatching(/^trustKey: it /),
      ]);
    },
  );

  it.each([[null], [[]], ["text"], [7]])("say that %j is no JSON object", (value) => {
    expect(problemsOf(value)).toEqual([expect.stringContaining("expected a JSON object")]);
  });
});

describe("a service's own address in its configuration", () => {
  const proxy = {
    mode: "proxy",
    url: "http://127.0.0.1:3001",
    gateway: "http://127.0.0.1:3002",
    repository: "http://127.0.0.1:3003",
  };

  it.each([
    [proxy.url, proxy.url],
    ["http://0.0.0.0:3001", "http://127.0.0.1:3001"],
    ["http://0.0.0.0:3001", "http://localhost:3001/"],
    ["http://127.0.0.1:3001", "http://localhost:3001"],
    ["http://localhost:3001", "http://[::1]:3001"],
    ["http://shop.internal", "http://SHOP.internal:80"],
  ])("is refused as another service's: %s, %s", (url, other) => {
    for (const key of ["repository", "gateway"])
      expect(problemsOf({ ...proxy, url, [key]: other })).toEqual([
        `${key}: '${other}' is this service itself, which listens at '${url}'`,
      ]);
    const { gateway: _, ...behindNode } = proxy;
    expect(problemsOf({ ...behindNode, url, node: other })).toHaveLength(1);
    const gateways = ["http://10.0.0.1:3001", other];
    expect(problemsOf({ ...node, url, gateway: gateways })).toHaveLength(1);
    expect(problemsOf({ mode: "gateway", url, repository: other })).toHaveLength(1);
  });

  it.each([
    ["http://127.0.0.1:3001", "http://127.0.0.1:3009"],
    ["http://127.0.0.1:3001", "http://127.0.0.2:3001"],
    ["http://10.0.0.1:3001", "http://10.0.0.2:3001"],
    ["http://0.0.0.0:3001", "http://10.0.0.2:3001"],
    ["http://a.internal:3001", "http://b.internal:3001"],
    ["http://127.0.0.1:0", "http://127.0.0.1:0"],
  ])("isn't found where two may differ: %s, %s", (url, other) => {
    expect(problemsOf({ ...proxy, url, repository: other })).toEqual([]);
  });

  it("can't have the port of its metrics too", () => {
    const at = (url: string, metrics: object) => problemsOf({ ...repository, url, metrics });
    const clash = ["metrics.port: port 3000 is the one of 'url', where the service itself listens"];
    expect(at("http://127.0.0.1:3000", { port: 3000 })).toEqual(clash);
    expect(at("http://0.0.0.0:3000", { port: 3000 })).toEqual(clash);
    expect(at("http://127.0.0.1:3000", { port: 3000, host: "0.0.0.0" })).toEqual(clash);
    expect(at("http://10.0.0.1:3000", { port: 3000 })).toEqual([]);
    expect(at("http://127.0.0.1:3000", { port: 9100 })).toEqual([]);
  });
});

describe("the problems of objects in a configuration", () => {
  it.each([
    [
      { origin: [] },
      "origin: expected an origin such as https://shop.example, or a list with at least one, found an array",
    ],
    [
      { healthChecks: { "": "./a.ts" } },
      'healthChecks: expected a name that isn\'t empty, found ""',
    ],
    [{ nodes: { "": ["a"] } }, 'nodes: expected a name that isn\'t empty, found ""'],
    [{ metrics: { prot: 9100 } }, "metrics.prot: unknown key; known: token, port, host"],
    [{ metrics: { port: 9100, hsot: "a" } }, "metrics.hsot: unknown key; known: token, port, host"],
    [{ traces: { smaple: 1 } }, "traces.smaple: unknown key; known: sample"],
    [{ fallback: { paeg: "a", status: 404 } }, "fallback.paeg: unknown key; known: page, status"],
    [{ headers: { "/**": [] } }, "headers./**: expected an object, found an array"],
    [
      { metrics: { tokn: "x", prt: 1 } },
      "metrics.tokn: unknown key; known: token, port, host",
      "metrics.prt: unknown key; known: token, port, host",
    ],
  ])("name the key, once: %j", (keys, ...messages) => {
    expect(problemsOf({ ...repository, ...keys })).toEqual(messages);
  });

  it.each([
    [
      ["X-Tenant"],
      "streamHeaders.0: expected a name in lower case: 'x-tenant', found \"X-Tenant\"",
    ],
    [
      ["x-tenant", "cookie"],
      "streamHeaders.1: 'cookie' comes from the browser, the connection or the proxy in front: a page can't set it",
    ],
    [["x-svc-hops"], "streamHeaders.0: 'x-svc-hops' is Seamline's own: a page can't set it"],
  ])("include headers of streams that no page may set: %j", (streamHeaders, message) => {
    expect(problemsOf({ mode: "gateway", url: "http://127.0.0.1:3000", streamHeaders })).toEqual([
      message,
    ]);
  });

  it("include a host of metrics that none can be", () => {
    for (const host of ["http://127.0.0.1", "a b", ""])
      expect(problemsOf({ ...repository, metrics: { port: 9100, host } })).toEqual([
        expect.stringMatching(/^metrics(?:\.host)?: expected an address or host name/),
      ]);
    for (const host of ["127.0.0.1", "::1", "metrics.internal"])
      expect(problemsOf({ ...repository, metrics: { port: 9100, host } })).toEqual([]);
  });

  it("suggest the key that was meant", () => {
    expect(hintsOf({ ...repository, metrics: { prot: 9100 } })).toEqual(["Did you mean 'port'?"]);
    expect(hintsOf({ ...repository, traces: { sampel: 1 } })).toEqual(["Did you mean 'sample'?"]);
  });
});

describe("parseConfig", () => {
  it("returns a configuration or throws problems with the file's name, for any input", () => {
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
        (mode, entries, anything) => {
          for (const value of [anything, { ...Object.fromEntries(entries), mode }]) {
            try {
              expect(parse(value, { X: "1" }).mode).toBeTypeOf("string");
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

  it("and the paths in it are resolved from the application folder", async () => {
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
      revisions: 1,
      assets: [],
      healthChecks: { db: join(folder, "check.ts") },
      middleware: ["some-package", join(folder, "log.ts")],
    });
  });

  it("that doesn't exist is named in the error, with the ways to choose another", async () => {
    await expect(readConfig("./none.json", { root: folder })).rejects.toThrow(
      /^none\.json: there is no such file\n.*--config/,
    );
    await expect(readConfig("./seamline.json", { root: folder })).rejects.toThrow(
      /^seamline\.json: there is no such file\n {2}→ Write one, \{ "mode": "standalone", "url": .*--config/,
    );
  });

  it("with invalid JSON is reported with line and column", async () => {
    await writeFile(join(folder, "a.json"), '{\n  "mode": "node",\n  url: 1\n}');
    await expect(readConfig("a.json", { root: folder })).rejects.toThrow(
      /^a\.json:3:3: this is not JSON/,
    );
  });

  it("can be replaced by an object", async () => {
    expect(await readConfig(repository, { root: folder })).toMatchObject({
      mode: "repository",
      output: join(folder, "dist"),
    });
  });
});

it("a service that others can reach warns if its configuration doesn't set 'errors'", () => {
  const warning = (url: string, more = {}) =>
    errorsWarning({ mode: "standalone", url, ...more }, "seamline.json");
  for (const url of ["http://0.0.0.0:3000", "http://[::]:3000", "http://10.0.0.1", "https://shop"])
    expect(warning(url)).toBe(
      `seamline.json: 'errors' isn't set, so callers read the messages of this application's errors: set it to "masked" to hide them, or to "shown"`,
    );
  for (const url of ["http://127.0.0.2:3000", "http://[::1]:3000", "http://shop.localhost:3000"])
    expect(warning(url)).toBeUndefined();
  expect(warning("http://0.0.0.0:3000", { errors: "shown" })).toBeUndefined();
  expect(warning("http://0.0.0.0:3000", { mode: "repository" })).toBeUndefined();
});
