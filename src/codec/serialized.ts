// The `serialized` encoding, as the rest of the runtime calls it.

import type { Args } from "../base/call.ts";
import { BadRequest } from "../base/errors.ts";
import type { ClassTable } from "./class-table.ts";
import { type Reading, readValue } from "./decode.ts";
import { formWalk, type WalkOptions } from "./encode.ts";
import { binaryForm, kindOf } from "./values/binary.ts";
import { faultAt, invalidValue, notSerializable } from "./values/fault.ts";
import type { Properties } from "./instance.ts";
import type { ValueLimits } from "./values/limits.ts";
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
  /** No header asked for the encoding, so what looks like a form is data. */
  readonly plain?: boolean;
  /** Reads the forms of a call's files. Throws a Fault for any other form. */
  readonly files?: ((form: Properties) => unknown) | undefined;
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
  const walk = formWalk(options, binaryForm);
  const path = options.path ?? "value";
  const tree = refusing(path, () => walkValue(value, walk));
  return walk.pending.length > 0
    ? Promise.all(walk.pending).then(
        () => JSON.stringify(tree),
        (cause: unknown) => refuse(cause, path),
      )
    : refusing(path, () => JSON.stringify(tree));
}

/** A call's arguments as the body of a request if there are no files. Throws ValueNotSerializable. */
export function encodeArguments(args: Args, options: EncodeOptions): Upload {
  const attachments: Attachment[] = [];
  const walk = formWalk(options, (value) => {
    const isBlob = value instanceof Blob;
    // By its tag: Node loads a library for the name `FormData`.
    if (!isBlob && kindOf(value) !== "FormData") return undefined;
    const serialized = Math.random();
    attachments.push([serialized, isBlob ? value : [...(value as FormData)]]);
    return { serialized };
  });
  // The names aren't data: a parameter called `serialized` makes no form, and `undefined` is kept.
  const tree = Object.create(null) as Properties;
  let name = "";
  try {
    for (const [key, value] of args) tree[(name = key)] = walkValue(value, walk);
    return { text: JSON.stringify(tree), attachments };
  } catch (thrown) {
    throw notSerializable(faultAt(thrown, name, args), "args");
  }
}

function refusing<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    return refuse(cause, path);
  }
}

function refuse(cause: unknown, path: string): never {
  throw notSerializable(cause, path);
}

/** Throws InvalidSerializedValue, or BadRequest for what isn't JSON or exceeds a limit. */
export function decodeSerialized(text: string, options: DecodeOptions): unknown {
  return decodeParsed(parseText(text, options.limits), options);
}

/** Decodes in place what has been parsed already. Throws InvalidSerializedValue. */
export function decodeParsed(parsed: Parsed, options: DecodeOptions): unknown {
  const { tree } = parsed;
  return needsReading(parsed, options)
    ? guarded(options, "value", () => readValue(tree, { ...options, root: tree, objects: 0 }))
    : tree;
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
      const reading: Reading = { ...options, objects: 0 };
      for (const [name, value] of args)
        try {
          args.set(name, readValue(value, reading));
        } catch (thrown) {
          throw faultAt(thrown, name, args);
        }
    });
  return args;
}

/** Plain data without forbidden keys is what it stands for. */
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
