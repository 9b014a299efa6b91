// The `serialized` encoding, as the rest of the runtime calls it.

import type { Args } from "../base/call.ts";
import { BadRequest } from "../base/errors.ts";
import { NamedMembers } from "../base/named-members.ts";
import type { ClassTable } from "./class-table.ts";
import { type Reading, readValue } from "./decode.ts";
import { encodeForm } from "./encode.ts";
import { formWalk, type WalkOptions } from "./form-walk.ts";
import { binaryForm, isBlob, kindOf, withBytes } from "./values/binary.ts";
import { faultAt, invalidValue, notSerializable } from "./values/fault.ts";
import type { Properties } from "./instance.ts";
import type { ValueLimits } from "../base/limits.ts";
import { type Parsed, parseText } from "./values/text.ts";
import { walkValue } from "./values/walk.ts";

export interface EncodeOptions extends WalkOptions {
  /** How messages name the value: `result`. */
  readonly path?: string;
}

export interface DecodeOptions {
  readonly classes: ClassTable;
  readonly limits: ValueLimits;
  /** The sender may use the RegExp and Error forms. */
  readonly trusted: boolean;
  /** How messages name the value: `args`. */
  readonly path?: string;
  /** No header asked for the encoding, so objects that look like forms are data. */
  readonly plain?: boolean;
  /** Reads the forms of a call's files. Throws a Fault for any other form. */
  readonly files?: ((form: Properties) => unknown) | undefined;
  /** Makes an instance of its parts. superjson may still set them afterwards. */
  readonly build?: Reading["build"];
  /** HTTP status of the response. Selects the class of an error whose own class isn't here. */
  readonly status?: number;
}

/**
 * A file among a call's arguments, and the number that stands for it in their text: no data has the
 * same one.
 */
export type Attachment = readonly [
  placeholder: number,
  content: Blob | readonly (readonly [string, string | File])[],
];

/** A call's arguments, and the files that travel beside them. */
export interface Upload {
  /** As JSON, with `{"serialized":0.123…}` for each file. */
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

/** The value as JSON text; a promise only if it contains a Blob. Throws ValueNotSerializable. */
export function encodeSerialized(value: unknown, options: EncodeOptions): string | Promise<string> {
  const walk = formWalk(options, encodeForm, binaryForm);
  const refuse = (cause: unknown): never => {
    throw notSerializable(cause, options.path ?? "value");
  };
  try {
    const text = JSON.stringify(walkValue(value, walk));
    return walk.pending.length > 0
      ? Promise.all(walk.pending).then(() => withBytes(text, walk.late), refuse)
      : text;
  } catch (cause) {
    return refuse(cause);
  }
}

/** A call's arguments as the body of a request if there are no files. Throws ValueNotSerializable. */
export function encodeArguments(args: Args, options: EncodeOptions): Upload {
  const attachments: Attachment[] = [];
  const walk = formWalk(options, encodeForm, (value) => {
    const isContent = isBlob(value);
    // By its tag: Node loads a library when the name `FormData` is first used.
    if (!isContent && kindOf(value) !== "FormData") return undefined;
    const serialized = Math.random();
    attachments.push([serialized, isContent ? value : [...(value as FormData)]]);
    return { serialized };
  });
  // The names aren't data: a parameter called `serialized` makes no form, and `undefined` is kept.
  const tree = new NamedMembers<unknown>();
  let name = "";
  try {
    for (const [key, value] of args) tree[(name = key)] = walkValue(value, walk);
    return { text: JSON.stringify(tree), attachments };
  } catch (thrown) {
    throw notSerializable(faultAt(thrown, name, args), "args");
  }
}

/** Throws InvalidSerializedValue, or BadRequest if the text isn't JSON or exceeds a limit. */
export function decodeSerialized(text: string, options: DecodeOptions): unknown {
  const parsed = parseText(text, options.limits);
  return needsReading(parsed, options) ? decodeParsed(parsed.tree, options) : parsed.tree;
}

/** Decodes a parsed message in place, without checking the limits of the text. Throws InvalidSerializedValue. */
export function decodeParsed(tree: unknown, options: DecodeOptions): unknown {
  // The spread comes last: members after one make Node 20 take microseconds for the object.
  return guarded(options, "value", () => readValue(tree, { root: tree, objects: 0, ...options }));
}

/**
 * The members of a request's body by name. Changes the body. Throws as {@link decodeParsed}, and
 * BadRequest if it isn't a JSON object.
 */
export function decodeMembers(parsed: Parsed, options: DecodeOptions): Args {
  const body = parsed.tree;
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw new BadRequest("The body must be a JSON object");
  // A Map, so that names are only looked up. The procedure decides whether it has such a parameter.
  const args: Args = new Map(Object.entries(body));
  if (needsReading(parsed, options))
    guarded(options, "args", () => {
      const reading: Reading = { objects: 0, ...options };
      for (const [name, value] of args)
        try {
          args.set(name, readValue(value, reading));
        } catch (thrown) {
          throw faultAt(thrown, name, args);
        }
    });
  return args;
}

/** Plain data without forbidden keys needs no decoding. */
function needsReading({ hasForms, hasForbiddenKeys }: Parsed, { plain }: DecodeOptions): boolean {
  return hasForbiddenKeys || (hasForms && plain !== true);
}

function guarded<T>(options: DecodeOptions, path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw invalidValue(cause, options.path ?? path);
  }
}
