// The checks against the compiler: is the literal type of a value assignable to the type?

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Type, TypeModel } from "../../../server/types/model.ts";
import { ts } from "../../_sources.ts";
import { checksOf } from "./_check.ts";
import { folderOf } from "./_read.ts";

const declarations = `
export interface Line { sku: string; metres: number; note?: string }
interface Tree { value: string; children: Tree[] }
type Shape = { kind: "circle"; radius: number } | { kind: "square"; side: number };
type Loose = { a: string; x?: number } | { b: number; y?: number };
type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
enum Level { low, high = 10 }
`;

const types = [
  "string",
  "number",
  "boolean | null",
  "bigint | undefined",
  '"a" | "b" | 1 | true | 2n',
  "`a-${number}`",
  "`${string}-${string}b`",
  "`${bigint}${string}`",
  "Uppercase<string>",
  "Capitalize<string>",
  "string[]",
  "[string, number?]",
  "[string, ...number[], boolean]",
  "Line",
  "Partial<Line>",
  "Pick<Line, 'sku'>[]",
  "Line & { width: number }",
  "{ a: string | undefined; b?: { c: null } }",
  "Record<string, number>",
  "{ [id: number]: string }",
  "{ [key: `x-${string}`]: string }",
  "Shape",
  "Shape | string | Shape[]",
  "Loose",
  "Tree",
  "Json",
  "Date | string",
  "Map<string, number>",
  "Set<string | number>",
  "Uint8Array | Date",
  "object",
  "{}",
  "unknown",
  "never",
];

const { model, check } = checksOf(declarations, types);

/** Cases where a check differs from the compiler, each with its reason. */
const differences: readonly [reason: string, (type: string, value: unknown) => boolean][] = [
  [
    "a text or list has a number index, which the compiler takes for that of an object",
    (type, value) =>
      type === "{ [id: number]: string }" && (typeof value === "string" || Array.isArray(value)),
  ],
  [
    "an object without a common member is refused by the compiler only (weak types)",
    (type) => type === "Partial<Line>",
  ],
  [
    "a member that is absent is `undefined`, as messages leave out such members",
    (type, value) => type.includes("a: string | undefined") && holds(value, isObject),
  ],
  [
    "white space is no number in a template",
    (type, value) => type.includes("${number}") && typeof value === "string" && /\s/.test(value),
  ],
];

function holds(value: unknown, test: (value: unknown) => boolean): boolean {
  return (
    test(value) ||
    (isObject(value) && Object.values(value as object).some((item) => holds(item, test)))
  );
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

const text = fc.oneof(
  fc.constantFrom(
    "",
    "a",
    "b",
    "a-1",
    "a--1.5e3",
    "a-0x10",
    "a-b-b",
    "1",
    "-12a",
    "AB",
    "Ab",
    "a- 1",
  ),
  fc.string({ maxLength: 6 }),
);
const anything = fc.oneof(
  text,
  fc.constantFrom(0, 1, 10, -1.5, 2n, 5n, true, false, null, undefined),
  fc.constantFrom(
    new Date(0),
    new Uint8Array(1),
    new Map<unknown, unknown>([["a", 1]]),
    new Set<unknown>(["a"]),
  ),
  fc.constantFrom([], {}, ["a"], ["a", 1], { sku: "a", metres: 1 }, { a: "b" }, { "x-1": "a" }),
);

/** Values of a type, and in some places others. */
function valuesOf(type: Type, { definitions }: TypeModel, depth = 0): fc.Arbitrary<unknown> {
  const of = (part: Type): fc.Arbitrary<unknown> =>
    fc.oneof(
      {
        weight: 12,
        arbitrary: fc
          .constant(null)
          .chain(() => valuesOf(part, { definitions } as TypeModel, depth + 1)),
      },
      { weight: 1, arbitrary: anything },
    );
  if (depth > 4) return anything;
  switch (type.kind) {
    case "string":
    case "template":
      return text;
    case "number":
      return fc.oneof(fc.integer({ min: -3, max: 11 }), fc.constantFrom(0.5, -0.25, 1e21));
    case "boolean":
      return fc.boolean();
    case "bigint":
      return fc.bigInt({ min: -3n, max: 3n });
    case "null":
      return fc.constant(null);
    case "undefined":
      return fc.constant(undefined);
    case "literals":
      return fc.constantFrom(
        ...type.values.map((value) => (typeof value === "object" ? BigInt(value.bigint) : value)),
      );
    case "array":
      return fc.array(of(type.items), { maxLength: 3 });
    case "tuple": {
      const { first, rest, last = [] } = type;
      const middle = rest === undefined ? fc.constant([]) : fc.array(of(rest), { maxLength: 2 });
      return fc
        .tuple(
          fc.integer({ min: 0, max: first.length }),
          fc.tuple(...first.map((item) => of(item.type))),
          middle,
          fc.tuple(...last.map(of)),
        )
        .map(([cut, head, between, tail]) =>
          rest === undefined ? head.slice(0, cut + 1) : [...head, ...between, ...tail],
        );
    }
    case "object": {
      const members = Object.fromEntries(
        Object.entries(type.members).map(([name, member]) => [name, of(member.type)]),
      );
      const keys = Object.keys(members);
      const index = fc.dictionary(
        fc.constantFrom("a", "1", "x-1", "-1", "note"),
        type.index === undefined
          ? anything
          : fc.oneof(...type.index.map(({ values }) => of(values))),
        { maxKeys: 2, noNullPrototype: true },
      );
      return fc
        .tuple(
          fc.record(members, { noNullPrototype: true }),
          index,
          fc.subarray(keys, { minLength: Math.max(0, keys.length - 1) }),
          fc.boolean(),
        )
        .map(([own, more, present, isWhole]) => ({
          ...more,
          ...Object.fromEntries(
            Object.entries(own).filter(([name]) => isWhole || present.includes(name)),
          ),
        }));
    }
    case "map":
      return fc
        .array(fc.tuple(of(type.keys), of(type.values)), { maxLength: 2 })
        .map((entries) => new Map(entries));
    case "set":
      return fc.array(of(type.items), { maxLength: 2 }).map((items) => new Set(items));
    case "union":
      return fc.oneof(...type.arms.map(of));
    case "ref":
      return valuesOf(definitions[type.to]!, { definitions } as TypeModel, depth);
    default:
      return anything;
  }
}

/** The narrowest type of a value. */
function literalType(value: unknown): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0) ? `(${value})` : "number";
    case "bigint":
      return `(${value}n)`;
    case "boolean":
    case "undefined":
      return String(value);
    default:
  }
  if (value === null) return "null";
  if (Array.isArray(value)) return `[${value.map(literalType).join(", ")}]`;
  const union = (items: unknown[]): string => items.map(literalType).join(" | ") || "never";
  if (value instanceof Map)
    return `Map<${union([...value.keys()])}, ${union([...value.values()])}>`;
  if (value instanceof Set) return `Set<${union([...value])}>`;
  if (value instanceof Date) return "Date";
  if (value instanceof Uint8Array) return "Uint8Array";
  const members = Object.entries(value as object).map(
    ([name, item]) => `${JSON.stringify(name)}: ${literalType(item)}`,
  );
  return `{ ${members.join("; ")} }`;
}

