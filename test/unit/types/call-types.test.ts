// The names for which a call gives values.

import { describe, expect, it } from "vitest";
import { callerNames, describeCall } from "../../../server/types/call-types.ts";
import { read } from "./_read.ts";

function modelOf(...signatures: string[]) {
  const implementation = signatures.pop();
  const { model } = read(
    {
      "src/a.ts": [
        "interface Period { from: Date; to?: Date }",
        "interface Unused { unused: string }",
        "interface Tree { leaves: Tree[]; period: Period }",
        ...signatures.map((each) => `export async function f${each};`),
        `export async function f${implementation} {}`,
      ].join("\n"),
    },
    ["src/a.ts#f"],
  );
  return model;
}

const namesOf = (...signatures: string[]) =>
  callerNames(modelOf(...signatures).functions["f"] ?? []);

describe("the names of a call", () => {
  it("are those of parameters, and those in patterns, whose types say what may be left out", () => {
    const text = { kind: "string" };
    expect(
      namesOf("({ from, to }: Period, [a, , b = 1]: [string, null, number?], c?: boolean)"),
    ).toEqual([
      { name: "from", type: { kind: "date" } },
      { name: "to", type: { kind: "date" }, optional: true },
      { name: "a", type: text },
      { name: "b", type: { kind: "number" }, optional: true },
      { name: "c", type: { kind: "boolean" }, optional: true },
    ]);
    expect(namesOf("({ a }: { a: string } = { a: '' })")).toEqual([
      { name: "a", type: text, optional: true },
    ]);
  });

  it("have the types that other modules export, through any number of them", () => {
    const { model } = read(
      {
        "src/orders.ts": [
          'import { type Colour as Tint, Size, type Metres } from "./types.ts";',
          'import * as all from "./types.ts";',
          "type Level = 1 | -2.5;",
          'export async function order(colour: Tint | "any", size: Size | null, metres: Metres, { state }: { state?: Tint }, [level]: [Level], member: all.Colour, listed: Tint[]) {}',
        ].join("\n"),
        "src/types.ts": [
          'import type { Metres as Length } from "./units.ts";',
          "export type { Length as Metres };",
          'export * from "./colours.ts";',
          'export enum Size { Small = "S", Large = "L" }',
        ].join("\n"),
        "src/colours.ts": 'type Warm = "red"; export type Colour = Warm | "blue";',
        "src/units.ts": "export type Metres = number;",
      },
      ["src/orders.ts#order"],
    );
    const oneOf = (...values: (string | number)[]) => ({ kind: "literals", values });
    const colours = oneOf("blue", "red");
    expect(callerNames(model.functions["order"] ?? [])).toEqual([
      { name: "colour", type: oneOf("any", "blue", "red") },
      { name: "size", type: { kind: "union", arms: [oneOf("L", "S"), { kind: "null" }] } },
      { name: "metres", type: { kind: "number" } },
      { name: "state", type: colours, optional: true },
      { name: "level", type: oneOf(-2.5, 1) },
      { name: "member", type: colours },
      { name: "listed", type: { kind: "array", items: colours } },
    ]);
  });

  it("have the types of all overloads, and are optional unless each of them has them", () => {
    expect(namesOf("(a: string, b: Date)", "(a: number)", "(a: unknown, b?: unknown)")).toEqual([
      { name: "a", type: { kind: "union", arms: [{ kind: "string" }, { kind: "number" }] } },
      {
        name: "b",
        type: { kind: "union", arms: [{ kind: "date" }, { kind: "undefined" }] },
        optional: true,
      },
    ]);
    expect(namesOf("(a: string)", "(a: string, ...b: string[])", "(a: string)")).toEqual([
      { name: "a", type: { kind: "string" } },
      { name: "...b", type: { kind: "array", items: { kind: "string" } }, rest: true },
    ]);
  });

  it("come with the definitions that their types reach, and with no others", () => {
    const { definitions } = describeCall(modelOf("(tree: Tree)"), "f");
    expect(Object.keys(definitions).toSorted()).toEqual(["Period", "Tree"]);
  });
});
