// Forms as text at once, as services write them: `JSON.stringify` takes four times as long for an
// object with three small ones in it, which an instance's form is. The result is that of encode.ts,
// which is all that a page has.

import type { FastForms, FormWalk } from "./class-table.ts";
import { classOf, unknownInstance } from "./encode.ts";
import { type Properties, readInstance, refuseClosed } from "./instance.ts";
import { bytesOf, kindOf, type NodeBuffer, toBase64 } from "./values/binary.ts";
import { Fault, faultAt } from "./values/fault.ts";
import { quickDateFrom, quickIsoOf } from "./values/quick-dates.ts";
import type { KnownClass } from "./values/known-class.ts";
import { ofThisRealm } from "./values/realm.ts";
import { refusalOf } from "./values/refusal.ts";
import {
  isScalar,
  refuseSymbols,
  type Walk,
  walkItems,
  walkMembers,
  walkValue,
} from "./values/walk.ts";
import { jsonOf, jsonOfTree, quote, Written, written } from "./values/written.ts";

export const fastForms: FastForms = {
  replace: writeForm,
  finish: written,
  // The arguments of a call are in an object without a prototype, their forms as text.
  text: (tree) =>
    typeof tree === "object" && tree !== null && Object.getPrototypeOf(tree) === null
      ? written(tree).text
      : (jsonOf(tree) as string),
  dateFrom: quickDateFrom,
  bytesFrom,
};

function writeForm(value: unknown, walk: FormWalk): Written {
  switch (typeof value) {
    case "undefined":
      return form("Undefined", "");
    case "number":
      return form("Number", `,"value":"${Object.is(value, -0) ? "-0" : value}"`);
    case "bigint":
      return form("BigInt", `,"value":"${value}"`);
    case "object":
      return writeObject(value as object, walk);
    default:
      throw new Fault(`a ${typeof value} can't be sent`);
  }
}

/** `content` are the members besides the name, each after a comma. */
const form = (name: string, content: string): Written =>
  new Written(`{"serialized":true,"name":"${name}"${content}}`);

function writeObject(value: object, walk: FormWalk): Written {
  const { classes } = walk;
  const known = classOf(value, classes);
  if (known?.hasForm === false && !known.record.error) return writeInstance(value, known, walk);
  const opaque = classes.opaqueForm?.(value, walk);
  if (opaque) return new Written(jsonOfTree(opaque));
  if (value instanceof Error) {
    const tree = classes.errorForm?.(value, walk);
    return tree === undefined ? form("Error", "") : new Written(jsonOfTree(tree));
  }
  if (known?.hasForm === false) return writeInstance(value, known, walk);
  // An instance of a class that extends one of these, as Node's Buffer does, travels as what it
  // extends if it has no data of its own.
  if (value instanceof Date) {
    const iso = quickIsoOf(value);
    return form("Date", `,"value":${iso === null ? null : `"${iso}"`}`);
  }
  if (value instanceof Map) return writeMap(value, walk);
  if (value instanceof Set) return form("Set", `,"values":${writeItems([...value], walk)}`);
  if (value instanceof RegExp)
    return form("RegExp", `,"source":${jsonOf(value.source)},"flags":${jsonOf(value.flags)}`);
  if (value instanceof URL) return form("Url", `,"value":${jsonOf(value.href)}`);
  const bytes = bytesOf(value);
  if (bytes) return form("Binary", `,"type":${quote(kindOf(value))},"base64":"${toBase64(bytes)}"`);
  const file = walk.file?.(value, walk);
  if (file) return written(file);
  const prototype: unknown = Object.getPrototypeOf(value);
  // A plain object that looks like a form, or one of another realm.
  if (prototype === null || Object.getPrototypeOf(prototype) === null) {
    const members = written(walkMembers(value, walk));
    return Object.hasOwn(value, "serialized") &&
      (value as { readonly serialized?: unknown }).serialized === true
      ? form("Object", `,"value":${members.text}`)
      : members;
  }
  const own = ofThisRealm(value);
  if (own) return writeObject(own, walk);
  throw refusedInstance(value, walk);
}

