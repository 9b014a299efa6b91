// The superjson encoding: `{json, meta}`. It keeps shared references and cycles, and any client
// that speaks superjson can use it. Loaded when a value first needs it.
//
// superjson writes, but we read: its own reader writes to any path that a message names, walks to
// each from the root, and loses references inside instances and sets.

import { SuperJSON } from "superjson";

import type { Args } from "../../base/call.ts";
import { BadRequest } from "../../base/errors.ts";
import { isBlob, kindOf } from "../values/binary.ts";
import { Fault, faultAt, invalidValue, notSerializable } from "../values/fault.ts";
import type { Properties } from "../instance.ts";
import type { DecodeOptions, EncodeOptions } from "../serialized.ts";
import { make } from "./superjson-build.ts";
import { type GraphWalk, graphWalk } from "./superjson-graph.ts";
import { readMeta, type Slot } from "./superjson-meta.ts";
import { type Building, put } from "./superjson-put.ts";
import { type Parsed, parseText } from "../values/text.ts";
import { walkValue } from "../values/walk.ts";

/**
 * The value as superjson's text; a promise only if it contains a Blob. Throws ValueNotSerializable, also for values
 * that superjson would change.
 */
export function encodeSuperjson(value: unknown, options: EncodeOptions): string | Promise<string> {
  return encode(options, "value", (walk) => walkValue(value, walk));
}

/**
 * A call's arguments as the body of a request. Throws as {@link encodeSuperjson}, and for files
 * unless the call came with them in this encoding: only then does it have parts for them.
 */
export function encodeSuperjsonArguments(
  args: Args,
  options: EncodeOptions,
  keepsFiles = false,
): string | Promise<string> {
  const hinting = keepsFiles ? options : { ...options, hint: fileHint };
  return encode(hinting, "args", (walk) => {
    const body: Properties = {};
    for (const [name, value] of args)
      try {
        walk.pathLength = name.length;
        body[name] = walkValue(value, walk);
      } catch (thrown) {
        throw faultAt(thrown, name, args);
      }
    return body;
  });
}

function fileHint(value: object): string | undefined {
  return isBlob(value) || kindOf(value) === "FormData"
    ? `a ${kindOf(value)} can't be sent beside a cycle, which needs superjson: pass it in a call of its own`
    : undefined;
}

/** To superjson, an instance of an application's class. */
class Parts {
  args: object = {};
  fields: object = {};
}

/** To superjson, a value of the only custom type that we use: `["custom", "Binary"]`. */
class Binary {
  type = "";
  base64 = "";
}

function encode(
  options: EncodeOptions,
  path: string,
  act: (walk: GraphWalk) => unknown,
): string | Promise<string> {
  // Writes each value once. Otherwise thirty nested references could become a thousand million
  // objects.
  const superjson = new SuperJSON({ dedupe: true });
  superjson.allowErrorProps("trace", "fields");
  const kinds = new Map<string, typeof Parts>();
  const walk = graphWalk({
    ...options,
    carriers: {
      instance: (key) => {
        let Kind = kinds.get(key);
        if (Kind === undefined) {
          kinds.set(key, (Kind = class extends Parts {}));
          superjson.registerClass(Kind, { identifier: key });
        }
        return new Kind();
      },
      binary: () => {
        superjson.registerCustom<Binary, Record<string, string>>(
          {
            isApplicable: (value): value is Binary => value instanceof Binary,
            serialize: (binary) => Object.fromEntries(Object.entries(binary)),
            // Never called: superjson doesn't read here.
            deserialize: () => new Binary(),
          },
          "Binary",
        );
        return new Binary();
      },
      error: () => new Error(),
      // superjson then writes it for every error of the message.
      allow: (member) => superjson.allowErrorProps(member),
    },
  });
  const refuse = (cause: unknown): never => {
    throw notSerializable(cause, options.path ?? path);
  };
  try {
    const graph = act(walk);
    const text = (): string => JSON.stringify(superjson.serialize(graph));
    return walk.pending.length > 0 ? Promise.all(walk.pending).then(text).catch(refuse) : text();
  } catch (cause) {
    return refuse(cause);
  }
}

/** A message that has been parsed, and perhaps searched for forbidden keys. */
type Message = Pick<Parsed, "tree"> & Partial<Parsed>;

/**
 * The value of superjson's text, which may have been parsed already. Throws InvalidSerializedValue, or BadRequest
 * if the text isn't JSON or exceeds a limit.
 */
export function decodeSuperjson(message: string | Message, options: DecodeOptions): unknown {
  return decode(message, options, "value", (root, build) => {
    let result: unknown;
    put(root.raw, root, build, (value) => {
      result = value;
    });
    return result;
  });
}

/**
 * The members of a request's body by name. Throws as {@link decodeSuperjson}, and BadRequest if
 * they aren't in an object.
 */
export function decodeSuperjsonMembers(message: string | Message, options: DecodeOptions): Args {
  const args = decode(message, options, "args", (root, build) => {
    const { raw } = root;
    if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return undefined;
    if (root.type !== undefined) throw new Fault("the arguments must be a plain object");
    // An argument may refer to the object of all arguments.
    root.state = "built";
    root.value = raw;
    const members: Args = new Map();
    for (const [name, member] of Object.entries(raw))
      try {
        // A Map, so that names are only looked up. The procedure decides whether it has such a
        // parameter.
        put(member, root.parts?.get(name), build, (value) => {
          members.set(name, value);
          if (name !== "__proto__") (raw as Properties)[name] = value;
        });
      } catch (thrown) {
        throw faultAt(thrown, name, raw);
      }
    return members;
  });
  if (args === undefined) throw new BadRequest("The body must be a JSON object");
  return args;
}

function decode<T>(
  message: string | Message,
  options: DecodeOptions,
  path: string,
  act: (root: Slot, build: Building) => T,
): T {
  const { tree: envelope, hasForbiddenKeys: suspicious = true }: Message =
    typeof message === "string" ? parseText(message, options.limits) : message;
  try {
    if (
      typeof envelope !== "object" ||
      envelope === null ||
      !Object.hasOwn(envelope, "json") ||
      Object.keys(envelope).some((key) => key !== "json" && key !== "meta")
    )
      throw new Fault("superjson must be an object of 'json' and 'meta'");
    const { json, meta } = envelope as { json: unknown; meta?: unknown };
    const root = readMeta(json, meta, options.limits.maxDepth);
    return act(root, {
      ...options,
      root,
      make,
      objects: 0,
      suspicious,
      level: 0,
      open: 0,
    });
  } catch (cause) {
    throw invalidValue(cause, options.path ?? path);
  }
}
