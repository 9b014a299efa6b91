// Judges the instances of a message before any constructor runs: their classes, and the values that they
// would be built from.

import { type Fault, maxFaults } from "../../src/base/faults.ts";
import type {
  CheckSettings,
  DescribedInstance,
  InstanceParts,
  Judgement,
} from "../../src/base/parameter-types.ts";
import { argumentsFrom, type Checks, instanceFaults } from "./check.ts";
import { createMatcher, pathOf, type Place } from "./match.ts";
import type { Type, TypeModel } from "./model.ts";
import { createReshape } from "./reshape.ts";
import { isDataObject, memberOf, partsOf, typesOf } from "./values.ts";

type Described = ReadonlyMap<object, DescribedInstance>;

/** The classes that values of some types may contain. */
interface Reached {
  readonly keys: ReadonlySet<string>;
  /** One of the types takes anything, so any class may be there. */
  readonly any: boolean;
}

/** The classes that a function's parameters can hold, without their subclasses. */
export function reachedClasses(model: TypeModel, id: string): Reached {
  const parameters = (model.functions[id] ?? []).flatMap((signature) => signature.parameters);
  return reach(model, parameters.flatMap(typesOf));
}

export interface JudgeOptions extends Pick<CheckSettings, "extra" | "masked" | "isInstance"> {
  readonly model: TypeModel;
  readonly checks: Checks;
  readonly reached: Reached;
}

export function judgeInstances(
  args: ReadonlyMap<string, unknown>,
  described: Described,
  { model, checks, reached, extra, masked, isInstance }: JudgeOptions,
): Judgement {
  const { keys, any } = withSubclasses(model, reached, described, isInstance);
  const faults: Fault[] = [];
  let hasExtra = false;
  const judge = (instance: DescribedInstance, place: Place | undefined): void => {
    const { key } = instance;
    if (!keys.has(key) && any) return;
    const known = keys.has(key) ? model : { ...model, classes: {} };
    const found = instanceFaults(known, checks, key, instance, { masked, isInstance }, place);
    faults.push(...found);
    if (found.length > 0 || extra === "keep") return;
    const { lost } = reshaped(model, checks, key, instance, isInstance, place);
    if (lost.length > 0) hasExtra = true;
    if (extra === "refuse")
      for (const at of lost.slice(0, maxFaults + 1))
        faults.push({ path: pathOf(at), message: "unknown" });
  };
  const found = new Set<object>();
  for (const [value, place] of objectsIn(args, described)) {
    if (faults.length > maxFaults) break;
    const instance = described.get(value);
    if (instance === undefined) continue;
    found.add(value);
    judge(instance, place);
  }
  // A key that comes twice in a Map keeps one of its values, but all of them are built.
  for (const [standIn, instance] of described)
    if (faults.length <= maxFaults && !found.has(standIn)) judge(instance, undefined);
  return faults.length === 0
    ? { hasExtra }
    : { refusal: { faults: faults.slice(0, maxFaults), more: faults.length > maxFaults } };
}

/** The parts of an instance without undeclared members, and the places of these. */
export function reshaped(
  model: TypeModel,
  checks: Checks,
  key: string,
  { args, fields }: InstanceParts,
  isInstance: CheckSettings["isInstance"],
  outer?: Place,
): InstanceParts & { readonly lost: readonly Place[] } {
  const known = Object.hasOwn(model.classes, key) ? model.classes[key] : undefined;
  if (known === undefined) return { args, fields, lost: [] };
  const matcher = createMatcher({ model, tests: checks.types, isInstance });
  const { reshape, lost } = createReshape(model, matcher, false);
  const newArgs: Record<string, unknown> = { ...args };
  for (const [index, parameter] of known.parameters.entries()) {
    const place: Place = { outer, key: "name" in parameter ? parameter.name : index };
    if (parameter.kind === "plain" && Object.hasOwn(args, index))
      newArgs[index] = reshape(parameter.type, args[index], place);
    else if (parameter.kind === "rest") {
      const rest = reshape(parameter.type, argumentsFrom(args, index), place);
      (rest as readonly unknown[]).forEach((value, at) => (newArgs[index + at] = value));
    }
  }
  const newFields = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const type = Object.hasOwn(known.fields, name) ? known.fields[name]?.type : undefined;
      return [name, type === undefined ? value : reshape(type, value, { outer, key: name })];
    }),
  );
  return { args: newArgs, fields: newFields, lost };
}

