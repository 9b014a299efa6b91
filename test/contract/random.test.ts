// Comparisons of random types, with what checks say of random values as the judge.

import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import type { ExtraMembers } from "../../src/base/manifest.ts";
import { describe, expect, it } from "vitest";
import { compareContracts } from "../../server/contract/compare.ts";
import type { Level } from "../../server/contract/difference.ts";
import { type Contract, contractFormat } from "../../server/contract/contract.ts";
import { generateChecks } from "../../server/types/generate-checks.ts";
import type { Type, TypeModel } from "../../server/types/model.ts";
import { openTypes } from "../../server/types/open-types.ts";
import type { ParameterTypes } from "../../src/base/parameter-types.ts";
import { loadChecks } from "../unit/types/_check.ts";
import {
  type Draw,
  drawChange,
  drawObject,
  drawType,
  drawValue,
  plainJson,
} from "./_random-types.ts";

type Tables = Readonly<Record<string, Type>>;

function contractOf(parameter: Type, result: Type, definitions: Tables): Contract {
  return {
    format: contractFormat,
    application: {},
    procedures: [
      {
        fqn: "f",
        version: "0.0.0",
        access: "public",
        signatures: [{ parameters: [{ kind: "plain", name: "x", type: parameter }], result }],
      },
    ],
    routes: [],
    definitions: Object.fromEntries(
      Object.entries(definitions).map(([name, type]) => [name, { type }]),
    ),
    classes: {},
  };
}

function typesOf(type: Type, definitions: Tables): ParameterTypes {
  const model: TypeModel = {
    // Generated checks tell types apart by identity.
    definitions: structuredClone(definitions),
    classes: {},
    functions: { f: [{ parameters: [{ kind: "plain", name: "x", type: structuredClone(type) }] }] },
  };
  const source = generateChecks(model);
  return openTypes({ model, default: () => loadChecks(source) }).of("f")!;
}

type Source = "encoded" | "json" | "fields";

function read(
  types: ParameterTypes,
  value: unknown,
  source: Source,
  extra: ExtraMembers = "drop",
): { readonly got: unknown } | undefined {
  const given = source === "fields" ? types.fieldValue("x", value as string[], 400) : value;
  const checked = types.check([given], {
    source,
    extra,
    masked: false,
    maxDigits: 400,
    isTree: true,
    isInstance: () => false,
  });
  return "refusal" in checked ? undefined : { got: checked.positions[0] };
}

interface Pair {
  readonly before: Type;
  readonly after: Type;
  readonly earlier: Tables;
  readonly later: Tables;
}

function drawPair(draw: Draw): Pair {
  const tree = drawObject(draw);
  const before = drawType(draw);
  const changed = draw(fc.boolean) ? tree : drawChange(draw, tree);
  return {
    before,
    after: drawChange(draw, before),
    earlier: { Tree: tree },
    // A type that is nothing but a reference to itself has no values.
    later: { Tree: changed.kind === "object" ? changed : tree },
  };
}

const numRuns = Number(process.env["SEAMLINE_PAIRS"] ?? 800);
const parameters = { numRuns, seed: Number(process.env["SEAMLINE_SEED"] ?? 7) };
const valuesOfPair = 12;

function shown(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    typeof item === "bigint"
      ? `${item}n`
      : item instanceof Set || item instanceof Map
        ? [...item]
        : item,
  );
}

/** A member that is `undefined` is as good as none. */
function isSame(left: unknown, right: unknown): boolean {
  return isDeepStrictEqual(withoutAbsent(left), withoutAbsent(right));
}

function withoutAbsent(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAbsent);
  if (value instanceof Set) return new Set([...value].map(withoutAbsent));
  if (value instanceof Map)
    return new Map([...value].map(([key, item]) => [key, withoutAbsent(item)]));
  if (typeof value !== "object" || value?.constructor !== Object) return value;
  const members = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(members.map(([name, item]) => [name, withoutAbsent(item)]));
}

/** Compares random pairs; `judge` throws for a verdict that is too kind, and says whether a value proves that callers break. */
function comparePairs(
  contractsOf: (pair: Pair) => readonly [Contract, Contract],
  judge: (pair: Pair, level: Level, draw: Draw) => boolean,
): void {
  const counts = { fine: 0, risky: 0, breaking: 0 };
  let proved = 0;
  fc.assert(
    fc.property(fc.gen(), (draw) => {
      const pair = drawPair(draw);
      const verdicts = compareContracts(...contractsOf(pair));
      const level = verdicts[0]?.level ?? "fine";
      counts[level]++;
      if (judge(pair, level, draw) && level === "breaking") proved++;
    }),
    parameters,
  );
  expect(counts.fine).toBeGreaterThan(numRuns / 10);
  expect(counts.risky).toBeGreaterThan(numRuns / 50);
  // A verdict that is too strict is a mistake as well. Few values are tried, so not all have a proof.
  expect(proved / counts.breaking).toBeGreaterThan(0.8);
}

const nothing: Type = { kind: "undefined" };

describe("types that are compared", () => {
  it("changes-5: A parameter that is fine gets the same values from encoded calls, plain JSON and queries, and a risky one gets a value", () => {
    comparePairs(
      ({ before, after, earlier, later }) => [
        contractOf(before, nothing, earlier),
        contractOf(after, nothing, later),
      ],
      (pair, level, draw) => {
        const { before, after, earlier, later } = pair;
        const [was, is] = [typesOf(before, earlier), typesOf(after, later)];
        let isProved = false;
        for (let count = 0; count < valuesOfPair; count++) {
          const value = drawValue(draw, before, earlier);
          const forms: [Source, unknown][] = [
            ["encoded", value],
            ["json", plainJson(value)],
          ];
          if (/^(?:string|number|boolean|bigint)$/.test(typeof value))
            forms.push(["fields", [String(value)]]);
          for (const [source, form] of forms) {
            const expected = read(was, form, source);
            // Plain JSON may say too little for the earlier build as well.
            if (expected === undefined || !isSame(expected.got, value)) continue;
            const got = read(is, form, source);
            isProved ||= got === undefined;
            if (level === "breaking" || (level === "risky" && got !== undefined)) continue;
            if (got === undefined || !isSame(got.got, value))
              throw new Error(`${source} ${shown([form, expected, got, pair])}`);
          }
        }
        return isProved;
      },
    );
  });

  it("changes-6: A result that is fine has the type that callers of the earlier build expect", () => {
    comparePairs(
      ({ before, after, earlier, later }) => [
        contractOf(nothing, before, earlier),
        contractOf(nothing, after, later),
      ],
      (pair, level, draw) => {
        const { before, after, earlier, later } = pair;
        // Callers of nothing read nothing.
        if (before.kind === "undefined") return false;
        const [is, was] = [typesOf(after, later), typesOf(before, earlier)];
        let isProved = false;
        for (let count = 0; count < valuesOfPair; count++) {
          const value = withoutAbsent(drawValue(draw, after, later));
          // Results have the members that their type names.
          if (read(is, value, "encoded", "refuse") === undefined) continue;
          const fits = read(was, value, "encoded", "keep") !== undefined;
          isProved ||= !fits;
          if (!fits && level === "fine") throw new Error(shown([value, pair]));
        }
        return isProved;
      },
    );
  });
});
