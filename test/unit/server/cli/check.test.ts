import { describe, expect, it } from "vitest";

import type { CheckReport } from "../../../../server/cli/check.ts";
import { run } from "../../../../server/cli/program.ts";
import { type Files, type Fixture, createFixture, shop } from "../../../build/_fixture.ts";

async function check(
  app: Fixture,
  words: readonly string[] = [],
  more: { env?: Record<string, string>; isTTY?: boolean } = {},
) {
  let [out, err] = ["", ""];
  const { env = {}, isTTY = false } = more;
  const code = await run(["check", "--root", app.root, ...words], {
    stdout: { isTTY, write: (text) => (out += text) },
    stderr: { isTTY, write: (text) => (err += text) },
    env,
  });
  return { code, out, err };
}

const wrong: Files = {
  "shop.segment.json": '{ "./shop/qoute": { "quote": { "access": "public" } } }',
  "node.json": '{ "mode": "node", "url": "x" }',
};
const doubtful: Files = {
  "src/a.ts": "export async function all(version: string): Promise<void> {}\n",
  "a.segment.json": '{ "./a": { "all": { "access": "public" } } }',
};

describe("seamline check", () => {
  it("exits with 0 and prints one line if there is no problem", async () => {
    expect(await check(createFixture(shop))).toEqual({
      code: 0,
      out: "nothing wrong in 3 procedures, 5 modules, 2 segment files and 0 configurations\n",
      err: "",
    });
  });

  it("exits with 1 and prints every problem with its location and a hint", async () => {
    const { code, out, err } = await check(createFixture({ ...shop, ...wrong }));
    expect([code, err]).toEqual([1, ""]);
    expect(out).toMatch(/^error: node\.json:1:\d+ at url: /m);
    expect(out).toContain(
      `error: shop.segment.json:1:21 at $["./shop/qoute"].quote: expected a module of the source folder, but "./shop/qoute" isn't one\n  → Did you mean "./shop/quote"?\n`,
    );
    expect(out).toMatch(
      /\n4 problems, 0 warnings in 1 procedure, 5 modules, 2 segment files and 1 configuration\n$/,
    );
  });

  it.each([
    { mode: "gateway", url: "http://127.0.0.1:3000", guards: "required" },
    { mode: "standalone", url: "http://127.0.0.1:3000", guards: "required" },
  ])("looks for guards if the configuration of any service wants them: $mode", async (config) => {
    const files = { ...shop, "service.json": JSON.stringify(config) };
    const { code, out } = await check(createFixture(files));
    expect([code, out]).toEqual([1, expect.stringContaining("is public and has no guard")]);
  });

  it("names the module that now has the export of a renamed file", async () => {
    const quote = "export async function quote(): Promise<void> {}\n";
    const { out } = await check(
      createFixture({
        "shop.segment.json": '{"./shop/quote":{"quote":{"access":"public"}}}',
        "src/prices/catalogue.ts": quote,
      }),
    );
    expect(out).toContain(
      `"./shop/quote" isn't one\n  → "./prices/catalogue" exports "quote": if the file was renamed, name it here.\n`,
    );
  });

  it.each([
    [[], 0],
    [["--max-warnings", "1"], 0],
    [["--max-warnings", "0"], 1],
  ])("exits after warnings with %j with %i", async (words, expected) => {
    const { code, out } = await check(createFixture({ ...shop, ...doubtful }), words);
    expect(code).toBe(expected);
    expect(out).toMatch(/^warning: src\/a\.ts:1:8: "all" has a parameter "version"/);
    expect(out).toContain("0 problems, 1 warning in");
    expect(out.includes("--max-warnings allows 0")).toBe(expected === 1);
  });

  it("finds types that can't be resolved without a build, and counts procedures with unchecked arguments", async () => {
    const types = (type: string): Files => ({
      ...shop,
      "src/shop/note.ts": `export async function note(text: ${type}): Promise<void> {}\n`,
      "more.segment.json": '{ "./shop/note": { "note": { "access": "public" } } }',
    });
    const unresolved = await check(createFixture(types("Missing")));
    expect(unresolved.code).toBe(1);
    expect(unresolved.out).toContain(
      "src/shop/note.ts:1:1: note: text: its type can't be resolved",
    );
    const any = await check(createFixture(types("any")));
    expect(any.code).toBe(0);
    expect(any.out).toContain(
      "\n1 procedure with arguments that aren't checked: seamline inspect lists them\n",
    );
    expect((await check(createFixture(shop))).out).not.toContain("aren't checked");
  });

  it("only prints a report with --json", async () => {
    const { code, out, err } = await check(createFixture({ ...shop, ...doubtful, ...wrong }), [
      "--json",
    ]);
    expect([code, err]).toEqual([1, ""]);
    const report = JSON.parse(out) as CheckReport;
    expect(report).toMatchObject({
      ok: false,
      warnings: [{ file: "src/a.ts", line: 1, column: 8 }],
      checked: {
        modules: 6,
        procedures: 2,
        routes: 0,
        segments: ["a.segment.json", "shop.segment.json", "src/ui/ui.segment.json"],
        configurations: ["node.json"],
      },
      ms: expect.any(Number),
    });
    expect(report.problems.map(({ file }) => file)).toEqual([
      "node.json",
      "node.json",
      "node.json",
      "shop.segment.json",
    ]);
  });

  it("checks the configuration of --config or SEAMLINE_CONFIG", async () => {
    const app = createFixture({ ...shop, "deploy/eu/node.json": "{" });
    expect((await check(app)).code).toBe(0);
    expect((await check(app, ["--config", "deploy/eu/node.json"])).out).toMatch(
      /^error: deploy\/eu\/node\.json:1:2/,
    );
    expect((await check(app, [], { env: { SEAMLINE_CONFIG: "deploy/eu/node.json" } })).code).toBe(
      1,
    );
    expect((await check(app, ["--config", "gone.json"])).out).toMatch(
      /^error: gone\.json: there is no such file/,
    );
    expect((await check(app, ["--config", "deploy"])).out).toMatch(
      /^error: deploy: it can't be read \(EISDIR\)\n {2}→ Name the configuration/,
    );
  });

  it("has colours at a terminal, and clears its progress", async () => {
    const { out, err } = await check(createFixture({ ...shop, ...wrong }), [], { isTTY: true });
    expect(out).toContain("\u001b[31merror:\u001b[39m ");
    expect(["", "checking …\r\u001b[2K"]).toContain(err);
  });

  it.each([
    [["--max-warnings", "few"], "Expected a number."],
    [["extra"], "too many arguments"],
  ])("exits with 2 for %j", async (words, message) => {
    const { code, err } = await check(createFixture(shop), words);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });
});
