// Maps arguments between names on the wire and positions of a function.

import type { Args } from "../base/call.ts";
import {
  BadRequest,
  InvalidParameterValue,
  MissingParameterValue,
  UnknownParameter,
} from "../base/errors.ts";
import type { Parameter, PatternName, ValueType } from "../base/manifest.ts";
import { defaultLimits, type Limits } from "../base/limits.ts";
import type { ParameterTypes } from "../base/parameter-types.ts";

// `apply` puts every argument on the stack, which overflows at some hundred thousand.
const maxRestValues = 10_000;

const restKey = (name: string): string => `...${name}`;

type Bind = (args: Args) => unknown[];

/** Compiled binders. Procedures with the same parameters may share their list, and then this. */
const binders = new WeakMap<readonly Parameter[], Bind>();

/**
 * From names to positions, compiled when a list of parameters is first bound. Throws
 * MissingParameterValue, UnknownParameter or InvalidParameterValue.
 */
export function bindArguments(parameters: readonly Parameter[]): Bind {
  let bind = binders.get(parameters);
  if (bind === undefined) binders.set(parameters, (bind = compiled(parameters)));
  return bind;
}

function compiled(parameters: readonly Parameter[]): Bind {
  const checkNames = namesCheck(parameters);
  const last = parameters.at(-1);
  const rest = last?.kind === "rest" ? restKey(last.name) : undefined;
  const steps = (rest === undefined ? parameters : parameters.slice(0, -1)).map(positionOf);
  return (args) => {
    checkNames(args);
    const positions = steps.map((step) => step(args));
    const values = rest === undefined ? undefined : args.get(rest);
    if (rest !== undefined && args.has(rest)) {
      if (!Array.isArray(values))
        throw new InvalidParameterValue(`${list([rest])} must be an array`);
      if (values.length > maxRestValues)
        throw new InvalidParameterValue(`${list([rest])} takes at most ${maxRestValues} values`);
      positions.push(...(values as unknown[]));
    }
    return positions;
  };
}

/** Reports all missing names in the order of the parameters, or else all unknown ones. */
function namesCheck(
  parameters: readonly Parameter[],
): (args: ReadonlyMap<string, unknown>) => void {
  const names = parameters.flatMap(namesOf);
  const declared = new Set(names.map(({ name }) => name));
  const required = [...new Set(names.filter(({ optional }) => !optional).map(({ name }) => name))];
  return (args) => {
    const missing = required.filter((name) => !args.has(name));
    if (missing.length > 0) throw new MissingParameterValue(`Missing value for ${list(missing)}`);
    for (const key of args.keys())
      if (!declared.has(key))
        throw new UnknownParameter(
          `Unknown ${list([...args.keys()].filter((name) => !declared.has(name)))}`,
        );
  };
}

function positionOf(parameter: Parameter): (args: Args) => unknown {
  if (parameter.kind === "plain") return (args) => args.get(parameter.name);
  const names = namesOf(parameter).map(({ name }) => name);
  // Without any of its names, the default of the whole pattern applies.
  const absent = (args: Args): boolean =>
    parameter.kind !== "rest" &&
    parameter.optional === true &&
    !names.some((name) => args.has(name));
  if (parameter.kind === "array")
    return (args) =>
      absent(args) ? undefined : parameter.names.map((item) => item && args.get(item.name));
  // Set a missing `toString` to undefined, so that its default applies and not the inherited
  // member.
  return (args) =>
    absent(args)
      ? undefined
      : Object.fromEntries(
          names
            .filter((name) => args.has(name) || name in Object.prototype)
            .map((name) => [name, args.get(name)]),
        );
}

/** The parameter names at one position: a pattern has the names inside it, as it has none itself. */
function namesOf(parameter: Parameter): readonly PatternName[] {
  switch (parameter.kind) {
    case "plain":
      return [parameter];
    case "rest":
      return [{ name: restKey(parameter.name), optional: true }];
    default:
      return parameter.names.flatMap((item) =>
        item === null ? [] : parameter.optional ? [{ ...item, optional: true }] : [item],
      );
  }
}

/** From positions to names, so that a seam's remote call behaves like the local one. */
export function nameArguments(
  parameters: readonly Parameter[],
): (positions: readonly unknown[]) => Args {
  return (positions) => {
    const args: Args = new Map();
    parameters.forEach((parameter, index) => {
      const value = positions[index];
      if (parameter.kind === "plain") setNamed(args, parameter, value);
      else if (parameter.kind === "rest") {
        if (positions.length > index) args.set(restKey(parameter.name), positions.slice(index));
      } else if (value !== undefined || !parameter.optional) {
        if (value === undefined || value === null)
          throw new TypeError(
            `Argument ${index + 1} can't be destructured: it is ${String(value)}`,
          );
        const before = args.size;
        const items =
          parameter.kind === "array"
            ? take(value as Iterable<unknown>, parameter.names.length)
            : [];
        parameter.names.forEach((item, at) => {
          if (item)
            setNamed(
              args,
              item,
              parameter.kind === "array" ? items[at] : memberOf(value, item.name),
            );
        });
        // The caller passed an empty object. Send a name, or the pattern's default would replace
        // it.
        const first = parameter.names.find((item) => item !== null);
        if (first && parameter.optional && args.size === before) args.set(first.name, undefined);
      }
    });
    return args;
  };
}

function setNamed(args: Args, { name, optional }: PatternName, value: unknown): void {
  if (value !== undefined || !optional) args.set(name, value);
}

