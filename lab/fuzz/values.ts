// Random plain data, most of it with the forms, keys and texts that decoders look for.

import { oddTexts } from "./mutate.ts";
import type { Random } from "./random.ts";

const texts: readonly string[] = [
  ...oddTexts,
  "2021-01-01T00:00:00.000Z",
  "+275760-09-13T00:00:00.001Z",
  "http://a.b/",
  "(a+)+$",
  "gimsuyv",
  "12345678901234567890",
  "-1",
  "AQID",
  "AQID=",
  "people/Person",
  "people/Team",
  "people/Refused",
  "Object",
  "a",
  "value",
];

const keys: readonly string[] = [
  "serialized",
  "name",
  "value",
  "entries",
  "keys",
  "values",
  "source",
  "flags",
  "key",
  "args",
  "fields",
  "part",
  "type",
  "base64",
  "mediaType",
  "fileName",
  "lastModified",
  "cause",
  "message",
  "errors",
  "stack",
  "json",
  "meta",
  "referentialEqualities",
  "v",
  "a",
  "0",
  "1",
  "-1",
  "length",
  "size",
  "then",
  "toJSON",
  "toString",
  "valueOf",
  "get",
  "set",
  "__proto__",
  "constructor",
  "prototype",
  "",
  "a.b",
  "\\",
];

const formNames: readonly string[] = [
  "Undefined",
  "Object",
  "Number",
  "BigInt",
  "Date",
  "Map",
  "Set",
  "Binary",
  "Url",
  "RegExp",
  "class",
  "Error",
  "File",
  "Blob",
  "FormData",
  "Uint8Array",
  "DataView",
  "__proto__",
  "nope",
];

export const numbers: readonly number[] = [
  0,
  -0,
  1,
  -1,
  0.5,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  -(2 ** 63),
  1e308,
  5e-324,
  4_294_967_295,
];

/** A text that decoders look for, or an odd one. */
export function randomText(random: Random): string {
  return random.pick(texts);
}

/** A value of JSON. */
export function randomTree(random: Random, depth = 4): unknown {
  switch (random.below(depth <= 0 ? 4 : 8)) {
    case 0:
      return random.pick([null, true, false, {}, []]);
    case 1:
      return random.pick(numbers);
    case 2:
    case 3:
      return randomText(random);
    case 4:
      return random.list(5, () => randomTree(random, depth - 1));
    case 5:
      return randomForm(random, depth - 1);
    default:
      return Object.fromEntries(
        random.list(5, () => [random.pick(keys), randomTree(random, depth - 1)]),
      );
  }
}

/** A value that claims to be a serialized form. */
export function randomForm(random: Random, depth = 3): unknown {
  return Object.fromEntries([
    ["serialized", random.once(12) ? randomTree(random, 0) : true],
    ["name", random.once(12) ? randomTree(random, 1) : random.pick(formNames)],
    ...random.list(4, () => [random.pick(keys), randomTree(random, depth - 1)] as const),
  ]);
}

/** Valid forms of each kind, for changes. */
export const validForms: readonly unknown[] = [
  { serialized: true, name: "Undefined" },
  { serialized: true, name: "Number", value: "Infinity" },
  { serialized: true, name: "BigInt", value: "123456789012345678901" },
  { serialized: true, name: "Date", value: "2021-01-01T00:00:00.000Z" },
  { serialized: true, name: "Url", value: "http://a.b/?c#d" },
  { serialized: true, name: "RegExp", source: "a+", flags: "gi" },
  { serialized: true, name: "Set", values: [1, "a", [2]] },
  { serialized: true, name: "Map", entries: { keys: [1, "a"], values: [[], {}] } },
  { serialized: true, name: "Object", value: { serialized: 1, a: 2 } },
  { serialized: true, name: "Binary", type: "Uint8Array", base64: "AQID" },
  {
    serialized: true,
    name: "class",
    key: "people/Person",
    args: { name: "Ada", born: { serialized: true, name: "Undefined" } },
    fields: { email: "a@b" },
  },
  {
    serialized: true,
    name: "class",
    key: "people/Team",
    args: { title: "t", people: [1, 2] },
    fields: {},
  },
  { serialized: true, name: "Error", type: "RangeError", message: "m", stack: "s" },
];
