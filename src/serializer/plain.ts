// Plain answers (§4.1, decisions §6): what any JSON client understands. It is a one-way street.

import { ValueNotSerializable } from "../errors.ts";
import { bytesOf, kindOf, readBlob, toBase64 } from "./binary.ts";
import { Opaque } from "./classes.ts";
import { causeOf, describeFault, Fault } from "./fault.ts";
import { publicMessage, textOf } from "./public-message.ts";
import { type Walk, walkMembers, walkValue } from "./walk.ts";

interface PlainWalk extends Walk {
  readonly pending: Promise<void>[];
}

/** An object as plain JSON text; a promise only when a Blob is in it. Throws ValueNotSerializable with the path. */
export function encodePlain(value: unknown, path = "result"): string | Promise<string> {
  const walk: PlainWalk = { pending: [], level: 0, objects: 0, strict: false, replace: replace as Walk["replace"] };
  // An own `toJSON` may return nothing at all.
  const text = (tree: unknown): string => JSON.stringify(tree) ?? "null";
  const refuse = (cause: unknown): never => {
    throw new ValueNotSerializable(describeFault(cause, path), causeOf(cause));
  };
  try {
    const tree = walkValue(value, walk);
    return walk.pending.length > 0
      ? Promise.all(walk.pending)
          .then(() => text(tree))
          .catch(refuse)
      : text(tree);
  } catch (cause) {
    return refuse(cause);
  }
}

function replace(value: unknown, walk: PlainWalk): unknown {
  switch (typeof value) {
    // JSON makes `null` of both by itself.
    case "undefined":
    case "number":
      return value;
    case "bigint":
      return String(value);
    case "object":
      return replaceObject(value as object, walk);
    default:
      throw new Fault(`a ${typeof value} can't be sent`);
  }
}

function replaceObject(value: object, walk: PlainWalk): unknown {
  // Both have a `toJSON` that gives the text wanted.
  if (value instanceof Date || value instanceof URL) return value;
  if (value instanceof Map || value instanceof Set) return walkValue([...value], walk);
  if (value instanceof RegExp) return String(value);
  if (value instanceof Error) return { name: textOf(value.name), message: publicMessage(value) };
  // Chosen: bytes inside an object are base64 text, the usual way of JSON interfaces.
  const bytes = bytesOf(value);
  if (bytes) return toBase64(bytes);
  if (value instanceof Blob) return encodeBlob(value, walk);
  if (value instanceof Opaque) return value.form;
  // A promise or a stream would look like an object without data.
  if ("then" in value && typeof value.then === "function") throw new Fault("a promise can't be sent: an await is missing");
  if (Symbol.asyncIterator in value) throw new Fault("a stream can't be sent");
  // What these hold is no data of their own, so they would look like objects without any. All of them have the tag.
  if (Symbol.toStringTag in value && /^(Weak(Map|Set|Ref)|Generator|.* Iterator)$/.test(kindOf(value)))
    throw new Fault(`a ${kindOf(value)} can't be sent`);
  // Chosen: `toJSON` is the language's way of saying what a plain client gets, so it goes before the own data of an instance.
  if ("toJSON" in value && typeof value.toJSON === "function") return walkValue(value.toJSON(""), walk);
  return walkMembers(value, walk, true);
}

function encodeBlob(blob: Blob, walk: PlainWalk): object {
  let base64 = "";
  readBlob(blob, walk, (text) => (base64 = text));
  return { toJSON: () => base64 };
}
