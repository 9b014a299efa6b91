// Parameters by name (§2.1, decisions §2): between the names on the wire and the positions of a function.

import type { Args } from "./call.ts";
import {
  BadRequest,
  InvalidParameterValue,
  MissingParameterValue,
  UnknownParameter,
} from "./errors.ts";
import type { Parameter, PatternName, ValueType } from "./manifest.ts";
import { defaultLimits, type Limits } from "./serializer/limits.ts";

// `apply` puts every argument on the stack, which takes some hundred thousand.
const mostRest = 10_000;

const restKey = (name: string): string => `...${name}`;

/** From names to positions, compiled once per procedure. Throws MissingParameterValue, UnknownParameter, InvalidParameterValue (§4.2). */
export function bindArguments(parameters: readonly Parameter[]): (args: Args) => unknown[] {
  const checkNames = namesCheck(parameters);
  const last = parameters.at(-1);
  const rest = last?.kind === "rest" ? restKey(last.name) : undefined;
  const steps = (rest === undefined ? parameters : parameters.slice(0, -1)).map(positionOf);
  return (args) => {
    checkNames(args);
    const positions = steps.map((step) => step(args));
    const more = rest === undefined ? undefined : args.get(rest);
    if (rest !== undefined && args.has(rest)) {
      if (!Array.isArray(more)) throw new InvalidParameterValue(`${list([rest])} must be an array`);
      if (more.length > mostRest)
        throw new InvalidParameterValue(`${list([rest])} takes at most ${mostRest} values`);
      positions.push(...(more as unknown[]));
    }
    return positions;
  };
}

/** All missing ones first, in the order of the parameters, then all unknown ones (decisions §2, parameter checks). */
function namesCheck(
  parameters: readonly Parameter[],
): (args: ReadonlyMap<string, unknown>) => void {
  const names = parameters.flatMap(namesOf);
  const known = new Set(names.map((one) => one.name));
  const required = [...new Set(names.filter((one) => !one.optional).map((one) => one.name))];
  return (args) => {
    const missing = required.filter((name) => !args.has(name));
    if (missing.length > 0) throw new MissingParameterValue(`Missing value for ${list(missing)}`);
    for (const name of args.keys())
      if (!known.has(name))
        throw new UnknownParameter(
          `Unknown ${list([...args.keys()].filter((one) => !known.has(one)))}`,
        );
  };
}

function positionOf(parameter: Parameter): (args: Args) => unknown {
  if (parameter.kind === "plain") return (args) => args.get(parameter.name);
  const names = namesOf(parameter).map((one) => one.name);
  // Without any of its names the default of the whole pattern holds.
  const absent = (args: Args): boolean =>
    parameter.kind !== "rest" &&
    parameter.optional === true &&
    !names.some((name) => args.has(name));
  if (parameter.kind === "array")
    return (args) =>
      absent(args) ? undefined : parameter.names.map((one) => one && args.get(one.name));
  // One that is left out must not be what every object inherits: its own default holds.
  return (args) =>
    absent(args)
      ? undefined
      : Object.fromEntries(
          names
            .filter((name) => args.has(name) || name in Object.prototype)
            .map((name) => [name, args.get(name)]),
        );
}

/** What counts as a parameter at one position: a pattern's names instead of itself. */
function namesOf(parameter: Parameter): readonly PatternName[] {
  switch (parameter.kind) {
    case "plain":
      return [parameter];
    case "rest":
      return [{ name: restKey(parameter.name), optional: true }];
    default:
      return parameter.names.flatMap((one) =>
        one === null ? [] : parameter.optional ? [{ ...one, optional: true }] : [one],
      );
  }
}

/** From positions to names: the seam's way of sending what it was called with, so that the call behaves as a local one (decisions §2). */
export function nameArguments(
  parameters: readonly Parameter[],
): (given: readonly unknown[]) => Args {
  return (given) => {
    const args: Args = new Map();
    parameters.forEach((parameter, index) => {
      const value = given[index];
      if (parameter.kind === "plain") setNamed(args, parameter, value);
      else if (parameter.kind === "rest") {
        if (given.length > index) args.set(restKey(parameter.name), given.slice(index));
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
        parameter.names.forEach((one, item) => {
          if (one)
            setNamed(
              args,
              one,
              parameter.kind === "array" ? items[item] : memberOf(value, one.name),
            );
        });
        // An empty object was given: were nothing sent, the default of the whole pattern would take its place.
        const first = parameter.names.find((one) => one !== null);
        if (first && parameter.optional && args.size === before) args.set(first.name, undefined);
      }
    });
    return args;
  };
}

