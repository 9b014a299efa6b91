// Arguments of one call against the types of its parameters: converted, checked, and without members that
// the types don't name.

import { type Fault, maxFaults } from "../../src/base/faults.ts";
import type { InstanceParts } from "../../src/base/parameter-types.ts";
import { converts, createConvert } from "./convert.ts";
import {
  createMatcher,
  type Matcher,
  type MatchOptions,
  maxShown,
  pathOf,
  type Place,
} from "./match.ts";
import { type Test, testArms, type TestContext, testContext, testOnce } from "./memory.ts";
import type { Member, ParameterType, Signature, TypeModel } from "./model.ts";
import { createReshape } from "./reshape.ts";
import { brokenRule, fitsTemplate, takesKey } from "./text-rules.ts";
import { brokenCount, isBinary, isDataObject, isLeaf, memberOf } from "./values.ts";

/** Tests of functions' arguments by position, and of the types of the model. */
export interface Checks {
  readonly functions: ReadonlyMap<
    string,
    readonly ((positions: readonly unknown[], context: TestContext) => boolean)[]
  >;
  readonly types: readonly Test[];
}

/** Functions that generated code uses. */
export interface CheckHelpers {
  readonly brokenCount: typeof brokenCount;
  readonly brokenRule: typeof brokenRule;
  readonly fitsTemplate: typeof fitsTemplate;
  readonly isBinary: typeof isBinary;
  readonly isDataObject: typeof isDataObject;
  readonly isLeaf: typeof isLeaf;
  /** Of a definition that the model doesn't have. */
  readonly missing: () => boolean;
  readonly takesKey: typeof takesKey;
  readonly testArms: typeof testArms;
  readonly testOnce: typeof testOnce;
}

/** For the default export of generated code. */
export const checkHelpers: CheckHelpers = {
  brokenCount,
  brokenRule,
  fitsTemplate,
  isBinary,
  isDataObject,
  isLeaf,
  missing: () => false,
  takesKey,
  testArms,
  testOnce,
};

export type GeneratedChecks = (helpers: CheckHelpers) => Checks;

export interface CheckOptions extends Pick<MatchOptions, "isInstance" | "masked"> {
  /** The message is plain JSON or text, so types say how it is read. */
  readonly plain?: boolean;
  /** Its text has been read by type already: that of a query or form. */
  readonly isRead?: boolean;
  /** The treatment of undeclared members. */
  readonly extra?: "drop" | "keep" | "refuse";
  /** The most digits of a bigint. */
  readonly maxDigits?: number;
  /**
   * No object is shared or cyclic; by default, that holds for plain JSON. The decoder knows: for
   * `serialized`, if it has built no instance, whose constructor may make a cycle; for superjson, if there
   * are no `referentialEqualities` either. Values that middleware has set may be anything.
   */
  readonly isTree?: boolean;
}

export type Checked =
  /** `dropped`: paths of the first members that were left out. */
  | { readonly positions: readonly unknown[]; readonly dropped: readonly string[] }
  /** At most {@link maxFaults}; `more` if there are others. */
  | { readonly faults: readonly Fault[]; readonly more: boolean };

/** The most left-out members that are listed. */
const maxDropped = 3;

const none: readonly string[] = [];

/** Checks the arguments of calls of one function, in the order of its parameters. */
export type Check = (positions: readonly unknown[], options: CheckOptions) => Checked;

