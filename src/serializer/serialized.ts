// The first encoding (§2.3, decisions §3): what the rest of the runtime calls.

import type { Args } from "../call.ts";
import { BadRequest, InvalidSerializedValue, ValueNotSerializable } from "../errors.ts";
import type { ClassTable } from "./class-table.ts";
import { type Reading, readValue } from "./decode.ts";
import { formWalk, type WalkOptions } from "./encode.ts";
import { causeOf, describeFault, faultAt } from "./fault.ts";
import type { Members } from "./instance.ts";
import type { ValueLimits } from "./limits.ts";
import { parseText } from "./text.ts";
import { type FormWalk, walkValue } from "./walk.ts";

export interface EncodeOptions extends WalkOptions {
  /** What the value is called in messages: `result`. */
  readonly path?: string;
}

export interface DecodeOptions {
  readonly classes: ClassTable;
  readonly limits: ValueLimits;
  /** The sender may use the RegExp and Error forms (decisions §3). */
  readonly trusted: boolean;
  /** What the value is called in messages: `args`. */
  readonly path?: string;
  /** No header asked for the encoding: what looks like a form is data. */
  readonly plain?: boolean;
  /** HTTP status of the answer whose body this is: the nearest class for an error that isn't known here. */
  readonly status?: number;
}

/** The serialized form of `value` (§2.3) as JSON text; a promise only when a Blob is in it. Throws ValueNotSerializable with the path. */
export function encodeSerialized(value: unknown, options: EncodeOptions): string | Promise<string> {
  return encode(options, "value", (walk) => walkValue(value, walk));
}

/** A call's arguments as the body of a request (§4.2); a promise only when a Blob is in it. Throws ValueNotSerializable with the path. */
export function encodeArguments(args: Args, options: EncodeOptions): string | Promise<string> {
  return encode(options, "args", (walk) => {
    // The names are no data, so neither is a parameter `serialized` a marker nor is `undefined` left out.
    const body = Object.create(null) as Members;
    for (const [name, value] of args)
      try {
        body[name] = walkValue(value, walk);
      } catch (thrown) {
        throw faultAt(thrown, name, args);
      }
    return body;
  });
}

function encode(
  options: EncodeOptions,
  path: string,
  act: (walk: FormWalk) => unknown,
): string | Promise<string> {
  const walk = formWalk(options);
  const refuse = (cause: unknown): never => {
    throw new ValueNotSerializable(describeFault(cause, options.path ?? path), causeOf(cause));
  };
  try {
    const tree = act(walk);
    return walk.pending.length > 0
      ? Promise.all(walk.pending)
          .then(() => JSON.stringify(tree))
          .catch(refuse)
      : JSON.stringify(tree);
  } catch (cause) {
    return refuse(cause);
  }
}

/** The value of a serialized form. Throws InvalidSerializedValue with the path, or BadRequest for what is no JSON or past a limit. */
export function decodeSerialized(text: string, options: DecodeOptions): unknown {
  return decodeParsed(parseText(text, options.limits), text, options);
}

/** The value of a form that is parsed already, from a sender whose messages need no measuring. `tree` is changed. Throws InvalidSerializedValue. */
export function decodeParsed(tree: unknown, text: string, options: DecodeOptions): unknown {
  return suspicious.test(text)
    ? guarded(options, "value", () => readValue(tree, { ...options, root: tree, objects: 0 }))
    : tree;
}

/**
 * The members of a request's body by name (§4.2), which may have been parsed already and is changed. Throws as {@link decodeSerialized}, and
 * BadRequest for what is no JSON object.
 */
export function decodeMembers(
  text: string,
  options: DecodeOptions,
  body: unknown = parseText(text, options.limits),
): Args {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw new BadRequest("The body must be a JSON object");
  // The names are looked up, never written: whether there is such a parameter is the procedure's affair.
  const args: Args = new Map(Object.entries(body));
  if (suspicious.test(text))
    guarded(options, "args", () => {
      const reading: Reading = { ...options, objects: 0 };
      for (const [name, one] of args)
        try {
          args.set(name, readValue(one, reading));
        } catch (thrown) {
          throw faultAt(thrown, name, args);
        }
    });
  return args;
}

// What holds neither a form nor a refused key, nor escapes that either could hide behind, needs no walk.
const suspicious = /"serialized"|\\u|__proto__|"constructor"|"prototype"/;

function guarded<T>(options: DecodeOptions, path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new InvalidSerializedValue(describeFault(cause, options.path ?? path), causeOf(cause));
  }
}
