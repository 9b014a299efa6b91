import { describe, expect, it } from "vitest";

import { parseSegment } from "../../src/runtime/segment.ts";
import type { Files } from "../build/_fixture.ts";
import { anyPort, applicationOf, start } from "./_started.ts";

const open = { access: "public" };
const hidden = { access: "private" };
const segment = (module: string, exports: Record<string, unknown>): string =>
  JSON.stringify({ [module]: exports });
const returns = (name: string, value: string): string =>
  `export async function ${name}() { return ${value}; }\n`;
const parse = (json: unknown) => parseSegment(JSON.stringify(json), "shop.segment.json");

async function standalone(files: Files): Promise<(path: string) => Promise<string>> {
  const application = applicationOf(files);
  await application.build();
  const { url } = await start(application, { mode: "standalone", url: anyPort });
  return async (path) => {
    const answer = await fetch(`${url}/rpc/${path}`);
    return `${answer.status} ${await answer.text()}`;
  };
}

/** A repository, a gateway and a node for each list of segments. */
async function cluster(files: Files, ...nodes: readonly (readonly string[])[]) {
  const application = applicationOf(files);
  await application.build();
  const repository = (await start(application, { mode: "repository", url: anyPort })).url;
  const gateway = (await start(application, { mode: "gateway", url: anyPort })).url;
  const started = [];
  for (const [index, segments] of nodes.entries())
    started.push(
      await start(application, {
        mode: "node",
        url: anyPort,
        name: `node ${index}`,
        gateway,
        repository,
        segments,
      }),
    );
  const ask = async (base: string, path: string): Promise<string> => {
    const answer = await fetch(`${base}/rpc/${path}`);
    return `${answer.status} ${await answer.text()} ${answer.headers.get("x-svc-node") ?? ""}`.trim();
  };
  return { gateway, nodes: started, ask };
}

describe("the file", () => {
  it("segments-1: a file is a segment file if its name ends with .segment.json, and other files are ignored", async () => {
    const application = applicationOf({
      "src/a.ts": returns("a", "1"),
      "deploy/one.segment.json": segment("./a", { a: open }),
      "two.segments.json": "{",
      "segment.json": "{",
      "three.segment.json.bak": "{",
      "four.segment.jsonc": "{",
    });
    expect(Object.keys((await application.build()).manifest.segments)).toEqual(["one"]);
  });

  it.each([["[]"], ['"text"'], ["null"], ["7"], ["true"]])(
    "segments-2: the content of a segment file is a JSON object, and anything else is refused: %s",
    (text) => {
      expect(parseSegment(text, "a.segment.json").problems).toMatchObject([
        { file: "a.segment.json", path: "$", line: 1 },
      ]);
    },
  );

  it.each([
    ["", "1:1", "expected a value"],
    ['{\n  // mine\n  "./a": {} }', "2:3", "expected a key or '}', found //"],
    ['{ "./a": {}, }', "1:14", "expected a key, found }"],
    ['{ "./a": {}, "./a": {} }', "1:14", 'the key "./a" is there twice'],
    [
      '{ "./a": { "b": { "access": "public", "access": "private" } } }',
      "1:39",
      'the key "access" is there twice',
    ],
  ])(
    "a segment file that is not JSON, or has a key twice, is refused with line and column: %j (segments-2)",
    (text, place, message) => {
      const [problem] = parseSegment(text, "a.segment.json").problems;
      expect(`${problem?.line}:${problem?.column}`).toBe(place);
      expect(problem?.message).toContain(message);
    },
  );

  it("segments-3: a module's path begins with ./ and is relative to the source root", async () => {
    const ask = await standalone({
      "src/shop/deep/a.ts": returns("a", "1"),
      "deploy/x.segment.json": segment("./shop/deep/a", { a: open }),
    });
    expect(await ask("shop/deep/a")).toBe("200 1");
    for (const wrong of [
      "shop/a",
      "/shop/a",
      "../a",
      "./../a",
      "./shop/../a",
      ".\\shop",
      "__proto__",
      "",
      "src/shop/a",
    ])
      expect(parse(JSON.parse(segment(wrong, { a: open }))).problems).toMatchObject([
        { message: expect.stringContaining("expected a module path") },
      ]);
  });

  it("segments-4: a module's path may end with .js or not", async () => {
    const ask = await standalone({
      "src/a.ts": returns("a", "1"),
      "src/b.ts": returns("b", "2"),
      "x.segment.json": JSON.stringify({ "./a.js": { a: open }, "./b": { b: open } }),
    });
    expect([await ask("a"), await ask("b")]).toEqual(["200 1", "200 2"]);
  });

  it("two spellings of a module are one module: an export that both name is refused (segments-4)", async () => {
    const application = applicationOf({
      "src/a.ts": returns("a", "1") + returns("b", "2"),
      "x.segment.json": JSON.stringify({ "./a": { a: open }, "./a.js": { a: open, b: open } }),
    });
    expect(await application.problems()).toMatchObject([
      { file: "x.segment.json", line: 1, message: expect.stringContaining("named twice") },
    ]);
  });

  it("segments-5: a module's path holds the names of its exports, `default` for the default export", async () => {
    const ask = await standalone({
      "src/a.ts": `${returns("a", "1")}export default async function b() { return 2; }\n`,
      "x.segment.json": segment("./a", { a: open, default: open }),
    });
    expect([await ask("a"), await ask("b")]).toEqual(["200 1", "200 2"]);
    expect(parse({ "./a": [] }).problems).toMatchObject([
      { path: '$["./a"]', message: expect.stringContaining("exported names") },
    ]);
  });

  it.each(["__proto__", "constructor", "toString", "nothing"])(
    "an entry for a missing export is refused, %s too (segments-5)",
    async (name) => {
      const application = applicationOf({
        "src/a.ts": returns("a", "1"),
        "x.segment.json": `{ "./a": { "${name}": { "access": "public" } } }`,
      });
      expect(await application.problems()).toMatchObject([
        { message: expect.stringContaining(`none named "${name}"; it exports a`) },
      ]);
    },
  );
});