/** Says more than a page does. */
function refusedInstance(value: object, walk: FormWalk): Fault {
  const why = walk.hint?.(value) ?? refusalOf(value);
  if (why !== undefined) return new Fault(why);
  return new Fault(`${unknownInstance(value, {}).message}. Export it, or send its data`);
}

function writeItems(items: readonly unknown[], walk: FormWalk): string {
  const walked = walkItems(items, walk);
  return walked === items ? JSON.stringify(items) : written(walked).text;
}

function writeMap(map: ReadonlyMap<unknown, unknown>, walk: FormWalk): Written {
  const entries = { keys: [...map.keys()], values: [...map.values()] };
  const [keys, values] = (["keys", "values"] as const).map((part) => {
    try {
      return writeItems(entries[part], walk);
    } catch (thrown) {
      throw faultAt(thrown, part, entries);
    }
  });
  return form("Map", `,"entries":{"keys":${keys},"values":${values}}`);
}

function writeInstance(value: object, known: KnownClass, walk: FormWalk): Written {
  const { opening, args, fields } = planOf(known);
  if (args === undefined) {
    const parts = readInstance(value, known, walk);
    return new Written(
      `${opening}${written(parts.args).text},"fields":${written(parts.fields).text}}`,
    );
  }
  refuseSymbols(value);
  refuseClosed(value, known);
  const start = writeMembers(value as Properties, args, false, `${opening}{`, walk);
  return new Written(
    `${writeMembers(value as Properties, fields, true, `${start}},"fields":{`, walk)}}}`,
  );
}

/** What is the same in all instances of a class. */
interface Plan {
  /** The form up to its arguments. */
  readonly opening: string;
  /** `undefined` if more than the value of a member is to be looked at. */
  readonly args: readonly Label[] | undefined;
  readonly fields: readonly Label[];
}

/** The name of a member, and what is before its value if it's the first one or a later one. */
type Label = readonly [name: string, first: string, later: string];

const plans = new WeakMap<KnownClass, Plan>();

function planOf(known: KnownClass): Plan {
  let plan = plans.get(known);
  if (plan === undefined) plans.set(known, (plan = makePlan(known)));
  return plan;
}

function makePlan({ record, names, rest }: KnownClass): Plan {
  const isSimple =
    rest === undefined &&
    record.pattern === undefined &&
    record.unread === undefined &&
    record.fixed === undefined;
  const args = names.flatMap((name, index) => (name === null ? [] : [[name, String(index)]]));
  return {
    opening: `{"serialized":true,"key":${quote(record.key)},"name":"class","args":`,
    args: isSimple ? labels(args as [string, string][]) : undefined,
    fields: labels(record.fields.map((name) => [name, name])),
  };
}

function labels(members: readonly (readonly [name: string, key: string])[]): Label[] {
  return members.map(([name, key]) => [name, `${quote(key)}:`, `,${quote(key)}:`]);
}

/** Appends members to the text. A function in a field is behaviour, as a method is. */
function writeMembers(
  instance: Properties,
  labelled: readonly Label[],
  areFields: boolean,
  start: string,
  walk: Walk,
): string {
  let text = start;
  let isFirst = true;
  let name = "";
  try {
    for (const label of labelled) {
      name = label[0];
      const member = instance[name];
      if (areFields && typeof member === "function") continue;
      text +=
        (isFirst ? label[1] : label[2]) +
        (typeof member === "string"
          ? quote(member)
          : isScalar(member)
            ? String(member)
            : jsonOf(walkValue(member, walk)));
      isFirst = false;
    }
  } catch (thrown) {
    throw faultAt(thrown, name, instance);
  }
  return text;
}

/** The bytes of base64 text, by Node's Buffer; `undefined` where there is none, or the text is unusual. */
function bytesFrom(text: string): Uint8Array<ArrayBuffer> | undefined {
  const { Buffer } = globalThis as { Buffer?: NodeBuffer };
  // Buffer skips what isn't base64, and takes `-` and `_`: text like that is left to the platform.
  if (!Buffer || text.length % 4 !== 0 || text.includes("-") || text.includes("_"))
    return undefined;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  const length = Buffer.from(bytes.buffer, 0, bytes.length).write(text, "base64");
  return length === bytes.length ? bytes : undefined;
}