/** A member of the value, unless every object inherits it. */
function memberOf(value: unknown, name: string): unknown {
  const member = (value as Record<string, unknown>)[name];
  return member === (Object.prototype as unknown as Record<string, unknown>)[name]
    ? undefined
    : member;
}

/** Like destructuring, takes no more values than there are names: a generator may be endless. */
function take(values: Iterable<unknown>, count: number): unknown[] {
  const items: unknown[] = [];
  // An empty pattern takes nothing, but throws unless the value is iterable.
  if (count === 0) values[Symbol.iterator]();
  else for (const item of values) if (items.push(item) >= count) break;
  return items;
}

/**
 * Arguments from a query string: converts text by the parameter's type, and repeated keys to
 * arrays. Keeps names that aren't parameters, for {@link bindArguments} to refuse.
 */
export function convertQuery(
  parameters: readonly Parameter[],
  query: Iterable<[string, string]>,
  limits: Limits = defaultLimits,
  types?: ParameterTypes,
): Args {
  const restProblem = "needs POST";
  return convertFields(parameters, counted(query, limits), { limits, types, restProblem });
}

function* counted(
  query: Iterable<[string, string]>,
  { maxQueryParameters }: Limits,
): Generator<[string, string]> {
  let count = 0;
  for (const field of query) {
    if (++count > maxQueryParameters)
      throw new BadRequest(
        `More than ${maxQueryParameters} query parameters (limit 'maxQueryParameters')`,
      );
    yield field;
  }
}

export interface FieldsOptions {
  readonly limits: Limits;
  /** Say how text is read, in place of {@link Parameter}. */
  readonly types?: ParameterTypes | undefined;
  /** The fault of a field of a rest parameter. */
  readonly restProblem?: string;
}

/** Arguments from the fields of a form: text as in a query, and files as they are. */
export function convertFields(
  parameters: readonly Parameter[],
  fields: Iterable<[string, string | Blob]>,
  { limits, types, restProblem = "can't be a form field" }: FieldsOptions,
): Args {
  const annotated = new Map(parameters.flatMap(namesOf).map(({ name, type }) => [name, type]));
  const texts = new Map<string, (string | Blob)[]>();
  for (const [name, text] of fields) {
    const previous = texts.get(name);
    if (previous) previous.push(text);
    else texts.set(name, [text]);
  }
  const mistakes: string[] = [];
  const args: Args = new Map();
  for (const [name, all] of texts) {
    const type = annotated.get(name);
    const isList = type?.endsWith("[]");
    if (name.startsWith("...") && annotated.has(name))
      mistakes.push(`${list([name])} ${restProblem}`);
    else if (types !== undefined && annotated.has(name))
      args.set(name, types.fieldValue(name, all, limits.maxDigits));
    else if (type === undefined || type === "string[]")
      args.set(name, isList || all.length > 1 ? all : all[0]);
    else {
      const values = all.map((field) =>
        type === "File[]"
          ? fileOf(field)
          : typeof field === "string"
            ? convert[type.replace("[]", "") as keyof typeof convert](field, limits)
            : undefined,
      );
      if (values.includes(undefined) || (!isList && all.length > 1))
        mistakes.push(`${list([name])} must be ${phrase(type)}`);
      args.set(name, isList ? values : values[0]);
    }
  }
  if (mistakes.length === 0) return args;
  // Report missing and unknown names first, as for POST. Don't check them without a mistake: a
  // middleware may still add missing ones.
  namesCheck(parameters)(texts);
  throw new InvalidParameterValue(mistakes.join("; "));
}

const fileOf = (field: string | Blob): Blob | undefined =>
  typeof field === "string" ? undefined : field;

/** Converts text to a type, or to `undefined` if it has no such value. */
const convert = {
  // Decimal numbers as in JSON, plus `+1`, `.5` and `1.`. `Number` alone would accept `0x10` and
  // spaces as well.
  number: (text: string): number | undefined =>
    /^[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text) && Number.isFinite(Number(text))
      ? Number(text)
      : undefined,
  boolean: (text: string): boolean | undefined =>
    text === "true" ? true : text === "false" ? false : undefined,
  bigint: (text: string, limits: Limits): bigint | undefined => {
    if (!/^-?\d+$/.test(text)) return undefined;
    if (text.length - (text.startsWith("-") ? 1 : 0) > limits.maxDigits)
      throw new InvalidParameterValue(`More than ${limits.maxDigits} digits (limit 'maxDigits')`);
    return BigInt(text);
  },
  // ISO 8601 is the only form that all engines parse alike.
  Date: (text: string): Date | undefined => {
    const parts =
      /^(?:\d{4}|[+-]\d{6})(?:-(\d\d)(?:-(\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?)?)?$/.exec(
        text,
      );
    const date = new Date(text);
    // Engines turn 30 February into a day in March.
    const day =
      parts?.[2] === undefined
        ? undefined
        : new Date(`${text.split("T")[0]}T00:00:00Z`).getUTCDate();
    return parts === null ||
      Number.isNaN(date.getTime()) ||
      (day !== undefined && day !== Number(parts[2]))
      ? undefined
      : date;
  },
};

function phrase(type: ValueType): string {
  const item = type.replace("[]", "");
  const phraseOfItem = item === "Date" ? "an ISO date" : `a ${item}`;
  return type === item ? phraseOfItem : `a list of which each is ${phraseOfItem}`;
}

function list(names: readonly string[]): string {
  return `parameter${names.length > 1 ? "s" : ""} ${names.map((name) => `'${name.slice(0, 64)}'`).join(", ")}`;
}
