// Cookies: reads those of a request, and writes those of an answer.

import {
  parseCookie,
  parseSetCookie,
  type SetCookie as Attributes,
  stringifySetCookie,
} from "cookie";

import type { CookieOptions, RequestCookies } from "../../base/call-scope.ts";

/** The cookies of a `Cookie` field, parsed when one is first asked for. */
export class CookieReader implements RequestCookies {
  readonly #headers: ReadonlyMap<string, string>;
  #parsed: Readonly<Record<string, string | undefined>> | undefined;

  constructor(headers: ReadonlyMap<string, string>) {
    this.#headers = headers;
  }

  get(name: string): string | undefined {
    // Without a prototype, and pairs that aren't valid are skipped.
    return (this.#parsed ??= parseCookie(this.#headers.get("cookie") ?? ""))[name];
  }
}

/** Browsers silently drop larger cookies (RFC 6265, section 6.1). */
export const maxCookieBytes = 4096;

/** A cookie of an answer. Cookies with the same key replace each other in browsers. */
export interface SetCookie {
  readonly key: string;
  /** The value of `Set-Cookie`. */
  readonly text: string;
}

/** Attributes of cookies that don't set them. */
export interface CookieDefaults {
  readonly secureCookies: boolean;
  /** Where pages are, below their origin: `/shop`, or "" at its root. */
  readonly base: string;
}

/** Throws TypeError for a cookie that browsers would reject or shorten. */
export function setCookie(
  name: string,
  value: string,
  options: CookieOptions,
  defaults: CookieDefaults,
): SetCookie {
  const refuse = (problem: string): never => {
    const shown = typeof name === "string" ? JSON.stringify(name.slice(0, 64)) : typeof name;
    throw new TypeError(`The cookie ${shown} ${problem}`);
  };
  // The library allows more than RFC 6265 does.
  if (typeof name !== "string" || !/^[-!#$%&'*+.^_`|~\w]+$/.test(name))
    return refuse("needs a name of letters, digits and !#$%&'*+-.^_`|~");
  if (typeof value !== "string")
    return refuse(`needs a string as value, not ${value === null ? "null" : typeof value}`);
  const isHostCookie = typeof name === "string" && /^__Host-/i.test(name);
  const {
    // Another application may be beside this one. Without a slash at the end, as `/shop` redirects.
    path = isHostCookie || defaults.base === "" ? "/" : defaults.base,
    domain,
    httpOnly = true,
    sameSite = "lax",
    secure = defaults.secureCookies,
    partitioned = false,
  } = options;
  if (typeof path !== "string" || !path.startsWith("/"))
    refuse(`has the path '${path}', which must begin with '/'`);
  // The library takes any case, and true.
  if (!["strict", "lax", "none"].includes(sameSite))
    refuse("needs 'strict', 'lax' or 'none' as sameSite");
  const needsSecure =
    sameSite === "none"
      ? "SameSite=None"
      : partitioned
        ? "Partitioned"
        : /^__(?:Secure|Host)-/i.exec(name)?.[0];
  if (!secure && needsSecure !== undefined) refuse(`needs 'secure: true' for ${needsSecure}`);
  if (isHostCookie && (path !== "/" || domain !== undefined))
    refuse("begins with __Host-, so it can't have a domain, or another path than '/'");
  let text: string;
  try {
    const cookie = { ...options, name, value, path, httpOnly, sameSite, secure };
    // Undefined attributes aren't written, although the type doesn't allow them.
    text = stringifySetCookie(cookie as Attributes);
  } catch (cause) {
    throw new TypeError(cause instanceof Error ? cause.message : "The cookie is invalid", {
      cause,
    });
  }
  if (text.length > maxCookieBytes)
    refuse(
      `has ${text.length} bytes with its attributes; browsers drop cookies over ${maxCookieBytes}`,
    );
  return { key: JSON.stringify([name, path, domain?.toLowerCase().replace(/^\./, "")]), text };
}

/** Whether a `Set-Cookie` changes a cookie, by the request's `Cookie`. */
export function changesCookie(text: string, sent: string | undefined): boolean {
  const { name, value, maxAge, expires } = parseSetCookie(text);
  const isGone = maxAge === undefined ? expires && expires.getTime() <= Date.now() : maxAge <= 0;
  return parseCookie(sent ?? "")[name] !== (isGone === true ? undefined : value);
}

/** For the other end: reads `Set-Cookie`, and writes `Cookie`. */
export { parseSetCookie, stringifyCookie } from "cookie";