/** The compiler's verdict on values: for each type, whether each of its values is assignable. */
function compilerSays(values: readonly (readonly unknown[])[]): boolean[][] {
  const lines = types.flatMap((type, index) => [
    `export type T${index} = ${type};`,
    ...values[index]!.map((value, at) => `export type V${index}_${at} = ${literalType(value)};`),
  ]);
  const { folder, remove } = folderOf({ "src/values.ts": `${declarations}\n${lines.join("\n")}` });
  try {
    const file = `${folder}/src/values.ts`;
    const program = ts.createProgram([file], { strict: true, lib: ["lib.es2023.d.ts"], types: [] });
    const checker = program.getTypeChecker();
    const aliases = new Map(
      program
        .getSourceFile(file)!
        .statements.filter((statement) => ts.isTypeAliasDeclaration(statement))
        .map((alias) => [alias.name.text, checker.getTypeFromTypeNode(alias.type)]),
    );
    return values.map((own, index) =>
      own.map((_, at) =>
        checker.isTypeAssignableTo(aliases.get(`V${index}_${at}`)!, aliases.get(`T${index}`)!),
      ),
    );
  } finally {
    remove();
  }
}

describe("checks", () => {
  it("agree with the compiler on values that are generated from each type, but for a list of differences", () => {
    const numRuns = Number(process.env["SEAMLINE_AGREEMENT"] ?? 60);
    const values = types.map((_, index) => {
      const parameter = model.functions[`f${index}`]![0]!.parameters[0]!;
      const type = parameter.kind === "plain" ? parameter.type : fc.sample(anything, 1);
      const own = valuesOf(type as Type, model);
      const mixed = fc.oneof({ weight: 4, arbitrary: own }, { weight: 1, arbitrary: anything });
      return fc.sample(mixed, { numRuns, seed: 29 + index });
    });
    const said = compilerSays(values);
    const found = new Set<string>();
    const unexplained: string[] = [];
    let [passed, refused] = [0, 0];
    types.forEach((type, index) => {
      values[index]!.forEach((value, at) => {
        const result = check(index, value);
        const fits = "positions" in result;
        if (fits) passed++;
        else refused++;
        if (fits === said[index]![at]) return;
        const reason = differences.find(([, isMeant]) => isMeant(type, value))?.[0];
        if (reason === undefined)
          unexplained.push(`${type} ${fits ? "takes" : "refuses"} ${literalType(value)}`);
        else found.add(reason);
      });
    });
    expect(unexplained).toEqual([]);
    expect(passed).toBeGreaterThan(types.length * numRuns * 0.3);
    expect(refused).toBeGreaterThan(types.length * numRuns * 0.1);
    // A list that isn't needed any more gets shorter.
    if (numRuns > 500)
      expect([...found].toSorted()).toEqual(differences.map(([reason]) => reason).toSorted());
  });

  it("and what explains a refusal agree on the same values, whether or not objects may come twice", () => {
    types.forEach((type, index) => {
      const parameter = model.functions[`f${index}`]![0]!.parameters[0]!;
      if (parameter.kind !== "plain") throw new Error(type);
      const values = fc.sample(valuesOf(parameter.type, model), { numRuns: 200, seed: index });
      for (const value of values) {
        const result = check(index, value);
        const text = "faults" in result ? result.faults.map(({ message }) => message).join() : "";
        expect(text).not.toContain("doesn't fit the types of");
        // Faults of an object that comes twice are listed once.
        const asTree = check(index, value, { isTree: true });
        if ("positions" in result) expect(asTree).toEqual(result);
        else expect(asTree).toHaveProperty("faults");
      }
    });
  });
});