/** The check of a function. A function that isn't in the model refuses all calls. */
export function createCheck(model: TypeModel, checks: Checks, id: string): Check {
  const signatures = Object.hasOwn(model.functions, id) ? model.functions[id]! : [];
  const tests = checks.functions.get(id) ?? [];
  const overloads = signatures.map((signature, index) => ({
    signature,
    test: tests[index] ?? (() => false),
    isConverted: signature.parameters.some((parameter) =>
      parameter.kind === "plain" || parameter.kind === "rest"
        ? converts(model, parameter.type)
        : parameter.names.some((name) => name !== null && converts(model, name.type)),
    ),
  }));
  return (given, options) => {
    const { plain = false, extra = "drop", isInstance, isTree = plain } = options;
    const [first] = overloads;
    if (first === undefined) return refusal([]);
    // Most calls are decided by one test, and need nothing else.
    const context = testContext(isInstance, isTree);
    const fits = first.test(given, context);
    if (fits && (!context.extra || extra === "keep")) return { positions: given, dropped: none };
    return decide(given, options, { context, fits });
  };

  /** What the first test doesn't decide. `tested`: what it said of the values as they came. */
  function decide(
    given: readonly unknown[],
    options: CheckOptions,
    tested: { readonly context: TestContext; readonly fits: boolean },
  ): Checked {
    const { plain = false, isRead = false, extra = "drop", isInstance, masked = false } = options;
    const { isTree = plain, maxDigits = Infinity } = options;
    let context: TestContext | undefined;
    let known: Matcher | undefined;
    // Conversion has a context of its own: a test that remembers its results notes no unknown members.
    const matcher = (): Matcher =>
      (known ??= createMatcher({
        model,
        tests: checks.types,
        isInstance,
        masked,
        plain,
        maxDigits,
        isTree,
        context,
      }));
    let nearest: readonly Fault[] | undefined;
    for (const [index, { signature, test, isConverted }] of overloads.entries()) {
      let positions = given;
      context = index === 0 ? tested.context : testContext(isInstance, isTree);
      let fits = index === 0 ? tested.fits : test(positions, context);
      // A value that fits unconverted stays.
      if (!fits && plain && !isRead && isConverted) {
        context = undefined;
        const convert = createConvert({ model, matcher: matcher(), maxDigits });
        positions = withValues(signature, given, ({ type, value }) => convert(type, value));
        context = testContext(isInstance, isTree);
        fits = test(positions, context);
      }
      if (fits) {
        if (!context.extra || extra === "keep") return { positions, dropped: none };
        const { reshape, lost } = createReshape(model, matcher(), isTree);
        const copies = withValues(signature, positions, ({ name, type, value }) =>
          reshape(type, value, { outer: undefined, key: name }),
        );
        // A member that is `undefined`, or that another arm of a union has, looked like an unknown one.
        if (lost.length === 0) return { positions, dropped: none };
        if (extra === "drop")
          return { positions: copies, dropped: lost.slice(0, maxDropped).map(pathOf) };
        const shown = lost.slice(0, maxFaults + 1);
        nearest = shown.map((place) => ({ path: pathOf(place), message: "unknown" }));
        continue;
      }
      const faults = faultsOf(signature, positions, matcher());
      // The message explains the overload with the fewest faults.
      if (nearest === undefined || faults.length < nearest.length) nearest = faults;
    }
    return refusal(nearest ?? []);
  }
}

/** If a check is missing, or its code and model disagree, nothing passes. */
const unexplained = "doesn't fit the types of the parameters";

/**
 * Faults of the parts of an instance; call it before the constructor runs. A class that isn't in the model is
 * one that no parameter takes.
 */
