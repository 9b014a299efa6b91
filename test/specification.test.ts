// docs/specification.md has every statement with its test: none without one, and no unknown number.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import {
  document,
  problemsOf,
  specificationOf,
  testFiles,
  titlesOf,
} from "../scripts/specification.mjs";
import { root } from "./_sources.ts";
import { cases } from "./_all-calls.ts";
import { chapters } from "./spec/_sentences.ts";

const titles = titlesOf(testFiles(), chapters);

it("every statement has one test of its own, and every number in a title is a statement's", () => {
  expect(problemsOf(chapters, titles)).toEqual([]);
});

it("every call of the tables names topics or statements that exist", () => {
  const named = cases.flatMap(({ ids }) => ids);
  const topics = Object.assign({}, ...Object.values(chapters)) as Record<
    string,
    { statements: number }
  >;
  const unknown = named.filter((id) => {
    const [, topic = "", index = "1"] = /^(.*?)(?:-(\d+))?$/.exec(id) ?? [];
    return Number(index) > (topics[topic]?.statements ?? 0);
  });
  expect(unknown).toEqual([]);
});

it(`${document} is what the titles say: 'npm run specification' writes it`, () => {
  expect(readFileSync(join(root, document), "utf8")).toBe(specificationOf(chapters, titles, cases));
});

const example = {
  "A chapter": {
    things: { title: "Things", statements: 2 },
    "other-things": { title: "Other things", statements: 20 },
  },
};

describe("reading titles", () => {
  const read = (...lines: string[]) =>
    titlesOf([{ path: "test/a.test.ts", text: lines.join("\n") }], example).map(({ id, words }) => [
      id,
      words,
    ]);

  it("takes the number and the words after it, without what the runner fills in", () => {
    expect(read(`  it("things-2: a thing is \\"so\\"", () => {`)).toEqual([
      ["things-2", 'a thing is "so"'],
    ]);
    expect(read("it.each([])('other-things-12: refuses: %s', () => {")).toEqual([
      ["other-things-12", "refuses"],
    ]);
    expect(read("it.each([])('things-1: it holds (at the %s)', () => {")).toEqual([
      ["things-1", "it holds"],
    ]);
    expect(read("it.each([])('things-1: `$schema` is there: $name', () => {")).toEqual([
      ["things-1", "`$schema` is there"],
    ]);
    expect(
      read(
        "describe(`things-1, other-things-2: both`, () => {",
        '  ["things-2: at the line\'s beginning",',
      ),
    ).toEqual([
      ["things-1", "both"],
      ["other-things-2", "both"],
      ["things-2", "at the line's beginning"],
    ]);
  });

  it("takes numbers in brackets as further tests, and none from comments", () => {
    expect(
      read('it("more of it (things-2, other-things-4)", () => {', "// the same (things-1)"),
    ).toEqual([
      ["things-2", undefined],
      ["other-things-4", undefined],
    ]);
  });

  it("ignores brackets with other words that end with a number", () => {
    expect(read('it("text is read as UTF-8 (utf-8)", () => {')).toEqual([]);
  });
});

const things = { "A chapter": { things: { title: "Things", statements: 2 } } };
const title = (id: string, words: string | undefined = "it is so") => ({
  id,
  words,
  path: "test/a.test.ts",
});

describe("problems are reported", () => {
  it.each([
    [
      "for a statement without a test",
      [title("things-1")],
      "things-2 has no test whose title begins with it",
    ],
    [
      "for a statement that is only named in brackets",
      [title("things-1"), { ...title("things-2"), words: undefined }],
      "things-2 has no test whose title begins with it",
    ],
    [
      "for a statement with two tests of its own",
      [title("things-1"), title("things-2"), title("things-2")],
      "things-2 begins 2 titles: test/a.test.ts, test/a.test.ts",
    ],
    [
      "for a number past the last",
      [title("things-1"), title("things-2"), title("things-3")],
      "test/a.test.ts: there is no things-3: the topic has 2 statements",
    ],
    [
      "if the runner fills something in amid a statement",
      [title("things-1"), title("things-2", "the %s is so")],
      "test/a.test.ts: move what is filled into things-2 to the end of its title",
    ],
    [
      "for an unknown topic",
      [title("things-1"), title("things-2"), title("thing-1")],
      "test/a.test.ts: thing-1 names no topic of test/spec/_sentences.ts",
    ],
  ])("%s", (_, found, problem) => {
    expect(problemsOf(things, found)).toEqual([problem]);
  });

  it("for a topic without statements", () => {
    expect(problemsOf({ "A chapter": { none: { title: "None", statements: 0 } } }, [])).toEqual([
      "none has no statements",
    ]);
  });
});

it("the document has an anchor, a sentence and its tests for each statement, and counts calls", () => {
  const calls = [{ ids: ["things-1"], ways: [{ way: "in memory", runs: 1 }] }];
  const page = specificationOf(
    things,
    [
      title("things-1", "a_b is `a|b`"),
      { ...title("things-1"), words: undefined, path: "test/b.test.ts" },
    ],
    calls,
  );
  expect(page).toContain("- **A chapter**: [Things](#things)\n");
  expect(page).toContain('<a id="things"></a>\n\n### Things\n');
  expect(page).toContain(
    '1. <a id="things-1"></a>A\\_b is `a|b`. <sub>[a](../test/a.test.ts) [b](../test/b.test.ts)</sub>\n',
  );
  expect(page).toContain(
    "| topic | in memory |\n|---|--:|\n| [Things](#things) | 1 |\n| all | 1 |\n",
  );
});
