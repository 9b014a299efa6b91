import { describe, expect, it } from "vitest";

import { parseSegment } from "../../src/runtime/segment.ts";

const parse = (json: unknown) => parseSegment(JSON.stringify(json), "segments/shop.segment.json");
const entry = (fields: unknown) => parse({ "./shop/quote": { quote: fields } });

describe("parsing a segment file", () => {
  it("reads entries with their defaults", () => {
    const segment = parse({
      $schema: "./segment.schema.json",
      "./shop/quote.js": {
        quote: { access: "public" },
        default: { access: "private", version: "2.1", as: "offer", safe: true, idempotent: true },
        checked: { access: "public", validate: false, extra: "refuse" },
        rows: { access: "public", resume: true },
      },
    });
    expect(segment.problems).toEqual([]);
    expect(segment.name).toBe("shop");
    expect(segment.entries).toMatchObject([
      {
        line: 1,
        column: 55,
        module: "./shop/quote.js",
        export: "quote",
        access: "public",
        version: "0.0.0",
        path: '$["./shop/quote.js"].quote',
      },
      {
        module: "./shop/quote.js",
        export: "default",
        access: "private",
        version: "2.1.0",
        as: "offer",
        safe: true,
        idempotent: true,
        path: '$["./shop/quote.js"].default',
      },
      { export: "checked", validate: false, extra: "refuse" },
      { export: "rows", resume: true, idempotent: true },
    ]);
  });

  it.each([
    [
      "an unknown field",
      { access: "public", versoin: "1" },
      ".versoin",
      /unknown field "versoin"/,
      'Did you mean "version"?',
    ],
    ["a missing access", {}, ".access", /access is missing/, /public/],
    [
      "a wrong access",
      { access: "pubic" },
      ".access",
      /"public", "protected", "private", found "pubic"/,
      'Did you mean "public"?',
    ],
    ["an access of another type", { access: true }, ".access", /found true/, undefined],
    [
      "a bad version",
      { access: "public", version: "1.x" },
      ".version",
      "Invalid version number '1.x'",
      /one to three numbers/,
    ],
    [
      "a version that is a number",
      { access: "public", version: 2 },
      ".version",
      "Invalid version number '2': expected text",
      /^Write "version": "2"\. A version is text/,
    ],
    [
      "an empty version",
      { access: "public", version: "" },
      ".version",
      "Invalid version number ''",
      /text/,
    ],
    [
      "a name with a slash",
      { access: "public", as: "a/b" },
      ".as",
      /without slashes/,
      /^Write "as": "b"\./,
    ],
    ["a name that is no text", { access: "public", as: 1 }, ".as", /found 1/, /"as": "quote"/],
    [
      "a flag that is no boolean",
      { access: "public", safe: "yes" },
      ".safe",
      /true or false, found "yes"/,
      undefined,
    ],
    [
      "a check that is no boolean",
      { access: "public", validate: "no" },
      ".validate",
      /true or false, found "no"/,
      undefined,
    ],
    [
      "an unknown word for unknown members",
      { access: "public", extra: "strip" },
      ".extra",
      /"drop", "keep", "refuse", found "strip"/,
      /don't arrive/,
    ],
    [
      "an entry that is no object",
      "public",
      "",
      /an object with "access", found "public"/,
      /access/,
    ],
  ])("refuses %s", (_, fields, field, message, hint) => {
    const { problems } = entry(fields);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({
      file: "segments/shop.segment.json",
      path: `$["./shop/quote"].quote${field}`,
    });
    expect(problems[0]?.message).toMatch(message);
    if (hint === undefined) expect(problems[0]?.hint).toBeUndefined();
    else expect(problems[0]?.hint).toMatch(hint);
  });

  it.each(["shop/quote", "/shop/quote", "./../quote", ".\\shop\\quote"])(
    "refuses the module path %s",
    (module) => {
      const { problems, entries } = parse({ [module]: { quote: { access: "public" } } });
      expect(problems).toHaveLength(1);
      expect(problems[0]?.message).toMatch(/expected a module path/);
      expect(problems[0]?.hint).toMatch(/"\.\/(shop\/)?quote"/);
      expect(entries).toEqual([]);
    },
  );

  it("takes a byte order mark", () => {
    expect(
      parseSegment('\uFEFF{ "./a": { "b": { "access": "public" } } }', "a.segment.json"),
    ).toMatchObject({
      problems: [],
      entries: [{ export: "b" }],
    });
  });

  it("reports the position of invalid JSON", () => {
    const { problems } = parseSegment('{\n  "./a": {,}\n}', "a.segment.json");
    expect(problems).toMatchObject([{ file: "a.segment.json", line: 2, column: 11 }]);
  });

  it.each([[[]], ["text"], [null]])("refuses a file whose content is %j", (json) => {
    expect(parse(json).problems).toMatchObject([{ path: "$" }]);
  });

  it("reports all mistakes at once, and keeps valid entries", () => {
    const { problems, entries } = parse({
      "./a": {
        one: { access: "public" },
        two: { access: "no" },
        three: { access: "public", version: "x", more: 1 },
      },
      "./b": [],
    });
    expect(problems.map((one) => one.path)).toEqual([
      '$["./a"].two.access',
      '$["./a"].three.more',
      '$["./a"].three.version',
      '$["./b"]',
    ]);
    expect(entries.map((one) => one.export)).toEqual(["one"]);
  });
});
