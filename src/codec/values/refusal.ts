// Reasons why objects of the platform can't be sent, and alternatives. Pages do without this: each byte of their
// codec counts.

import { kindOf } from "./binary.ts";

/** The message for a promise or similar, which would look like an object without data. */
export function pendingRefusal(value: object): string | undefined {
  if ("then" in value && typeof value.then === "function")
    return "a promise can't be sent: an await is missing";
  return Symbol.asyncIterator in value
    ? "a stream can't be sent inside of a value: make the procedure an async function* and yield* it, or answer with a route"
    : undefined;
}

/** By an object's tag, which objects of another realm have too. */
const advice: readonly (readonly [kind: RegExp, advice: string])[] = [
  [/Generator$|Iterator( Helper)?$/, "send a list of what it gives: [...values]"],
  [/^(?:URLSearchParams|Headers|FormData)$/, "send a list of its entries: [...entries]"],
  [/^Weak(?:Map|Set|Ref)$/, "send what it refers to, in a Map or a list"],
  [/^Abort(?:Signal|Controller)$/, "pass the signal on by withOptions(procedure, { signal })"],
  [/^Re(?:quest|sponse)$/, "send its content, as text, data or a Blob"],
  [/^(?:Number|String|Boolean)$/, "send its value, which valueOf() returns"],
  [/^CryptoKey$/, "send it as crypto.subtle.exportKey() returns it"],
  [/^(?:Symbol$|Intl\.|Temporal\.)/, "send its text, or what it is made from"],
];

/** The message for an object of the platform; `undefined` for any other object. */
export function refusalOf(value: object): string | undefined {
  const pending = pendingRefusal(value);
  if (pending !== undefined) return pending;
  const kind = kindOf(value);
  const found = advice.find(([kinds]) => kinds.test(kind));
  return found && `${/^[AEIO]/.test(kind) ? "an" : "a"} ${kind} can't be sent: ${found[1]}`;
}
