// What the console's form asks for, and that only servers know it.

import { describe, expect, it } from "vitest";
import type { FormHint } from "../../../src/base/manifest.ts";
import { withoutForms } from "../../../src/split/procedures/form-hint.ts";
import { describe as describeSource, split } from "./_harness.ts";

const declared = `
  type Colour = "red" | "green"; type Shade = Colour | "dark red"; type Level = 1 | -2.5;
  enum Size { Small = "S", Large = "L" } enum Step { One = 1, Two } enum Odd { A = now() }
  type Loop = Loop | "end"; interface Period { from: Date; level?: Level } type Pair = [string, number];
`;

function formOf(parameter: string): FormHint | undefined {
  const [found] = describeSource(`${declared} export async function f(${parameter}) {}`).exports;
  const [first] = found?.parameters ?? [];
  return first?.kind === "plain" ? first.form : undefined;
}

describe("the form of a parameter", () => {
  it.each<[parameter: string, form: FormHint | undefined]>([
    ["a: string", "string"],
    ["a?: string | null", "string"],
    ["a: `${number} m`", "string"],
    ["a: Colour", ["red", "green"]],
    ["a: Shade | null", ["red", "green", "dark red", null]],
    ["a: Level", [1, -2.5]],
    ['a: boolean | "auto"', [true, false, "auto"]],
    ['a: "one"', ["one"]],
    ['a: "" | undefined', [""]],
    ["a: Loop", ["end"]],
    ["a: Size | null", ["S", "L", null]],
    ["a: Step", [1, 2]],
    ["a: Odd", undefined],
    ["a: Period", "object"],
    ["a: { deep: Period }", "object"],
    ["a: Readonly<Period>", undefined],
    ["a: Record<string, number>", "object"],
    ["a: Pair", "list"],
    ["a: readonly Period[]", "list"],
    ["a: Array<Period>", "list"],
    ['a = "tweed"', "string"],
    ["a = []", "list"],
    ["a = {}", "object"],
    ["a = now()", undefined],
    ["a", undefined],
    ["a: unknown", undefined],
    ["a: Money", undefined],
    ["a: string | number", undefined],
    ["a: 1n | 2n", undefined],
    ["a: null", undefined],
    // Its type says it.
    ["a: number", undefined],
    ["a: Date[]", undefined],
    ["a = -3", undefined],
    ["a = true", undefined],
    [`a: ${Array.from({ length: 51 }, (_, at) => `"${at}"`).join(" | ")}`, undefined],
    [`a: "${"x".repeat(101)}" | "y"`, undefined],
  ])("%s: %j", (parameter, form) => {
    expect(formOf(parameter)).toEqual(form);
  });

  it("is known of names in patterns", () => {
    const source = `${declared} export async function f({ from, colour = "red" }: { from?: Pair; colour?: Colour }, [level]: [Level]) {}`;
    expect(describeSource(source).exports[0]?.parameters).toEqual([
      {
        kind: "object",
        names: [
          { name: "from", optional: true, form: "list" },
          { name: "colour", optional: true, form: ["red", "green"] },
        ],
      },
      { kind: "array", names: [{ name: "level", form: [1, -2.5] }] },
    ]);
  });

  it("isn't in a face, nor in what browsers get", () => {
    const source = `${declared} export async function f(a: Colour, { b }: { b: Colour }, [c]: [Colour]) {}`;
    const parameters = describeSource(source).exports[0]?.parameters ?? [];
    expect(JSON.stringify(parameters).match(/"green"/g)).toHaveLength(3);
    expect(withoutForms(parameters)).toEqual([
      { kind: "plain", name: "a" },
      { kind: "object", names: [{ name: "b" }] },
      { kind: "array", names: [{ name: "c" }] },
    ]);
    const face = split(source, { procedures: ["f"] }).face.code;
    expect(face).toContain('"name":"a"');
    expect(face).not.toMatch(/form|green/);
  });
});