/** Adds the message's classes that extend a reached one, and the classes that they reach. */
function withSubclasses(
  model: TypeModel,
  reached: Reached,
  described: Described,
  isInstance: CheckSettings["isInstance"],
): Reached {
  const keys = new Set(reached.keys);
  let { any } = reached;
  const others = new Map<string, object>();
  for (const { key, prototype } of described.values())
    if (!keys.has(key) && Object.hasOwn(model.classes, key)) others.set(key, prototype);
  for (let grew = others.size > 0; grew;) {
    grew = false;
    for (const [key, prototype] of others) {
      if (!keys.has(key) && ![...keys].some((base) => isInstance(base, prototype))) continue;
      others.delete(key);
      const inside = reach(model, [{ kind: "instance", key }]);
      for (const other of inside.keys) keys.add(other);
      any ||= inside.any;
      grew = true;
    }
  }
  return { keys, any };
}

function reach({ definitions, classes }: TypeModel, types: readonly Type[]): Reached {
  const keys = new Set<string>();
  const names = new Set<string>();
  let any = false;
  const open = [...types];
  for (let type = open.pop(); type !== undefined; type = open.pop())
    switch (type.kind) {
      case "unknown":
      case "defined":
      case "nonprimitive":
        any = true;
        break;
      case "ref":
        if (names.has(type.to)) break;
        names.add(type.to);
        if (Object.hasOwn(definitions, type.to)) open.push(definitions[type.to]!);
        break;
      case "instance": {
        if (keys.has(type.key)) break;
        keys.add(type.key);
        if (!Object.hasOwn(classes, type.key)) break;
        const { parameters, fields } = classes[type.key]!;
        open.push(...parameters.flatMap(typesOf));
        open.push(...Object.values(fields).map((member) => member.type));
        break;
      }
      default:
        open.push(...partsOf(type));
    }
  return { keys, any };
}

/** Each object of the message with a place where it stands. A loop: references may nest it deeper than the stack. */
function* objectsIn(
  args: ReadonlyMap<string, unknown>,
  described: Described,
): Generator<readonly [object, Place]> {
  const seen = new Set<object>();
  const open: [unknown, Place][] = [...args].map(([key, value]) => [
    value,
    { outer: undefined, key },
  ]);
  open.reverse();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, place] = next;
    if (typeof value !== "object" || value === null || seen.has(value)) continue;
    seen.add(value);
    yield [value, place];
    const parts = partsIn(value, described.get(value)).map(([key, part]): [unknown, Place] => [
      part,
      { outer: place, key },
    ]);
    for (const part of parts.reverse()) open.push(part);
  }
}

/** The members of an object, each with its key. */
function partsIn(
  value: object,
  instance: DescribedInstance | undefined,
): readonly (readonly [Place["key"], unknown])[] {
  if (instance !== undefined)
    return [
      ...Object.entries(instance.args).map(
        ([index, item]) => [instance.names[Number(index)] ?? index, item] as const,
      ),
      ...Object.entries(instance.fields),
    ];
  if (Array.isArray(value)) return value.map((item, index) => [index, item]);
  if (value instanceof Map)
    return [...value].flatMap(([key, item]) => [
      [{ call: ".keys()" }, key],
      [{ call: ".values()" }, item],
    ]);
  if (value instanceof Set) return [...value].map((item) => [{ call: ".values()" }, item]);
  if (!isDataObject(value)) return [];
  return Object.keys(value).map((key) => [key, memberOf(value, key)]);
}