describe("fields of an entry", () => {
  it("segments-6: an entry must have an access: public, private or protected", () => {
    for (const access of ["public", "private", "protected"])
      expect(parse({ "./a": { a: { access } } }).entries).toMatchObject([{ access }]);
    for (const entry of [{}, { access: "Public" }, { access: null }, { access: ["public"] }])
      expect(parse({ "./a": { a: entry } })).toMatchObject({
        entries: [],
        problems: [{ path: '$["./a"].a.access' }],
      });
  });

  it("segments-7: a private procedure can't be called from outside", async () => {
    const ask = await standalone({
      "src/a.ts": returns("a", "1"),
      "x.segment.json": segment("./a", { a: hidden }),
    });
    expect(await ask("a")).toMatch(/^404 /);
  });

  it("segments-8: a node that holds a procedure as private gets no calls for it from its gateway", async () => {
    const { gateway, nodes, ask } = await cluster(
      {
        "src/a.ts": returns("a", "1"),
        "x.segment.json": segment("./a", { a: open }),
        "y.segment.json": segment("./a", { a: hidden }),
      },
      ["x"],
      ["y"],
    );
    const answers = await Promise.all([1, 2, 3, 4].map(() => ask(gateway, "a")));
    expect(new Set(answers)).toEqual(new Set(["200 1 node 0"]));
    expect(await ask(nodes[1]?.url ?? "", "a")).toMatch(/^404 /);
  });

  it("segments-9: `version` is the procedure's version, 0.0.0 by default", () => {
    const versions = (fields: object) =>
      parse({ "./a": { a: { access: "public", ...fields } } }).entries.map(
        (entry) => entry.version,
      );
    expect([
      versions({}),
      versions({ version: "2" }),
      versions({ version: "1.2" }),
      versions({ version: "01.2.3" }),
    ]).toEqual([["0.0.0"], ["2.0.0"], ["1.2.0"], ["1.2.3"]]);
  });

  it.each(["1.2.3.4", "v1", "1.x", "", " 1", "1.", "-1", "1234567890", 1, 1.2, null, {}])(
    "a segment file with the version %j is refused (segments-9, errors-20)",
    (version) => {
      expect(parse({ "./a": { a: { access: "public", version } } }).problems).toMatchObject([
        {
          path: '$["./a"].a.version',
          message: expect.stringMatching(/^Invalid version number '/),
          hint: expect.stringContaining("1.2.3"),
        },
      ]);
    },
  );

  it("segments-10: `as` is the name under which the export is registered", async () => {
    const ask = await standalone({
      "src/s/a.ts": returns("a", "1"),
      "x.segment.json": segment("./s/a", { a: { ...open, as: "b" } }),
    });
    expect([await ask("s/b"), (await ask("s/a")).slice(0, 3)]).toEqual(["200 1", "404"]);
  });

  it("segments-11: several versions of one procedure are bundled from one file by `as`", async () => {
    const ask = await standalone({
      "src/s/a.ts": returns("old", "1") + returns("young", "2"),
      "x.segment.json": segment("./s/a", {
        old: { ...open, as: "a" },
        young: { ...open, as: "a", version: "2" },
      }),
    });
    expect([
      await ask("s/a"),
      await ask("s/a?version=2"),
      (await ask("s/old")).slice(0, 3),
    ]).toEqual(["200 1", "200 2", "404"]);
  });

  it("segments-12: without `as` a procedure is known by its function's name", async () => {
    const ask = await standalone({
      "src/s/a.ts": "async function inside() { return 1; }\nexport { inside as outside };\n",
      "x.segment.json": segment("./s/a", { outside: open }),
    });
    expect([await ask("s/inside"), (await ask("s/outside")).slice(0, 3)]).toEqual(["200 1", "404"]);
  });

  it.each([
    [
      { access: "public", versoin: "1" },
      '.versoin: unknown field "versoin"; expected one of access, version, as, safe, idempotent, resume, timeoutMs, validate, extra, guard, route, crossSite, bodyBytes',
    ],
    [
      { access: "public", __proto__x: 1, as: "a/b" },
      '.as: expected a procedure name, without slashes and blanks, found "a/b"',
    ],
    [{ access: "public", safe: 1 }, ".safe: expected true or false, found 1"],
    ["public", ': expected an object with "access", found "public"'],
  ])("an entry with an unknown or wrong field is refused: %j (segments-6)", (entry, message) => {
    const problems = parse({ "./a": { a: entry } }).problems.map(
      (problem) => `${problem.path}: ${problem.message}`,
    );
    expect(problems).toContain(`$["./a"].a${message}`);
  });
});

describe("where procedures are", () => {
  it("segments-13: a procedure may be in several segments, and every node that loads one of them has it", async () => {
    const { gateway, ask } = await cluster(
      {
        "src/a.ts": returns("a", "1"),
        "x.segment.json": segment("./a", { a: open }),
        "y.segment.json": segment("./a", { a: open }),
      },
      ["x"],
      ["y"],
    );
    expect(new Set([await ask(gateway, "a"), await ask(gateway, "a")])).toEqual(
      new Set(["200 1 node 0", "200 1 node 1"]),
    );
  });

  const two = {
    "src/helper.ts": `const id = "module " + Math.random();\n${returns("helper", "id")}`,
    "src/a.ts": `import { helper } from "./helper.ts";\nexport async function a() { return "a " + await helper(); }\n`,
    "src/b.ts": `import { helper } from "./helper.ts";\nexport async function b() { return "b " + await helper(); }\n`,
    "x.segment.json": segment("./a", { a: open }),
    "y.segment.json": segment("./b", { b: open }),
  };

  it("segments-14: a procedure that is in no segment exists in every segment", async () => {
    const { gateway, ask } = await cluster(two, ["x"], ["y"]);
    const [a, b] = [await ask(gateway, "a"), await ask(gateway, "b")];
    expect([a, b]).toEqual([
      expect.stringMatching(/^200 a module 0\.\d+ node 0$/),
      expect.stringMatching(/^200 b module 0\.\d+ node 1$/),
    ]);
    // Each node runs its own, and sent nothing to the other.
    expect(a.split(" ")[3]).not.toBe(b.split(" ")[3]);
    // A gateway that has just started waits for nodes that may have it.
    await expect.poll(() => ask(gateway, "helper"), { timeout: 10_000 }).toMatch(/^404 /);
  });

  it("segments-15: a private procedure of a segment exists in that segment only", async () => {
    const files = {
      ...two,
      "x.segment.json": JSON.stringify({ "./a": { a: open }, "./helper": { helper: hidden } }),
    };
    const { gateway, ask } = await cluster(files, ["x"], ["y"]);
    expect(await ask(gateway, "a")).toMatch(/^200 a module 0\.\d+ node 0$/);
    await expect.poll(() => ask(gateway, "b"), { timeout: 10_000 }).toMatch(/^500 .*helper/);
  });

  it("segments-16: all versions of a procedure must be in the same segments, or the build fails", async () => {
    const files = {
      "src/a.ts": returns("old", "1") + returns("young", "2"),
      "x.segment.json": segment("./a", {
        old: { ...open, as: "a" },
        young: { ...open, as: "a", version: "2" },
      }),
    };
    const application = applicationOf(files);
    await application.build();
    application.write({
      "y.segment.json": segment("./a", { young: { ...open, as: "a", version: "2" } }),
    });
    expect(await application.problems()).toMatchObject([
      {
        message: 'version 2.0.0 of "a" is in x, y, but version 0.0.0 is in x (x.segment.json)',
        hint: "All versions of a procedure must be in the same segments.",
      },
    ]);
  });
});
