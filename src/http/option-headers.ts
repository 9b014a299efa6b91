// The headers that applications set for a call: `withOptions`, `runProcedure` and `startClient`.

import { checkedHeader } from "./header-field.ts";

/** Headers that a call sets, by lower-case name; `undefined` removes one that it would inherit. */
export type OwnHeaders = ReadonlyMap<string, string | undefined>;

// They belong to one message or one connection, or services trust them as facts about a call.
const refused =
  /^(host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|content-.*|accept-encoding|origin|sec-.*|x-svc-.*)$/;

// A browser sets these itself, and would silently drop ours.
const refusedInPages =
  /^(cookie2?|set-cookie2?|referer|date|dnt|via|accept-charset|access-control-request-.*)$/;

/**
 * Checks headers that an application set: an object, or pairs as in `Headers` and maps. `setBy`
 * names the place in error messages.
 */
export function readOptionHeaders(headers: unknown, setBy: string, isPage: boolean): OwnHeaders {
  const own = new Map<string, string | undefined>();
  if (headers === undefined || headers === null) return own;
  if (typeof headers !== "object")
    throw new TypeError(
      `${setBy}: 'headers' must be an object with names and values, not a ${typeof headers}`,
    );
  const pairs: Iterable<readonly unknown[]> =
    Symbol.iterator in headers
      ? (headers as Iterable<readonly unknown[]>)
      : Object.entries(headers);
  for (const pair of pairs) {
    if (!Array.isArray(pair)) throw new TypeError(`${setBy}: 'headers' must have pairs`);
    const [field, value] = pair as readonly unknown[];
    const isRemoved = value === undefined || value === null;
    const name = checkedHeader(field, isRemoved ? "" : value);
    if (!isRemoved && (refused.test(name) || (isPage && refusedInPages.test(name))))
      throw new TypeError(`${setBy} can't set the header '${name}': ${reason(name, isPage)}`);
    own.set(name, isRemoved ? undefined : (value as string));
  }
  return own;
}

function reason(name: string, isPage: boolean): string {
  if (isPage && name === "cookie") return "the browser sends its cookies by itself";
  return isPage && !name.startsWith("x-svc-")
    ? "the browser and Seamline set it"
    : "Seamline sets it for each request";
}
