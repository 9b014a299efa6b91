import { describe, expect, it } from "vitest";

import { futureSyntaxHint } from "../../../src/split/describe/future-syntax.ts";
import { readModule } from "../../../src/split/read/read-module.ts";
import { parse } from "./_harness.ts";

/** The source of each decorator and `accessor` field. */
function found(source: string): string[] {
  const { module } = readModule({ file: "page.ts", source, parse });
  return (module?.futureSyntax ?? []).map(({ start, end }) => source.slice(start, end));
}

describe("decorators and accessor fields of a module", () => {
  it.each<[string, string, string[]]>([
    ["a decorated class", "@table class A {}", ["@table"]],
    [
      "members and parameters, in their order",
      "class A { @column() a = 1; m(@inject b) {} @last c; }",
      ["@column()", "@inject", "@last"],
    ],
    ["an accessor field", "class A { accessor a = 1; b = 2 }", ["accessor a = 1;"]],
    ["a decorator of an expression", "@(make()) class A {}", ["@(make())"]],
    [
      "nothing in a declaration of types",
      "declare class A { @table a: string; accessor b: number }",
      [],
    ],
    ["none for an abstract accessor", "abstract class A { abstract accessor a: number; }", []],
    ["none if only a comment has the characters", "// @table\nclass A {} /* accessor */", []],
    ["none if only a string has them", 'const a = "@table", accessor = 1;', []],
    ["code beside a comment that has them", "// @one\n@two class A {}", ["@two"]],
  ])("are found: %s", (_, source, expected) => {
    expect(found(source)).toEqual(expected);
  });

  it.each([
    ["@table class A {}", true],
    ["class A { accessor a = 1 }", true],
    ["@(make()) class A {}", true],
    ["const a = 1; // me @ home", false],
    ["const accessors = 1, myaccessor = 2;", false],
  ])("make it necessary to parse  %s: %s", (source, expected) => {
    expect(futureSyntaxHint.test(source)).toBe(expected);
  });
});
