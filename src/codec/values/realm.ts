// Values of another realm: an iframe, a popup, `vm`, jsdom. They aren't instances of our classes, but
// of classes like them.

import { ofForeignError } from "../../base/foreign-error.ts";
import { kindOf } from "./binary.ts";
import { attempt } from "./fault.ts";
import { refuseMore } from "./walk.ts";

/**
 * The same value, made by this realm's class; `undefined` if its tag names no such class, or is false. Throws a
 * {@link Fault} if it has members besides its content.
 */
export function ofThisRealm(value: object): object | undefined {
  // The platform's own methods throw if a value only has the tag.
  const own = attempt(() => made(value as never, kindOf(value)));
  if (own !== undefined && !(own instanceof Error)) refuseMore(value);
  return own;
}

function made(value: never, kind: string): object | undefined {
  switch (kind) {
    case "Date":
      return new Date(Date.prototype.getTime.call(value));
    case "Map":
      return new Map(Map.prototype.entries.call(value));
    case "Set":
      return new Set(Set.prototype.values.call(value));
    case "RegExp": {
      const { source, flags } = value as RegExp;
      return new RegExp(source, flags);
    }
    case "URL":
      return new URL((value as URL).href);
    case "ArrayBuffer":
      return new Uint8Array(new DataView(value).buffer).slice().buffer;
    default:
      return ofForeignError(value);
  }
}
