// Names of procedures and classes, and duplicates.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { packageFolder } from "../../server/base/package-folder.ts";
import { paths } from "../../src/base/protocol.ts";
import { fromField, ask } from "../_cluster.ts";
import { deploy } from "../_deployment.ts";
import type { Files } from "../build/_fixture.ts";
import { anyPort, applicationOf, start } from "./_started.ts";

const open = { access: "public" };
const segment = (module: string, ...names: readonly string[]): string =>
  JSON.stringify({ [module]: Object.fromEntries(names.map((name) => [name, open])) });
const returns = (name: string, value: string): string =>
  `export async function ${name}() { return ${value}; }\n`;

/** The FQNs in a build of these files. */
async function fqns(files: Files): Promise<readonly string[]> {
  return (await applicationOf(files).build()).manifest.procedures.map((procedure) => procedure.fqn);
}
async function standalone(
  files: Files,
): Promise<(path: string, headers?: Record<string, string>) => Promise<string>> {
  const application = applicationOf(files);
  await application.build();
  const { url } = await start(application, { mode: "standalone", url: anyPort });
  return async (path, headers = {}) => {
    const answer = await fetch(`${url}/rpc/${path}`, { headers });
    return `${answer.status} ${await answer.text()}`;
  };
}

describe("the product's name", () => {
  it("names-1: the package and its command are named seamline", () => {
    const { name, bin } = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")) as {
      name: string;
      bin: object;
    };
    expect([name, Object.keys(bin)]).toEqual(["seamline", ["seamline"]]);
  });

  it("names-2: names on the wire are neutral: paths of the service begin with /svc/, its headers with x-svc-", async () => {
    const { gateway, network } = await deploy();
    const { headers } = await ask(gateway, "GET", "/rpc/shop/stock?sku=1");
    const standard =
      /^(vary|content-type|cache-control|content-security-policy|x-content-type-options|x-forwarded-host|x-forwarded-proto)$/;
    const own = [headers, ...network.sent.map((request) => request.headers)]
      .flatMap(Object.keys)
      .filter((name) => !standard.test(name) && name !== fromField);
    expect(own).toEqual(expect.arrayContaining(["x-svc-data-type", "x-svc-node", "x-svc-hops"]));
    expect(own.filter((name) => !name.startsWith("x-svc-"))).toEqual([]);
    const { client, hooks, remote, modules } = paths;
    expect([client, hooks, remote, modules].every((path) => path.startsWith("/svc/"))).toBe(true);
  });
});

