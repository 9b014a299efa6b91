import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { readJson } from "../../src/base/json.ts";

/** `line:column message → hint` of what makes the text no JSON. */
function broken(text: string): string {
  const read = readJson(text, "a.json");
  if (!("broken" in read)) throw new Error("it is JSON");
  const { line, column, message, hint } = read.broken;
  return `${line}:${column} ${message.replace("this is not JSON: ", "")}${hint === undefined ? "" : ` → ${hint}`}`;
}

function whole(text: string) {
  const read = readJson(text, "a.json");
  if ("broken" in read) throw new Error(read.broken.message);
  return read;
}

describe("reading invalid JSON", () => {
  it.each([
    ["", "1:1 expected a value, found the end of the text"],
    [
      '{\n  "a": 1, // one\n}',
      "2:11 expected a key, found // → JSON has no comments: take it out.",
    ],
    ['/* a */ {"a": 1}', "1:1 expected a value, found /* → JSON has no comments: take it out."],
    ['{\n  "a": 1,\n}', "3:1 expected a key, found } → Take out the comma before it."],
    ["[1, ]", "1:5 expected a value, found ] → Take out the comma before it."],
    [
      "{ mode: 1 }",
      "1:3 expected a key or '}', found mode → Keys and texts stand in double quotes.",
    ],
    [
      "{'a': 1}",
      "1:2 expected a key or '}', found 'a': 1} → Keys and texts stand in double quotes.",
    ],
    [
      '{ "a": 1\n  "b": 2 }',
      "2:3 expected ',' or '}', found \"b\": 2 } → Put a comma between the two.",
    ],
    ['{ "a" 1 }', "1:7 expected ':', found 1"],
    ["[1", "1:3 expected ',' or ']', found the end of the text"],
    ["{} {}", "1:4 expected nothing more, found {"],
    ["[1}", "1:3 expected ',' or ']', found }"],
    ['["a\nb"]', "1:2 expected a value or ']', found \"a"],
    ["01", "1:1 expected a value, found 01"],
  ])("%j", (text, expected) => {
    expect(broken(text)).toBe(expected);
  });

  it("refuses exactly what JSON.parse refuses", () => {
    const parses = (text: string): boolean => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    const pieces = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"a"',
      '"\\u00e9"',
      "1",
      "-0.5e3",
      "1.",
      "tru",
      "true",
      "null",
      " ",
      "\n",
      '"',
    );
    const text = fc.oneof(
      fc.array(pieces, { maxLength: 9 }).map((all) => all.join("")),
      fc.json(),
      fc.string(),
    );
    fc.assert(
      fc.property(text, (one) => {
        const read = readJson(one, "a.json");
        expect("broken" in read).toBe(!parses(one.replace(/^\uFEFF/, "")));
        if (!("broken" in read)) expect(read.value).toEqual(JSON.parse(one.replace(/^\uFEFF/, "")));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("positions in a JSON file", () => {
  it("are reported for keys and items", () => {
    const read = whole('\uFEFF{\n  "a": { "b": [10, {}] },\n  "c.d": 1 }');
    expect(read.placeOf(["a"])).toEqual({ line: 2, column: 3 });
    expect(read.placeOf(["a", "b"])).toEqual({ line: 2, column: 10 });
    expect(read.placeOf(["a", "b", 1])).toEqual({ line: 2, column: 20 });
    expect(read.placeOf(["c.d"])).toEqual({ line: 3, column: 3 });
    expect(read.placeOf(["c", "d"])).toBeUndefined();
  });
});

describe("duplicate keys in a JSON file", () => {
  it("are reported with both lines, also if they are escaped differently", () => {
    const { problems } = whole('{ "a": 1,\n  "b": { "x": 1, "x": 2 },\n  "\\u0061": 3 }');
    expect(problems).toMatchObject([
      {
        file: "a.json",
        line: 2,
        column: 18,
        message: 'the key "x" is there twice, first in line 2',
      },
      {
        file: "a.json",
        line: 3,
        column: 3,
        message: 'the key "a" is there twice, first in line 1',
      },
    ]);
  });

  it("are allowed in different objects, and may be names of inherited members", () => {
    expect(whole('[{ "a": 1 }, { "a": 1, "__proto__": 2, "toString": 3 }]').problems).toEqual([]);
  });
});

it("readJson reads a million levels without recursion", () => {
  expect(whole(`${"[".repeat(1e6)}${"]".repeat(1e6)}`).problems).toEqual([]);
});
