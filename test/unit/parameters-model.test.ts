// Binding against the language itself: a call that goes by names does what the same call does in place, for functions of any shape.

import fc from "fast-check";
import { expect, it } from "vitest";

import type { Args } from "../../src/base/call.ts";
import { MissingParameterValue, UnknownParameter } from "../../src/base/errors.ts";
import type { Parameter, PatternName } from "../../src/base/manifest.ts";
import { bindArguments, convertQuery, nameArguments } from "../../src/runtime/parameters.ts";

/** A function that gives back all that it was called with, and its parameters as the build records them. */
interface Shape {
  readonly parameters: readonly Parameter[];
  readonly code: string;
  readonly run: (...values: readonly unknown[]) => unknown;
}

const optionalName = fc.boolean();
const pattern = fc.record({
  kind: fc.constantFrom("object", "array"),
  names: fc.array(fc.option(optionalName, { nil: null, freq: 6 }), { maxLength: 3 }),
  whole: fc.boolean(),
});
const parameter = fc.oneof(
  fc.record({ kind: fc.constant("plain"), optional: fc.boolean() }),
  pattern,
);

const shape: fc.Arbitrary<Shape> = fc
  .tuple(fc.array(parameter, { maxLength: 4 }), fc.boolean())
  .map(([list, rest]) => {
    let count = 0;
    const names: string[] = [];
    const fresh = (optional: boolean): PatternName & { code: string } => {
      const name = `p${count++}`;
      names.push(name);
      return {
        name,
        ...(optional ? { optional: true } : {}),
        code: optional ? `${name} = "default of ${name}"` : name,
      };
    };
    const bare = ({ name, optional }: PatternName): PatternName =>
      optional ? { name, optional } : { name };
    const parameters: Parameter[] = [];
    const codes: string[] = [];
    for (const one of list) {
      if (!("names" in one)) {
        const plain = fresh(one.optional);
        parameters.push({ kind: "plain", ...bare(plain) });
        codes.push(plain.code);
        continue;
      }
      // An object has no holes.
      const made = one.names.map((optional) =>
        optional === null && one.kind === "array" ? null : fresh(optional ?? false),
      );
      const whole = one.whole ? { optional: true as const } : {};
      if (one.kind === "array")
        parameters.push({ kind: "array", names: made.map((each) => each && bare(each)), ...whole });
      else
        parameters.push({
          kind: "object",
          names: made.flatMap((each) => (each ? [bare(each)] : [])),
          ...whole,
        });
      const inner = made.map((each) => each?.code ?? "").join(", ");
      // A trailing hole needs a comma of its own.
      const code =
        one.kind === "array" ? `[${inner}${made.at(-1) === null ? "," : ""}]` : `{ ${inner} }`;
      codes.push(
        one.whole
          ? `${code} = ${one.kind === "array" ? '["whole", 2, 3]' : `{ ${made[0]?.name ?? "other"}: "whole" }`}`
          : code,
      );
    }
    if (rest) {
      parameters.push({ kind: "rest", name: "rest" });
      codes.push("...rest");
      names.push("rest");
    }
    const code = `(${codes.join(", ")}) => [${names.join(", ")}]`;
    // oxlint-disable-next-line no-implied-eval -- the language is the model
    return { parameters, code, run: new Function(`return ${code}`)() as Shape["run"] };
  });

const scalar = fc.oneof(fc.integer(), fc.constantFrom(undefined, null, "", "text", false));
const value = fc.oneof(
  { weight: 3, arbitrary: scalar },
  fc.array(scalar, { maxLength: 4 }),
  fc.dictionary(
    fc.integer({ min: 0, max: 9 }).map((at) => `p${at}`),
    scalar,
  ),
);

type Outcome = { readonly value: unknown } | { readonly threw: true };

function outcome(act: () => unknown): Outcome {
  try {
    return { value: act() };
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return { threw: true };
  }
}

it("a call by names does what the call in place does, left out arguments, undefined and defaults included (calls-16)", () => {
  fc.assert(
    fc.property(shape, fc.array(value, { maxLength: 6 }), ({ parameters, run }, given) => {
      const here = outcome(() => run(...given));
      const there = outcome(() =>
        run(...bindArguments(parameters)(nameArguments(parameters)(given))),
      );
      expect(there).toEqual(here);
    }),
    { numRuns: 2000 },
  );
});

/** The expected result by the names alone, without any of the code under test. */
function namesOf(parameters: readonly Parameter[]): { required: string[]; known: string[] } {
  const required: string[] = [];
  const known: string[] = [];
  for (const one of parameters) {
    if (one.kind === "rest") known.push(`...${one.name}`);
    else
      for (const name of one.kind === "plain" ? [one] : one.names) {
        if (name === null) continue;
        known.push(name.name);
        if (!name.optional && !(one.kind !== "plain" && one.optional)) required.push(name.name);
      }
  }
  return { required, known };
}

it("whatever names are given: all missing ones, else all unknown ones, else the call (calls-17, calls-18)", () => {
  const given = fc.uniqueArray(
    fc.oneof(
      fc.integer({ min: 0, max: 12 }).map((at) => `p${at}`),
      fc.constantFrom("__proto__", "rest", "toString"),
    ),
  );
  fc.assert(
    fc.property(shape, given, ({ parameters }, names) => {
      const { required, known } = namesOf(parameters);
      const missing = required.filter((name) => !names.includes(name));
      const unknown = names.filter((name) => !known.includes(name));
      const quoted = (some: readonly string[]) =>
        `parameter${some.length > 1 ? "s" : ""} ${some.map((name) => `'${name}'`).join(", ")}`;
      const bind = (args: Args) => bindArguments(parameters)(args);
      const byPost = () => bind(new Map(names.map((name) => [name, 1])));
      const byGet = () =>
        bind(
          convertQuery(
            parameters,
            names.map((name): [string, string] => [name, "1"]),
          ),
        );
      for (const act of [byPost, byGet])
        if (missing.length > 0)
          expect(act).toThrow(new MissingParameterValue(`Missing value for ${quoted(missing)}`));
        else if (unknown.length > 0)
          expect(act).toThrow(new UnknownParameter(`Unknown ${quoted(unknown)}`));
        else expect(act()).toHaveLength(parameters.filter(({ kind }) => kind !== "rest").length);
    }),
    { numRuns: 1000 },
  );
});

it("every name reaches the place that the language gives it (procedures-5)", () => {
  fc.assert(
    fc.property(shape, fc.integer(), ({ parameters, run, code }, seed) => {
      const { known } = namesOf(parameters);
      const args: Args = new Map(
        known.map((name, at) => [
          name,
          name.startsWith("...") ? [`${name} ${seed}`] : `${name} ${seed + at}`,
        ]),
      );
      const expected = known.map((name, at) =>
        name.startsWith("...") ? [`${name} ${seed}`] : `${name} ${seed + at}`,
      );
      expect(run(...bindArguments(parameters)(args)), code).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});