describe("fully qualified names", () => {
  it("names-3: an FQN is the directory of the module and the procedure's name, without the file's name", async () => {
    expect(
      await fqns({
        "src/greetings/sayHello.ts": returns("sayHello", "1"),
        "x.segment.json": segment("./greetings/sayHello.js", "sayHello"),
      }),
    ).toEqual(["greetings/sayHello"]);
    expect(
      await fqns({
        "src/a/b/file.ts": returns("other", "1"),
        "x.segment.json": segment("./a/b/file", "other"),
      }),
    ).toEqual(["a/b/other"]);
  });

  it("names-4: the FQN of a procedure in the source root is its name alone", async () => {
    expect(
      await fqns({
        "src/file.ts": returns("name", "1"),
        "x.segment.json": segment("./file", "name"),
      }),
    ).toEqual(["name"]);
  });

  it("names-5: `as` takes precedence over every other name of a procedure", async () => {
    const files = { "src/a/file.ts": "export default async function declared() {}\n" };
    expect(
      await fqns({
        ...files,
        "x.segment.json": '{ "./a/file": { "default": { "access": "public", "as": "given" } } }',
      }),
    ).toEqual(["a/given"]);
  });

  it("names-6: without `as`, a procedure has the name in the function's declaration, whatever it's exported as", async () => {
    const source =
      "async function declared() {}\nconst arrow = async () => {};\nexport { declared as one };\nexport { arrow as two };\nexport default async function three() {}\n";
    expect(
      await fqns({
        "src/a/file.ts": source,
        "x.segment.json": segment("./a/file", "one", "two", "default"),
      }),
    ).toEqual(["a/arrow", "a/declared", "a/three"]);
  });

  it("names-7: a function that is declared without a name has the name of its export", async () => {
    const source =
      "const all = { x: async () => {} };\nexport const arrow = async () => 1;\nexport const fn = async function () {};\nconsole.log(all);\n";
    expect(
      await fqns({ "src/a/file.ts": source, "x.segment.json": segment("./a/file", "arrow", "fn") }),
    ).toEqual(["a/arrow", "a/fn"]);
  });

  it.each(["export default async () => {};\n", "export default async function () {}\n"])(
    "names-8: an anonymous default export has the file's base name: %j",
    async (source) => {
      expect(
        await fqns({ "src/a/file.ts": source, "x.segment.json": segment("./a/file", "default") }),
      ).toEqual(["a/file"]);
    },
  );

  it("names-9: an anonymous default export of an index module has the directory's name as its whole FQN", async () => {
    const source = "export default async () => {};\n";
    expect(
      await fqns({ "src/a/b/index.ts": source, "x.segment.json": segment("./a/b", "default") }),
    ).toEqual(["a/b"]);
    expect(
      await fqns({
        "src/a/index.ts": "export default async function own() {}\n",
        "x.segment.json": segment("./a", "default"),
      }),
    ).toEqual(["a/own"]);
  });

  it("names-10: names are read from the source at build time, and a function's name at run time doesn't count", async () => {
    const source =
      'export async function real() { return 1; }\nObject.defineProperty(real, "name", { value: "m" });\n';
    const ask = await standalone({
      "src/a/file.ts": source,
      "x.segment.json": segment("./a/file", "real"),
    });
    expect([await ask("a/real"), (await ask("a/m")).slice(0, 3)]).toEqual(["200 1", "404"]);
  });

  it("a re-export is named after the module that the segment names; export * passes names on, a default it doesn't (names-3)", async () => {
    const files = {
      "src/inner/one.ts": `${returns("one", "1")}export default async () => {};\n`,
      "src/inner/two.ts": "export const two = async () => 2;\n",
      "src/api/index.ts":
        'export * from "../inner/one.ts";\nexport { two as second } from "../inner/two.ts";\nexport * as all from "../inner/two.ts";\n',
    };
    expect(await fqns({ ...files, "x.segment.json": segment("./api", "one", "second") })).toEqual([
      "api/one",
      "api/two",
    ]);
    const wrong = await applicationOf({
      ...files,
      "x.segment.json": segment("./api", "default", "all"),
    }).problems();
    expect(wrong).toMatchObject([
      { message: expect.stringContaining('none named "default"') },
      { path: '$["./api"].all' },
    ]);
  });
});

describe("keys of classes", () => {
  it("names-11: a class's key is made in the same way: directory and the class's name", async () => {
    const { manifest } = await applicationOf({
      "src/people/file.ts": "export class Person { name = 'Ada'; }\nexport default class {}\n",
      "src/root.ts": "export class Root {}\n",
      "src/a.ts": `import "./people/file.ts";\nimport "./root.ts";\n${returns("a", "1")}`,
      "x.segment.json": segment("./a", "a"),
    }).build();
    expect(manifest.classes.map((record) => record.key)).toEqual([
      "Root",
      "people/Person",
      "people/file",
    ]);
  });
});

