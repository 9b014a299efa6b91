// docs/specification.md leads from every statement of the specification to its test: no statement without one, no number that isn't there.

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
import { cases } from "./_ways.ts";
import { sentences } from "./spec/_sentences.ts";

const titles = titlesOf(testFiles());

it("every statement has one test of its own, and every number in a title is a statement's", () => {
  expect(problemsOf(sentences, titles)).toEqual([]);
});

it(`${document} is what the titles say: 'npm run specification' writes it`, () => {
  expect(readFileSync(join(root, document), "utf8")).toBe(
    specificationOf(sentences, titles, cases),
  );
});

describe("reading titles", () => {
  const read = (...lines: string[]) =>
    titlesOf([{ path: "test/a.test.ts", text: lines.join("\n") }]).map(({ id, words }) => [
      id,
      words,
    ]);

  it("takes the id at the beginning with the words behind it, without what the runner fills in", () => {
    expect(read(`  it("§0.1-3 a thing is \\"so\\"", () => {`)).toEqual([
      ["§0.1-3", 'a thing is "so"'],
    ]);
    expect(read("it.each([])('D0.cross-site-12 refuses: %s', () => {")).toEqual([
      ["D0.cross-site-12", "refuses"],
    ]);
    expect(read("it.each([])('D0-7 it holds (at the %s)', () => {")).toEqual([
      ["D0-7", "it holds"],
    ]);
    expect(read("it.each([])('D0-8 `$schema` is there: $name', () => {")).toEqual([
      ["D0-8", "`$schema` is there"],
    ]);
    expect(
      read("describe(`D0-1, §0-2 both`, () => {", '  ["§0.1-1 at the line\'s beginning",'),
    ).toEqual([
      ["D0-1", "both"],
      ["§0-2", "both"],
      ["§0.1-1", "at the line's beginning"],
    ]);
  });

  it("takes ids in brackets as further tests, and none from comments", () => {
    expect(read('it("more of it (§0.1-3, D0-4)", () => {', "// the same (§0.1-5)")).toEqual([
      ["§0.1-3", undefined],
      ["D0-4", undefined],
    ]);
  });
});

describe("what is told", () => {
  const two = { "§0.1": { title: "Things", statements: 2 } };
  const title = (id: string, words: string | undefined = "it is so") => ({
    id,
    words,
    path: "test/a.test.ts",
  });

  it.each([
    [
      "a statement without a test",
      [title("§0.1-1")],
      "§0.1-2 has no test whose title begins with it",
    ],
    [
      "one that is only named",
      [title("§0.1-1"), { ...title("§0.1-2"), words: undefined }],
      "§0.1-2 has no test whose title begins with it",
    ],
    [
      "one with two",
      [title("§0.1-1"), title("§0.1-2"), title("§0.1-2")],
      "§0.1-2 begins 2 titles: test/a.test.ts, test/a.test.ts",
    ],
    [
      "a number that is none",
      [title("§0.1-1"), title("§0.1-2"), title("§0.1-3")],
      "test/a.test.ts: §0.1-3 is not there: the part has 2 statements",
    ],
    [
      "what the runner fills in amid a statement",
      [title("§0.1-1"), title("§0.1-2", "the %s is so")],
      "test/a.test.ts: what is filled into §0.1-2 belongs to the end of its title",
    ],
    [
      "a part that is none",
      [title("§0.1-1"), title("§0.1-2"), title("§0.2-1")],
      "test/a.test.ts: §0.2-1 names no part of test/spec/_sentences.ts",
    ],
  ])("%s", (_, given, problem) => {
    expect(problemsOf(two, given)).toEqual([problem]);
  });

  it("a part of which nothing is said", () => {
    expect(problemsOf({ D0: { title: "Others", statements: 0 } }, [])).toEqual([
      "D0 has no statements",
    ]);
  });

  it("the page: a table for each part, the words of the title, its file, how many more, how many calls", () => {
    const calls = [{ ids: ["§0.1-1"], ways: [{ way: "in memory", runs: 1 }] }];
    const page = specificationOf(
      two,
      [title("§0.1-1", "a_b is `a|b`"), { ...title("§0.1-1"), words: undefined }],
      calls,
    );
    expect(page).toContain("## §0.1 Things\n\n| number | statement | tests |\n");
    expect(page).toContain(
      "| §0.1-1 | a\\_b is `a\\|b` | [a](../test/a.test.ts); 1 more in [a](../test/a.test.ts); 1 call |",
    );
    expect(page).toContain("| part | in memory |\n|---|--:|\n| §0.1 | 1 |\n| all | 1 |\n");
    expect(page).toContain("\n[§0.1 Things](#01-things)\n");
  });
});
