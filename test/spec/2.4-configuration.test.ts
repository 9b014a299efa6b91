import { describe, expect, it } from "vitest";

import { readConfig } from "../../server/config.ts";
import { createFixture } from "../build/_fixture.ts";
import {
  gateway,
  here,
  modes,
  node,
  parse,
  proxy,
  repository,
  there,
  told,
  twoSegments,
} from "./_configurations.ts";
import { anyPort, applicationOf, start } from "./_started.ts";

describe("§2.4 configuration of a node", () => {
  it("§2.4-1 a node's `mode` is node", () => {
    expect(parse(node)).toMatchObject({ mode: "node" });
    expect(told({ ...node, mode: "nod" })).toEqual([
      expect.stringMatching(/^mode: expected one of node, .*, found "nod" → Did you mean 'node'\?/),
    ]);
    expect(told({ ...node, mode: undefined })).toEqual([
      expect.stringMatching(
        /^mode: it is missing → Set 'mode' to one of node, gateway, repository/,
      ),
    ]);
    for (const mode of ["toString", "__proto__", 1, null, ["node"]])
      expect(told({ ...node, mode })).toEqual([expect.stringContaining("mode: expected one of")]);
  });

  it("§2.4-2 `url` is the address of the node", () => {
    expect(parse({ ...node, url: "http://127.0.0.1:4000/" })).toMatchObject({ url: here });
    const { url: _, ...less } = node;
    expect(told(less)).toEqual([
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
      expect(told({ ...node, url }), String(url)).toEqual([
        expect.stringMatching(/^url: (expected|an address can't)/),
      ]);
  });

  it("§2.4-3 `gateway` is the address of the gateway", () => {
    expect(parse({ ...node, gateway: `${there}/` })).toMatchObject({ gateway: there });
    expect(told({ ...node, gateway: "there" })).toEqual([
      "gateway: expected an address such as http://127.0.0.1:3000, found 'there'",
    ]);
  });

  it("§2.4-4 `repository` is the address of the repository", () => {
    expect(parse(node)).toMatchObject({ repository: there });
    expect(told({ ...node, repository: "./dist" })).toEqual([
      expect.stringMatching(/^repository: expected an address/),
    ]);
  });

  it("§2.4-5 `segments` is a list of the segments to load, by the names of their files without .segment.json", async () => {
    const application = applicationOf(twoSegments);
    const { url: repository } = await start(application, { mode: "repository", url: anyPort });
    const load = async (...segments: string[]) =>
      await start(application, { ...node, url: anyPort, repository, segments });
    expect((await load("shop")).describe()).toEqual({ segments: ["shop"], procedures: 1 });
    expect((await load("page.one", "shop")).describe()).toEqual({
      segments: ["page.one", "shop"],
      procedures: 2,
    });
    await expect(load("shop.segment.json")).rejects.toThrow("shop.segment.json");
    expect(told({ ...node, segments: [] })).toEqual([
      "segments: expected the name of at least one segment, found an array",
    ]);
    expect(told({ ...node, segments: ["a", "b", "a"] })).toEqual([
      "segments.2: 'a' is named twice",
    ]);
    expect(told({ ...node, segments: ["a", 1, ""] })).toEqual([
      "segments.1: expected a text, found 1",
      'segments.2: expected a text that is not empty, found ""',
    ]);
  });
});

describe("decisions §5: the file", () => {
  it("D5.keys-1 a configuration is one JSON file, flat, with mode", async () => {
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

  it("D5.keys-2 `$schema` is allowed in a configuration", () => {
    for (const one of modes)
      expect(
        parse({ $schema: "./node_modules/seamline/schema/config.json", ...one }),
      ).not.toHaveProperty("$schema");
    expect(told({ $schema: 1, ...gateway })).toEqual([
      "$schema: expected the path of a JSON Schema, found a number",
    ]);
  });

  it("D5.keys-3 unknown keys of a configuration are refused with file, key, and the nearest one that there is", () => {
    expect(told({ ...node, segmnts: [] })).toEqual([
      "segmnts: unknown key → Did you mean 'segments'?",
    ]);
    expect(told({ ...gateway, xyzzyxyzzy: 1 })).toEqual([
      expect.stringMatching(/^xyzzyxyzzy: unknown key → Known here: mode, url, trustKey/),
    ]);
    expect(told({ ...gateway, limits: { bodi: 1 } })).toEqual([
      expect.stringMatching(/^limits\.bodi: unknown limit; known: body.* → Did you mean 'body'\?/),
    ]);
    expect(
      told(JSON.parse('{"mode":"gateway","url":"http://a.b","__proto__":{"monitor":1}}')),
    ).toEqual([expect.stringContaining("__proto__: unknown key")]);
  });

  it("D5.keys-4 wrong types in a configuration are refused with what was expected and found, all of them at once", () => {
    const wrong = {
      ...repository,
      assets: "a",
      index: 1,
      limits: { time: "5 s", body: 0.5 },
      log: "inof",
      healthChecks: [],
      clients: {},
      layout: [],
    };
    expect(told(wrong)).toEqual([
      "healthChecks: expected an object, found an array",
      "layout: expected an object, found an array",
      "limits.body: expected a whole number, found 0.5",
      'limits.time: expected a number, found "5 s"',
      "log: expected info, warn, error or none, found \"inof\" → Did you mean 'info'?",
      "index: expected a text, found 1",
      'assets: expected a list of texts, found "a"',
      "clients: expected a list of texts, found an object",
    ]);
  });

  it("D5.keys-5 keys of a configuration that can't be together are refused", () => {
    expect(told({ ...proxy, node: there })).toEqual([
      "gateway: a proxy needs one of 'gateway' and 'node', and not both",
    ]);
    expect(told({ ...gateway, segments: ["a"] })).toEqual([
      expect.stringContaining(
        "segments: mode 'gateway' has no such key; it belongs to node, standalone",
      ),
    ]);
    expect(told({ ...gateway, url: "https://a.b" })).toEqual([
      expect.stringMatching(/^url: https takes a certificate: .* → Add "tls"/),
    ]);
    expect(told({ ...gateway, tls: { cert: "a", key: "b" } })).toEqual([
      expect.stringMatching(/^url: a service with 'tls' listens with https/),
    ]);
  });
});

describe("decisions §5: values from the environment", () => {
  it("D5.keys-6 ${NAME} in a configuration is the variable's value, anywhere in a text, in lists and objects, several in one", () => {
    const env = { HOST: "a.b", PORT: "1", CHECK: "./c.ts", MODE: "gateway" };
    const value = {
      mode: "${MODE}",
      url: "http://${HOST}:${PORT}",
      middleware: ["m", "${CHECK}"],
      healthChecks: { db: "${CHECK}" },
      monitor: "${PORT}",
    };
    expect(parse(value, env)).toMatchObject({
      mode: "gateway",
      url: "http://a.b:1",
      middleware: ["m", "/app/c.ts"],
      healthChecks: { db: "/app/c.ts" },
      monitor: 1,
    });
  });

  it("D5.keys-7 ${NAME:-default} takes the default where there is no variable, or an empty one; the default may be empty", () => {
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

  it("D5.keys-8 a variable that is not set and has no default is an error, each of them with its key", () => {
    expect(told({ ...node, url: "${URI}", segments: ["a", "${GATE}"] }, { GATES: "x" })).toEqual([
      "url: the environment has no variable URI → Set it, or give a default: ${URI:-…}",
      "segments.1: the environment has no variable GATE → Set it, or give a default: ${GATE:-…} (there is GATES)",
    ]);
    expect(told({ ...node, name: "${A:-${B}}" }, { A: "1" })).toEqual([
      expect.stringContaining("has a variable inside another"),
    ]);
    expect(told({ ...node, name: "${A" }, { A: "1" })).toEqual([
      expect.stringContaining("has no closing brace"),
    ]);
    expect(told({ ...node, name: "${}" })).toEqual([
      expect.stringContaining("'${}' is no variable"),
    ]);
  });
});
