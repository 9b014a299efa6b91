import { describe, expect, it } from "vitest";

import { readConfig } from "../../server/config/config.ts";
import { createFixture } from "../build/_fixture.ts";
import {
  gateway,
  ownUrl,
  modes,
  node,
  parse,
  proxy,
  repository,
  otherUrl,
  configProblems,
  twoSegments,
} from "./_configurations.ts";
import { anyPort, applicationOf, start } from "./_started.ts";

describe("configuration of a node", () => {
  it("configuration-1: a node's `mode` is node", () => {
    expect(parse(node)).toMatchObject({ mode: "node" });
    expect(configProblems({ ...node, mode: "nod" })).toEqual([
      expect.stringMatching(/^mode: expected one of node, .*, found "nod" → Did you mean 'node'\?/),
    ]);
    expect(configProblems({ ...node, mode: undefined })).toEqual([
      expect.stringMatching(
        /^mode: it is missing → Set 'mode' to one of node, gateway, repository/,
      ),
    ]);
    for (const mode of ["toString", "__proto__", 1, null, ["node"]])
      expect(configProblems({ ...node, mode })).toEqual([
        expect.stringContaining("mode: expected one of"),
      ]);
  });

  it("configuration-2: `url` is the address of the node", () => {
    expect(parse({ ...node, url: "http://127.0.0.1:4000/" })).toMatchObject({ url: ownUrl });
    const { url: _, ...less } = node;
    expect(configProblems(less)).toEqual([
      "url: it is missing → Give an address such as http://127.0.0.1:3000",
    ]);
    for (const url of [
      "127.0.0.1:1",
      "ftp://a.b",
      "http://a.b/c",
      "http://a.b?c",
      "http://a:b@c.d",
      "http:a.b",
      "http://a b",
      "http://a.b:99999",
      "",
      1,
    ])
      expect(configProblems({ ...node, url }), String(url)).toEqual([
        expect.stringMatching(/^url: (expected|an address can't)/),
      ]);
  });

  it("configuration-3: `gateway` is the address of the gateway", () => {
    expect(parse({ ...node, gateway: `${otherUrl}/` })).toMatchObject({ gateway: otherUrl });
    expect(configProblems({ ...node, gateway: "there" })).toEqual([
      "gateway: expected an address such as http://127.0.0.1:3000, found 'there'",
    ]);
  });

  it("configuration-4: `repository` is the address of the repository", () => {
    expect(parse(node)).toMatchObject({ repository: otherUrl });
    expect(configProblems({ ...node, repository: "./dist" })).toEqual([
      expect.stringMatching(/^repository: expected an address/),
    ]);
  });

  it("configuration-5: `segments` is a list of the segments to load, by the names of their files without .segment.json", async () => {
    const application = applicationOf(twoSegments);
    const { url: repository } = await start(application, { mode: "repository", url: anyPort });
    const load = async (...segments: string[]) =>
      await start(application, { ...node, url: anyPort, repository, segments });
    expect((await load("shop")).info).toMatchObject({ segments: ["shop"], procedures: 1 });
    expect((await load("page.one", "shop")).info).toMatchObject({
      segments: ["page.one", "shop"],
      procedures: 2,
    });
    await expect(load("shop.segment.json")).rejects.toThrow("shop.segment.json");
    expect(configProblems({ ...node, segments: [] })).toEqual([
      "segments: expected the name of at least one segment, found an array",
    ]);
    expect(configProblems({ ...node, segments: ["a", "b", "a"] })).toEqual([
      "segments.2: 'a' is listed twice",
    ]);
    expect(configProblems({ ...node, segments: ["a", 1, ""] })).toEqual([
      "segments.1: expected a string, found 1",
      'segments.2: expected a string that isn\'t empty, found ""',
    ]);
  });
});

describe("the file", () => {
  it("configuration-6: a configuration is one JSON file, flat, with mode", async () => {
    const application = createFixture({
      "a.json": JSON.stringify(node),
      "b.json": '{ "mode": "node", // mine\n}',
    });
    expect(await readConfig("a.json", { root: application.root })).toMatchObject(node);
    await expect(readConfig("b.json", { root: application.root })).rejects.toThrow(
      /^b\.json:1:19: this is not JSON: .*\n.*no comments/,
    );
    for (const value of [null, [], "text", 7])
      expect(() => parse(value)).toThrow("seamline.json: expected a JSON object, found");
  });

  it("configuration-7: `$schema` is allowed in a configuration", () => {
    for (const configuration of modes)
      expect(
        parse({ $schema: "./node_modules/seamline/schema/config.json", ...configuration }),
      ).not.toHaveProperty("$schema");
    expect(configProblems({ $schema: 1, ...gateway })).toEqual([
      "$schema: expected the path of a JSON Schema, found a number",
    ]);
  });

  it("configuration-8: unknown keys of a configuration are refused with file, key, and the nearest known key", () => {
    expect(configProblems({ ...node, segmnts: [] })).toEqual([
      "segmnts: unknown key → Did you mean 'segments'?",
    ]);
    expect(configProblems({ ...gateway, xyzzyxyzzy: 1 })).toEqual([
      expect.stringMatching(/^xyzzyxyzzy: unknown key → Known here: mode, url, trustKey/),
    ]);
    expect(configProblems({ ...gateway, limits: { bodyByte: 1 } })).toEqual([
      expect.stringMatching(
        /^limits\.bodyByte: unknown limit; known: body.* → Did you mean 'bodyBytes'\?/,
      ),
    ]);
    expect(
      configProblems(
        JSON.parse('{"mode":"gateway","url":"http://a.b","__proto__":{"healthIntervalMs":1}}'),
      ),
    ).toEqual([expect.stringContaining("__proto__: unknown key")]);
  });

  it("configuration-9: wrong types in a configuration are all refused at once, with what was expected and what was found", () => {
    const wrong = {
      ...repository,
      assets: "a",
      index: 1,
      limits: { callTimeoutMs: "5 s", bodyBytes: 0.5 },
      log: "inof",
      healthChecks: [],
      browserSegments: {},
      nodes: [],
    };
    expect(configProblems(wrong)).toEqual([
      "healthChecks: expected an object, found an array",
      "nodes: expected an object, found an array",
      "limits.bodyBytes: expected a whole number, found 0.5",
      'limits.callTimeoutMs: expected a number, found "5 s"',
      "log: expected info, warn, error or none, found \"inof\" → Did you mean 'info'?",
      "index: expected a string, found 1",
      'assets: expected a list of strings, found "a"',
      "browserSegments: expected a list of strings, found an object",
    ]);
  });

  it("configuration-10: keys that exclude each other are refused in a configuration", () => {
    expect(configProblems({ ...proxy, node: otherUrl })).toEqual([
      "gateway: a proxy needs one of 'gateway', 'node' and 'directory', and no more",
    ]);
    expect(configProblems({ ...gateway, segments: ["a"] })).toEqual([
      expect.stringContaining(
        "segments: mode 'gateway' doesn't have this key; it belongs to node, standalone",
      ),
    ]);
    expect(configProblems({ ...gateway, url: "https://a.b" })).toEqual([
      expect.stringMatching(/^url: https needs a certificate, .* → Add "tls"/),
    ]);
    expect(configProblems({ ...gateway, tls: { cert: "a", key: "b" } })).toEqual([
      expect.stringMatching(/^url: a service with 'tls' listens with https/),
    ]);
  });
});

describe("values from the environment", () => {
  it("configuration-11: ${NAME} in a configuration is the variable's value, anywhere in a string, in lists and objects, several times in one", () => {
    const env = { HOST: "a.b", PORT: "1", CHECK: "./c.ts", MODE: "gateway" };
    const value = {
      mode: "${MODE}",
      url: "http://${HOST}:${PORT}",
      middleware: ["m", "${CHECK}"],
      healthChecks: { db: "${CHECK}" },
      healthIntervalMs: "${PORT}",
    };
    expect(parse(value, env)).toMatchObject({
      mode: "gateway",
      url: "http://a.b:1",
      middleware: ["m", "/app/c.ts"],
      healthChecks: { db: "/app/c.ts" },
      healthIntervalMs: 1,
    });
  });

  it("configuration-12: ${NAME:-default} is the default if the variable is unset or empty; the default may be empty", () => {
    const name = (text: string, env: Record<string, string>) =>
      (parse({ ...node, name: text }, env) as { name?: string }).name;
    expect([
      name("${A:-b}", {}),
      name("${A:-b}", { A: "" }),
      name("${A:-b}", { A: "c" }),
      name("x${A:-}", {}),
      name("${A:-a:-b}", {}),
    ]).toEqual(["b", "b", "c", "x", "a:-b"]);
  });

  it("configuration-13: each variable that is unset and has no default is an error with its key", () => {
    expect(
      configProblems({ ...node, url: "${URI}", segments: ["a", "${GATE}"] }, { GATES: "x" }),
    ).toEqual([
      "url: the environment variable URI isn't set → Set it, or give a default: ${URI:-…}",
      "segments.1: the environment variable GATE isn't set → Set it, or give a default: ${GATE:-…} (there is GATES)",
    ]);
    expect(configProblems({ ...node, name: "${A:-${B}}" }, { A: "1" })).toEqual([
      expect.stringContaining("has a variable inside another"),
    ]);
    expect(configProblems({ ...node, name: "${A" }, { A: "1" })).toEqual([
      expect.stringContaining("has no closing brace"),
    ]);
    expect(configProblems({ ...node, name: "${}" })).toEqual([
      expect.stringContaining("'${}' isn't a variable"),
    ]);
  });
});