describe("modules in segment files", () => {
  it("names-13: modules in segment files are named with or without extension", async () => {
    const files = {
      "src/s/a.ts": returns("a", "1"),
      "src/s/b.mts": returns("b", "1"),
      "src/s/c.tsx": returns("c", "1"),
    };
    const keys = (...three: readonly string[]) =>
      fqns({
        ...files,
        "x.segment.json": JSON.stringify(
          Object.fromEntries(three.map((key, at) => [key, { ["abc"[at] ?? ""]: open }])),
        ),
      });
    expect(await keys("./s/a", "./s/b", "./s/c")).toEqual(["s/a", "s/b", "s/c"]);
    expect(await keys("./s/a.js", "./s/b.mjs", "./s/c.jsx")).toEqual(["s/a", "s/b", "s/c"]);
    expect(await keys("./s/a.ts", "./s/b.mts", "./s/c.tsx")).toEqual(["s/a", "s/b", "s/c"]);
  });

  it.each(["js", "ts", "jsx", "tsx", "mjs", "mts"])(
    "names-14: each extension in a segment file leads to the source file that is there: %s",
    async (extension) => {
      expect(
        await fqns({
          [`src/s/a.${extension}`]: returns("a", "1"),
          "x.segment.json": segment("./s/a.js", "a"),
        }),
      ).toEqual(["s/a"]);
    },
  );

  it("an unknown module is reported with the nearest one; two files that would be one module are refused (names-14)", async () => {
    const files = {
      "src/shop/stock.ts": returns("a", "1"),
      "x.segment.json": segment("./shop/stok", "a"),
    };
    expect(await applicationOf(files).problems()).toMatchObject([
      { file: "x.segment.json", line: 1, hint: 'Did you mean "./shop/stock"?' },
    ]);
    const twins = { ...files, "src/shop/stock.js": "export {};\n", "x.segment.json": "{}" };
    expect(await applicationOf(twins).problems()).toMatchObject([
      { message: expect.stringContaining('are one module, "shop/stock"') },
    ]);
  });

  it("names-15: a directory means its index module; a file of that name takes precedence", async () => {
    const index = { "src/s/index.ts": returns("inner", "1") };
    expect(await fqns({ ...index, "x.segment.json": segment("./s", "inner") })).toEqual([
      "s/inner",
    ]);
    expect(await fqns({ ...index, "x.segment.json": segment("./s/", "inner") })).toEqual([
      "s/inner",
    ]);
    expect(
      await fqns({
        ...index,
        "src/s.ts": returns("outer", "1"),
        "x.segment.json": segment("./s", "outer"),
      }),
    ).toEqual(["outer"]);
  });

  it("names-16: an export that no segment names, beside ones that are named, exists everywhere, once per node", async () => {
    const ask = await standalone({
      "src/s/a.ts": `export const seen = [];\n${returns("a", 'seen.push("a")')}`,
      "src/s/b.ts":
        'import { seen } from "./a.ts";\nexport async function b() { seen.push("b"); return seen.join(); }\n',
      "x.segment.json": segment("./s/a", "a"),
      "y.segment.json": segment("./s/b", "b"),
    });
    expect([await ask("s/a"), await ask("s/b")]).toEqual(["200 1", "200 a,b"]);
  });
});

