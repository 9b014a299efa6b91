// The second encoding (decisions §3): superjson's `{json, meta}`. It keeps what the first can't, shared references and cycles, and any
// client that speaks superjson can use it. Loaded when a value first needs it.
//
// superjson writes; reading is ours. Its own reader sets what it is told at whatever path it is told, walks to each from the root, and
// loses references inside of instances and of sets.

import { SuperJSON } from "superjson";

import type { Args } from "../call.ts";
import { BadRequest, InvalidSerializedValue, ValueNotSerializable } from "../errors.ts";
import { causeOf, describeFault, Fault, faultAt } from "./fault.ts";
import type { Members } from "./instance.ts";
import type { DecodeOptions, EncodeOptions } from "./serialized.ts";
import { type Building, put } from "./superjson-build.ts";
import { type GraphWalk, graphWalk } from "./superjson-graph.ts";
import { type Place, readMeta } from "./superjson-meta.ts";
import { parseText } from "./text.ts";
import { walkValue } from "./walk.ts";

/**
 * superjson's text for `value`; a promise only when a Blob is in it. Throws ValueNotSerializable with the path, also for what superjson would
 * lose.
 */
export function encodeSuperjson(value: unknown, options: EncodeOptions): string | Promise<string> {
  return encode(options, "value", (walk) => walkValue(value, walk));
}

/** A call's arguments as the body of a request (§4.2). Promises and throws as {@link encodeSuperjson}. */
export function encodeSuperjsonArguments(
  args: Args,
  options: EncodeOptions,
): string | Promise<string> {
  return encode(options, "args", (walk) => {
    const body: Members = {};
    for (const [name, value] of args)
      try {
        walk.written = name.length;
        body[name] = walkValue(value, walk);
      } catch (thrown) {
        throw faultAt(thrown, name, args);
      }
    return body;
  });
}

// What superjson takes for an instance of an application's class.
class Parts {
  args: object = {};
  fields: object = {};
}

// What it takes for one of the annotation ["custom", "Binary"], the one custom type that is used.
class Binary {
  type = "";
  base64 = "";
}

function encode(
  options: EncodeOptions,
  path: string,
  act: (walk: GraphWalk) => unknown,
): string | Promise<string> {
  const stacks = options.stacks === true;
  // Each value once, where superjson comes to it first: otherwise thirty references would be a thousand million objects.
  const superjson = new SuperJSON({ dedupe: true });
  superjson.allowErrorProps("trace", "fields", ...(stacks ? ["stack"] : []));
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
            isApplicable: (one): one is Binary => one instanceof Binary,
            serialize: (one) => Object.fromEntries(Object.entries(one)),
            // Reading is ours.
            deserialize: () => new Binary(),
          },
          "Binary",
        );
        return new Binary();
      },
      error: (isDom) => {
        // Written of every error of the message from then on.
        if (isDom) superjson.allowErrorProps("dom");
        return new Error();
      },
    },
  });
  const refuse = (cause: unknown): never => {
    throw new ValueNotSerializable(describeFault(cause, options.path ?? path), causeOf(cause));
  };
  try {
    const graph = act(walk);
    const text = (): string => JSON.stringify(superjson.serialize(graph));
    return walk.pending.length > 0 ? Promise.all(walk.pending).then(text).catch(refuse) : text();
  } catch (cause) {
    return refuse(cause);
  }
}

/**
 * The value of superjson's text, which may have been parsed already. Throws InvalidSerializedValue with the path, or BadRequest for what is no
 * JSON or past a limit.
 */
export function decodeSuperjson(
  text: string,
  options: DecodeOptions,
  tree: unknown = parseText(text, options.limits),
): unknown {
  return decode(text, tree, options, "value", (place, build) => {
    let value: unknown;
    put(place.raw, place, build, (one) => {
      value = one;
    });
    return value;
  });
}

/** The members of a request's body by name (§4.2). Throws as {@link decodeSuperjson}, and BadRequest when they are those of no object. */
export function decodeSuperjsonMembers(
  text: string,
  options: DecodeOptions,
  tree: unknown = parseText(text, options.limits),
): Args {
  const args = decode(text, tree, options, "args", (root, build) => {
    const { raw } = root;
    if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return undefined;
    if (root.type !== undefined) throw new Fault("the arguments are a plain object");
    // An argument may be the object of all of them.
    root.state = "built";
    root.value = raw;
    const members: Args = new Map();
    for (const [name, one] of Object.entries(raw))
      try {
        // The names are looked up, never written: whether there is such a parameter is the procedure's affair.
        put(one, root.parts?.get(name), build, (value) => {
          members.set(name, value);
          if (name !== "__proto__") (raw as Members)[name] = value;
        });
      } catch (thrown) {
        throw faultAt(thrown, name, raw);
      }
    return members;
  });
  if (args === undefined) throw new BadRequest("The body must be a JSON object");
  return args;
}

const suspicious = /\\u|__proto__|"constructor"|"prototype"/;

function decode<T>(
  text: string,
  envelope: unknown,
  options: DecodeOptions,
  path: string,
  act: (place: Place, build: Building) => T,
): T {
  try {
    if (
      typeof envelope !== "object" ||
      envelope === null ||
      !("json" in envelope) ||
      Object.keys(envelope).some((key) => key !== "json" && key !== "meta")
    )
      throw new Fault("superjson is an object of 'json' and 'meta'");
    const { json, meta } = envelope as { json: unknown; meta?: unknown };
    const place = readMeta(json, meta, options.limits.depth);
    return act(place, {
      ...options,
      place,
      objects: 0,
      suspicious: suspicious.test(text),
      level: 0,
      open: 0,
    });
  } catch (cause) {
    throw new InvalidSerializedValue(describeFault(cause, options.path ?? path), causeOf(cause));
  }
}
