// Plain answers (§4.1, decisions §6): what any JSON client understands. It is a one-way street.

import { ValueNotSerializable } from "../errors.ts";
import { bytesOf, kindOf, readBlob, toBase64 } from "./binary.ts";
import { Opaque } from "./class-table.ts";
import { causeOf, describeFault, Fault } from "./fault.ts";
import { publicMessage, textOf } from "./public-message.ts";
import { hasToJson, isPolluted, type Walk, walkItems, walkMembers, walkValue } from "./walk.ts";

interface PlainWalk extends Walk {
  readonly pending: Promise<void>[];
}

/** An object as plain JSON text; a promise only when a Blob is in it. Throws ValueNotSerializable with the path. */
export function encodePlain(value: unknown, path = "result"): string | Promise<string> {
  const walk: PlainWalk = {
    pending: [],
    level: 0,
    objects: 0,
    strict: false,
    polluted: isPolluted(),
    replace: replace as Walk["replace"],
  };
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
  // A class that extends Date may have put other methods in the place of its own.
  if (value instanceof Date)
    return Object.getPrototypeOf(value) === Date.prototype ? value : new Date(value).toJSON();
  if (value instanceof URL) return value.href;
  if (value instanceof Map || value instanceof Set) return walkItems([...value], walk);
  if (value instanceof RegExp) return String(value);
  if (value instanceof Error) return { name: textOf(value.name), message: publicMessage(value) };
  // Chosen: bytes inside an object are base64 text, the usual way of JSON interfaces.
  const bytes = bytesOf(value);
  if (bytes) return toBase64(bytes);
  if (value instanceof Blob) return encodeBlob(value, walk);
  if (value instanceof Opaque) return value.form;
  const kind = kindOf(value);
  const special = kind === "Object" ? undefined : replaceKind(value, kind, walk);
  if (special !== undefined) return special.value;
  // A promise or a stream would look like an object without data.
  if ("then" in value && typeof value.then === "function")
    throw new Fault("a promise can't be sent: an await is missing");
  if (Symbol.asyncIterator in value) throw new Fault("a stream can't be sent");
  return hasToJson(value) ? shownBy(value, walk) : walkMembers(value, walk, true);
}

// What these hold is no data of their own, so they would look like objects without any.
const dataless =
  /^(Weak(Map|Set|Ref)|Generator|.* Iterator|Symbol|Request|Headers|FormData|URLSearchParams|Abort(Signal|Controller)|CryptoKey|(Intl|Temporal)\..*)$/;

/** Objects that say what they are; those of another realm are instances of nothing here. */
function replaceKind(
  value: object,
  kind: string,
  walk: PlainWalk,
): { readonly value: unknown } | undefined {
  const hint = responseHint(value);
  if (hint !== undefined) throw new Fault(hint);
  if (dataless.test(kind))
    throw new Fault(`a${/^[AEIO]/.test(kind) ? "n" : ""} ${kind} can't be sent`);
  // Boxed ones are of this realm or another; a class of the application may only call itself so.
  if (/^(Number|String|Boolean)$/.test(kind) && !(Symbol.toStringTag in value))
    return { value: walkValue(value.valueOf(), walk) };
  if (value instanceof Object) return undefined;
  switch (kind) {
    case "Date":
      return { value: new Date(value).toJSON() };
    case "URL":
      return { value: (value as URL).href };
    case "RegExp":
      return { value: RegExp.prototype.toString.call(value) };
    case "Map":
    case "Set":
      return { value: walkItems([...(value as Iterable<unknown>)], walk) };
    case "Error":
      return { value: { name: textOf((value as Error).name), message: publicMessage(value) } };
    case "ArrayBuffer":
      return { value: toBase64(new Uint8Array(value)) };
    default:
      return undefined;
  }
}

/** JSON's own rule for plain objects. An instance shows its data, whatever its class says to JSON. */
function shownBy(value: object & { toJSON: (key: string) => unknown }, walk: PlainWalk): unknown {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || Object.getPrototypeOf(prototype) === null)
    return walkValue(value.toJSON(""), walk);
  const members = Object.entries(walkMembers(value, walk, true));
  return Object.fromEntries(members.filter(([, one]) => typeof one !== "function"));
}

function encodeBlob(blob: Blob, walk: PlainWalk): object {
  let base64 = "";
  readBlob(blob, walk, (text) => (base64 = text));
  return { toJSON: () => base64 };
}

/** What to say of a `Response` that a procedure returned, or that is in what it returned. */
export function responseHint(value: object): string | undefined {
  if (kindOf(value) !== "Response") return undefined;
  return "a Response can't be returned by a procedure: return what is in it, as text, data or a Blob. Whole responses are for routes, which aren't there yet";
}
