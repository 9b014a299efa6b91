// Rebuilds instances and errors from superjson, by the rules of the `serialized` encoding.

import { commonErrorMembers, decodeErrorForm } from "../error-form.ts";
import { Fault, faultAt, isForbidden } from "../values/fault.ts";
import { argumentOf, construct, type Properties, setField } from "../instance.ts";
import type { Slot } from "./superjson-meta.ts";
import { type Building, put, putMembers, settle, within } from "./superjson-put.ts";

/** An instance of one of the application's classes, which may be an error. */
export function makeInstance(slot: Slot, build: Building): object {
  const { raw, of: key } = slot;
  if (typeof raw === "object" && raw !== null && Object.hasOwn(raw, "message"))
    return makeErrorWith(
      ["args", "fields", "name", "message", "trace", "cause", "stack", "outside"],
      slot,
      build,
    );
  const members = membersOf(slot, ["args", "fields"]);
  const args = partOf(slot, members, "args");
  const fields = partOf(slot, members, "fields");
  const putParts = (standIn: object): object => {
    settle(slot, standIn, build);
    for (const [name, part] of [
      ["args", args],
      ["fields", fields],
    ] as const)
      within(name, raw, () => putMembers(part.raw, part.slot, build, part.raw));
    return standIn;
  };
  const opaque = build.classes.passOn?.(undefined, { key, args: args.raw, fields: fields.raw });
  if (opaque !== undefined) return putParts(opaque);
  const known = build.classes.get(key);
  if (!known || known.record.error) throw new Fault(`there is no class '${key.slice(0, 256)}'`);
  if (build.build) return putParts(build.build(known, args.raw, fields.raw));
  const unfinished = within("args", raw, () => putArguments(args, build));
  const instance = construct(known, args.raw);
  for (const index of unfinished)
    // The argument is not complete yet. If the constructor copied it, the copy never will be.
    if (!Object.is(argumentOf(instance, known, Number(index)), args.raw[index]))
      throw faultAt(faultAt(unbuildable(), Number(index), args.raw), "args", raw);
  settle(slot, instance, build);
  within("fields", raw, () => {
    for (const [name, value] of Object.entries(fields.raw))
      within(name, instance, () =>
        put(value, fields.slot?.parts?.get(name), build, (field) =>
          setField(instance, known, name, field),
        ),
      );
  });
  return instance;
}

/** An error of the language, the platform or the framework. */
export function makeError(slot: Slot, build: Building): Error {
  return makeErrorWith(
    ["name", "message", "trace", "fields", "cause", "stack", "dom", "outside"],
    slot,
    build,
  );
}

function makeErrorWith(allowed: readonly string[], slot: Slot, build: Building): Error {
  if (!build.trusted) throw new Fault("this type is accepted from services only");
  const members = membersOf(slot, allowed);
  const key = slot.type === "class" ? slot.of : undefined;
  const known = key === undefined ? undefined : build.classes.get(key);
  if (known && !known.record.error) throw new Fault(`class '${key}' is not an error`);
  for (const name of ["name", "message", "trace", "stack", "dom", "outside"]) {
    const part = slot.parts?.get(name);
    if (part === undefined) continue;
    // superjson annotates missing members as undefined.
    if (part.type !== "undefined" || name === "name" || name === "message")
      throw new Fault(`'${name}' can't have an annotation`);
    delete members[name];
  }
  const args = partOf(slot, members, "args");
  const fields = partOf(slot, members, "fields");
  // An object, because the functions below set members of the error once it exists.
  const result: { error?: Error } = {};
  const own: Properties = {};
  let cause: unknown;
  within("args", members, () => putArguments(args, build));
  within("fields", members, () => {
    for (const [name, raw] of Object.entries(fields.raw))
      within(name, fields.raw, () => {
        if (commonErrorMembers.has(name) || (known && !known.record.fields.includes(name)))
          throw new Fault("there is no such field");
        put(raw, fields.slot?.parts?.get(name), build, (value) => {
          if (result.error) Reflect.set(result.error, name, value);
          else own[name] = value;
        });
      });
  });
  if (Object.hasOwn(members, "cause"))
    within("cause", members, () =>
      put(members["cause"], slot.parts?.get("cause"), build, (value) => {
        if (result.error)
          Reflect.defineProperty(result.error, "cause", {
            value,
            configurable: true,
            writable: true,
          });
        else cause = value;
      }),
    );
  const { name: type, ...others } = members;
  const form = { ...others, type, key, cause, args: args.raw, fields: own };
  result.error = decodeErrorForm(form, known, slot === build.root ? build.status : undefined);
  return result.error;
}

/** Arguments or fields of an instance. They are not a value themselves. */
interface Part {
  readonly raw: Properties;
  readonly slot: Slot | undefined;
}

/** Puts arguments in place. Returns the indexes of those that refer to unfinished instances. */
function putArguments({ raw, slot }: Part, build: Building): string[] {
  const unfinished: string[] = [];
  for (const [index, value] of Object.entries(raw))
    within(Number(index), raw, () => {
      const part = slot?.parts?.get(index);
      if (part?.target.state === "open") throw unbuildable();
      const openBefore = build.open;
      put(value, part, build, (argument) => (raw[index] = argument));
      if (build.open > openBefore) unfinished.push(index);
    });
  return unfinished;
}

const unbuildable = (): Fault => new Fault("a cycle goes through an argument of a constructor");

function partOf(slot: Slot, members: Properties, name: string): Part {
  const raw = Object.hasOwn(members, name) ? members[name] : {};
  const part = slot.parts?.get(name);
  if (part?.type === "undefined") return { raw: {}, slot: undefined };
  if (
    typeof raw !== "object" ||
    raw === null ||
    Array.isArray(raw) ||
    (part !== undefined && !part.isBare)
  )
    throw new Fault(`'${name}' must be an object`);
  for (const key of Object.keys(raw))
    if (isForbidden(key))
      throw faultAt(faultAt(new Fault("this key is not allowed"), key, raw), name, slot.raw);
  return { raw: raw as Properties, slot: part };
}

function membersOf({ raw, type }: Slot, allowed: readonly string[]): Properties {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw))
    throw new Fault(`a value with the annotation '${type}' must be an object`);
  if (!Object.keys(raw).every((key) => allowed.includes(key)))
    throw new Fault(`it can only have the members ${allowed.join(", ")}`);
  return raw as Properties;
}
