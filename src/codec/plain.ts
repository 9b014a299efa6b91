// Plain answers, which any JSON client understands. The value can't be rebuilt from them.

import { bytesOf, isBlob, kindOf, readBlob, toBase64 } from "./values/binary.ts";
import { Opaque } from "./class-table.ts";
import { Fault, notSerializable } from "./values/fault.ts";
import { publicMessage, textOf } from "./values/public-message.ts";
import { pendingRefusal, refusalOf } from "./values/refusal.ts";
import {
  hasToJson,
  isPolluted,
  type Walk,
  walkItems,
  walkMembers,
  walkValue,
} from "./values/walk.ts";

interface PlainWalk extends Walk {
  readonly pending: Promise<void>[];
}

/** An object as plain JSON; a promise only if it contains a Blob. Throws ValueNotSerializable. */
export function encodePlain(value: unknown, path = "result"): string | Promise<string> {
  const walk: PlainWalk = {
    pending: [],
    level: 0,
    objects: 0,
    strict: false,
    polluted: isPolluted(),
    replace: replace as Walk["replace"],
  };
  // An own `toJSON` may return `undefined`.
  const text = (tree: unknown): string => JSON.stringify(tree) ?? "null";
  const refuse = (cause: unknown): never => {
    throw notSerializable(cause, path);
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
    // JSON writes both as `null`.
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
  // A class that extends Date may override its methods.
  if (value instanceof Date)
    return Object.getPrototypeOf(value) === Date.prototype ? value : new Date(value).toJSON();
  if (value instanceof URL) return value.href;
  if (value instanceof Map || value instanceof Set) return walkItems([...value], walk);
  if (value instanceof RegExp) return String(value);
  if (value instanceof Error) return { name: textOf(value.name), message: publicMessage(value) };
  // JSON interfaces usually have base64 text for bytes.
  const bytes = bytesOf(value);
  if (bytes) return toBase64(bytes);
  if (isBlob(value)) return encodeBlob(value, walk);
  if (value instanceof Opaque) return value.form;
  const kind = kindOf(value);
  const special = kind === "Object" ? undefined : replaceKind(value, kind, walk);
  if (special !== undefined) return special.value;
  const pending = pendingRefusal(value);
  if (pending !== undefined) throw new Fault(pending);
  return hasToJson(value) ? shownBy(value, walk) : walkMembers(value, walk, true);
}

// Their data isn't in members, so they would look like empty objects.
const dataless =
  /^(Weak(Map|Set|Ref)|Generator|.* Iterator|Symbol|Request|Headers|FormData|URLSearchParams|Abort(Signal|Controller)|CryptoKey|(Intl|Temporal)\..*)$/;

/** Selects by an object's tag: objects of another realm aren't instances of our classes. */
function replaceKind(
  value: object,
  kind: string,
  walk: PlainWalk,
): { readonly value: unknown } | undefined {
  const hint = responseHint(value);
  if (hint !== undefined) throw new Fault(hint);
  if (dataless.test(kind)) throw new Fault(refusalOf(value) ?? `a ${kind} can't be sent`);
  // Boxed values, of any realm. A class of the application may have set the same tag.
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

/**
 * `toJSON` counts for plain objects. An instance shows its data, whatever its class's `toJSON`
 * says.
 */
function shownBy(value: object & { toJSON: (key: string) => unknown }, walk: PlainWalk): unknown {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || Object.getPrototypeOf(prototype) === null)
    return walkValue(value.toJSON(""), walk);
  const members = Object.entries(walkMembers(value, walk, true));
  return Object.fromEntries(members.filter(([, member]) => typeof member !== "function"));
}

function encodeBlob(blob: Blob, walk: PlainWalk): object {
  let base64 = "";
  readBlob(blob, walk, (text) => (base64 = text));
  return { toJSON: () => base64 };
}

/** The message for a `Response` or `FormData` in a result. */
export function responseHint(value: object): string | undefined {
  if (kindOf(value) === "FormData")
    return "a procedure can't return a FormData: return its entries, as an object or a Map";
  if (kindOf(value) !== "Response") return undefined;
  return "a procedure can't return a Response: return its content, as text, data or a Blob, or make it a route ('route' in its segment entry). getContext().response sets headers and cookies";
}