describe("one name for two things", () => {
  it("names-12, segments-22: two exports with one FQN and version are refused, with both files", async () => {
    const files = {
      "src/shop/v1.ts": returns("offer", "1"),
      "src/shop/v2.ts": returns("offer", "2"),
      "one.segment.json": segment("./shop/v1", "offer"),
      "two.segment.json": segment("./shop/v2", "offer"),
    };
    expect(await applicationOf(files).problems()).toMatchObject([
      {
        message: expect.stringMatching(
          /"shop\/offer" version 0\.0\.0 stands for two functions: .*v1\.ts \(one\.segment\.json\).*v2\.ts \(two\.segment\.json\)/,
        ),
      },
    ]);
  });

  it("segments-23: one export in several segments is no duplicate", async () => {
    const files = {
      "src/a.ts": returns("a", "1"),
      "x.segment.json": segment("./a", "a"),
      "y.segment.json": segment("./a.js", "a"),
    };
    expect(await fqns(files)).toEqual(["a"]);
  });

  it("segments-24: version and `as` of an export are the same in all of its segments; its access may differ", async () => {
    const files = { "src/a.ts": returns("a", "1"), "x.segment.json": segment("./a", "a") };
    const other = (fields: object) =>
      applicationOf({
        ...files,
        "y.segment.json": JSON.stringify({ "./a": { a: { access: "private", ...fields } } }),
      });
    expect((await other({ version: "0" }).build()).manifest.segments["y"]).toMatchObject([
      { access: "private" },
    ]);
    // If one service has both, the more open access counts, in any order.
    for (const segments of [
      ["x", "y"],
      ["y", "x"],
    ]) {
      const application = other({});
      await application.build();
      const { url } = await start(application, { mode: "standalone", url: anyPort, segments });
      expect(await (await fetch(`${url}/rpc/a`)).text(), segments.join()).toBe("1");
    }
    expect(await other({ version: "1" }).problems()).toMatchObject([
      { line: 1, message: expect.stringMatching(/has version [01]\.0\.0 here, and [01]\.0\.0 in/) },
    ]);
    expect(await other({ as: "b" }).problems()).toMatchObject([
      { message: expect.stringMatching(/is named "[ab]" here, and "[ab]" in/) },
    ]);
  });

  it("segments-25: a seam calls the version of its own export", async () => {
    const ask = await standalone({
      "src/s/a.ts": returns("old", '"old"') + returns("young", '"young"'),
      "src/s/b.ts":
        'import { young, old } from "./a.ts";\nexport async function b() { return await young() + " " + await old(); }\n',
      "x.segment.json": JSON.stringify({
        "./s/a": { old: { ...open, as: "a" }, young: { ...open, as: "a", version: "2" } },
      }),
      "y.segment.json": segment("./s/b", "b"),
    });
    expect(await ask("s/b")).toBe("200 young old");
  });

  const twins = {
    "src/s/one.ts": "export class Same { n = 1; }\n",
    "src/s/two.ts": "export class Same { n = 2; }\n",
    "src/s/a.ts":
      'import { Same } from "./one.ts";\nimport "./two.ts";\nexport async function a() { return new Same(); }\nexport async function take(value: unknown) { return typeof value; }\n',
    "x.segment.json": segment("./s/a", "a", "take"),
  };

  it("segments-26: two exported classes with one key are both left out, with a warning", async () => {
    const application = applicationOf(twins);
    const { warnings, manifest } = await application.build();
    expect(warnings).toMatchObject([
      {
        file: "src/s/two.ts",
        message: expect.stringMatching(/src\/s\/one\.ts have the same key, "s\/Same"/),
      },
    ]);
    expect(manifest.classes.filter((record) => record.clash === undefined)).toEqual([]);
    const { url } = await start(application, { mode: "standalone", url: anyPort });
    const value = { serialized: true, key: "s/Same", name: "class", args: {}, fields: {} };
    const headers = { "content-type": "application/json", "x-svc-data-encoding": "serialized" };
    const answer = await fetch(`${url}/rpc/s/take`, {
      method: "POST",
      headers,
      body: JSON.stringify({ value }),
    });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { message: "args.value: there is no class 's/Same'" },
    ]);
  });

  it("segments-27: sending an instance of a class whose key another has too is ValueNotSerializable, and names both files", async () => {
    const answer = await (await standalone(twins))("s/a", { "x-svc-data-encoding": "serialized" });
    expect(answer).toMatch(/^500 .*ValueNotSerializable.*src\/s\/one\.ts and src\/s\/two\.ts/s);
  });

  it("two parameters with one name are refused; one that is named version is a warning (names-3)", async () => {
    const files = (parameters: string) => ({
      "src/a.ts": `export async function a(${parameters}) {}\n`,
      "x.segment.json": segment("./a", "a"),
    });
    expect(await applicationOf(files("{ n }, { n: m }")).problems()).toMatchObject([
      { file: "src/a.ts", line: 1, message: expect.stringContaining("'n'") },
    ]);
    const { warnings } = await applicationOf(
      files("{ version }: { version: string }, other: string"),
    ).build();
    expect(warnings).toMatchObject([
      {
        file: "src/a.ts",
        line: 1,
        message: expect.stringContaining('parameter "version"'),
        hint: expect.any(String),
      },
    ]);
  });
});