function setNamed(args: Args, { name, optional }: PatternName, value: unknown): void {
  if (value !== undefined || !optional) args.set(name, value);
}

/** What every object inherits nobody gave. */
function memberOf(value: unknown, name: string): unknown {
  const member = (value as Record<string, unknown>)[name];
  return member === (Object.prototype as unknown as Record<string, unknown>)[name]
    ? undefined
    : member;
}

/** As destructuring does: no more than are named, so that an endless generator is no trap. */
function take(values: Iterable<unknown>, count: number): unknown[] {
  const items: unknown[] = [];
  // A pattern without names takes nothing, but from something that can be gone through.
  if (count === 0) values[Symbol.iterator]();
  else for (const one of values) if (items.push(one) >= count) break;
  return items;
}

/**
 * Arguments from a query string: text by the parameter's type, repeated keys to arrays (§4.1, decisions §2).
 * Names that aren't parameters stay in it for {@link bindArguments} to refuse.
 */
export function convertQuery(
  parameters: readonly Parameter[],
  query: Iterable<[string, string]>,
  limits: Limits = defaultLimits,
): Args {
  const types = new Map(parameters.flatMap(namesOf).map((one) => [one.name, one.type]));
  const texts = new Map<string, string[]>();
  let count = 0;
  for (const [name, text] of query) {
    if (++count > limits.query)
      throw new BadRequest(`More than ${limits.query} query parameters (limit 'query')`);
    const found = texts.get(name);
    if (found) found.push(text);
    else texts.set(name, [text]);
  }
  const wrong: string[] = [];
  const args: Args = new Map();
  for (const [name, all] of texts) {
    const type = types.get(name);
    const many = type?.endsWith("[]");
    if (name.startsWith("...") && types.has(name)) wrong.push(`${list([name])} needs POST`);
    else if (type === undefined || type === "string[]")
      args.set(name, many || all.length > 1 ? all : all[0]);
    else {
      const values = all.map((text) =>
        convert[type.replace("[]", "") as keyof typeof convert](text, limits),
      );
      if (values.includes(undefined) || (!many && all.length > 1))
        wrong.push(`${list([name])} must be ${phrase(type)}`);
      args.set(name, many ? values : values[0]);
    }
  }
  if (wrong.length === 0) return args;
  // What is missing or unknown is told first, by GET as by POST. Where nothing is wrong, a middleware may still add what is missing.
  namesCheck(parameters)(texts);
  throw new InvalidParameterValue(wrong.join("; "));
}

/** The value of a text, or `undefined` when it has none of this type. */
const convert = {
  // Chosen: decimal numbers as JSON writes them, a sign or a missing zero allowed; what `Number` takes besides (`0x10`, spaces) is a mistake here.
  number: (text: string): number | undefined =>
    /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) && Number.isFinite(Number(text))
      ? Number(text)
      : undefined,
  boolean: (text: string): boolean | undefined =>
    text === "true" ? true : text === "false" ? false : undefined,
  bigint: (text: string, limits: Limits): bigint | undefined => {
    if (!/^-?\d+$/.test(text)) return undefined;
    if (text.length - (text.startsWith("-") ? 1 : 0) > limits.digits)
      throw new InvalidParameterValue(`More than ${limits.digits} digits (limit 'digits')`);
    return BigInt(text);
  },
  // Chosen: ISO 8601, the one form that every engine reads alike.
  Date: (text: string): Date | undefined => {
    const parts =
      /^(?:\d{4}|[+-]\d{6})(?:-(\d\d)(?:-(\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?)?)?$/.exec(
        text,
      );
    const date = new Date(text);
    // Engines roll the 30th of February over into March.
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
  const one = type.replace("[]", "");
  const single = one === "Date" ? "an ISO date" : `a ${one}`;
  return type === one ? single : `a list of which each is ${single}`;
}

function list(names: readonly string[]): string {
  return `parameter${names.length > 1 ? "s" : ""} ${names.map((name) => `'${name.slice(0, 64)}'`).join(", ")}`;
}