export function instanceFaults(
  model: TypeModel,
  checks: Checks,
  key: string,
  { args, fields }: InstanceParts,
  options: Omit<CheckOptions, "plain" | "extra" | "maxDigits">,
  outer?: Place,
): readonly Fault[] {
  const known = Object.hasOwn(model.classes, key) ? model.classes[key] : undefined;
  const at = outer === undefined ? "" : pathOf(outer);
  if (known === undefined) return [{ path: at, message: `'${key}' can't be here` }];
  const matcher = createMatcher({ ...options, model, tests: checks.types });
  const ofArguments = known.parameters.flatMap((parameter, index): Fault[] => {
    if (parameter.kind !== "plain" && parameter.kind !== "rest") return [];
    const { name, type } = parameter;
    const place: Place = { outer, key: name };
    if (parameter.kind === "rest") return matcher.faults(type, argumentsFrom(args, index), place);
    const value = memberOf(args, String(index));
    if (value === undefined && parameter.optional) return [];
    // An argument that no member holds isn't sent.
    if (!Object.hasOwn(args, index))
      return Object.hasOwn(known.fields, name) ? [{ path: pathOf(place), message: "missing" }] : [];
    return matcher.faults(type, value, place);
  });
  const ofFields = Object.entries(fields).flatMap(([name, value]): Fault[] => {
    const member = Object.hasOwn(known.fields, name) ? known.fields[name] : undefined;
    // The sender chose its name, which may have any character.
    if (member === undefined)
      return [{ path: at, message: `unknown field ${JSON.stringify(name.slice(0, maxShown))}` }];
    if (member.optional && value === undefined) return [];
    return matcher.faults(member.type, value, { outer, key: name });
  });
  return [...ofArguments, ...ofFields].slice(0, maxFaults + 1);
}

/** The arguments of a rest parameter. */
export function argumentsFrom(args: InstanceParts["args"], start: number): readonly unknown[] {
  return Object.entries(args).flatMap(([index, value]) => (Number(index) < start ? [] : [value]));
}

function refusal(faults: readonly Fault[]): Checked {
  const shown =
    faults.length > 0 ? faults.slice(0, maxFaults) : [{ path: "", message: unexplained }];
  return { faults: shown, more: faults.length > maxFaults };
}

/** A value of a position that callers name. */
interface Named extends Member {
  readonly name: string;
  readonly value: unknown;
  /** Its place inside the position: a member of a pattern. */
  readonly key?: string | number;
}

/** The names that callers use for a position; `undefined` if a whole pattern is absent. */
function namedAt(
  parameter: ParameterType,
  positions: readonly unknown[],
  index: number,
): Named[] | undefined {
  const value = positions[index];
  switch (parameter.kind) {
    case "plain":
      return [{ ...parameter, value }];
    case "rest":
      return [
        { name: `...${parameter.name}`, type: parameter.type, value: positions.slice(index) },
      ];
    default: {
      if (value === undefined && parameter.optional) return undefined;
      const whole = typeof value === "object" && value !== null ? value : {};
      return parameter.names.flatMap((member, at) => {
        if (member === null) return [];
        const key = parameter.kind === "array" ? at : member.name;
        return [{ ...member, key, value: memberOf(whole, String(key)) }];
      });
    }
  }
}

/** The positions, with the value of each name that callers use replaced. */
function withValues(
  signature: Signature,
  positions: readonly unknown[],
  change: (named: Named) => unknown,
): unknown[] {
  return signature.parameters.flatMap((parameter, index) => {
    // A position that the call left out stays out.
    if (index >= positions.length) return [];
    const named = namedAt(parameter, positions, index);
    if (named === undefined) return [positions[index]];
    const [first] = named;
    if (parameter.kind === "plain") return [change(first!)];
    if (parameter.kind === "rest") {
      const rest = change(first!);
      return Array.isArray(rest) ? (rest as unknown[]) : [];
    }
    const copy: Record<string | number, unknown> | unknown[] =
      parameter.kind === "array"
        ? [...(positions[index] as unknown[])]
        : { ...(positions[index] as object) };
    for (const part of named)
      if (part.value !== undefined)
        (copy as Record<string | number, unknown>)[part.key!] = change(part);
    return [copy];
  });
}

function faultsOf(
  signature: Signature,
  positions: readonly unknown[],
  matcher: Matcher,
): readonly Fault[] {
  return signature.parameters.flatMap((parameter, index) =>
    (namedAt(parameter, positions, index) ?? []).flatMap(({ name, type, optional, value }) => {
      if (optional && value === undefined) return [];
      const place: Place = { outer: undefined, key: name };
      return matcher.faults(type, value, place);
    }),
  );
}
