// Addresses in a configuration: scheme, host and port, and nothing more; and the hosts of a gateway's members.

import { parseRange } from "../src/ip.ts";

/** The form of an address; what stands in it, only `URL` knows. Part of the JSON Schema. */
export const addressPattern: RegExp =
  /^https?:\/\/(?:\[[\da-fA-F:.]+\]|[^\s/?#@:\\[\]]+)(?::\d{1,5})?\/?$/;

/** A host name alone, or `*` for all of them. */
export const hostPattern: RegExp = /^(?:\*|[^\s/?#@:\\[\]*,%]+)$/;

/** What is wrong with an address, or `undefined`. */
export function addressProblem(value: string): string | undefined {
  const expected = `expected an address such as http://127.0.0.1:3000, found '${value}'`;
  if (!URL.canParse(value)) return expected;
  const url = new URL(value);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return `expected an address that begins with http:// or https://, found '${value}'`;
  // Not shown: it may be a secret.
  if (url.username !== "" || url.password !== "")
    return "an address can't hold a user name or password";
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "")
    return `expected host and port only: '${url.origin}', found '${value}'`;
  return addressPattern.test(value) ? undefined : expected;
}

/** `tls` and the scheme of `url` belong together: an address that nothing answers at must not be told to others. */
export function schemeProblem(
  url: string,
  hasTls: boolean,
): { readonly message: string; readonly hint: string } | undefined {
  if (url.startsWith("https:") === hasTls) return undefined;
  return hasTls
    ? {
        message: `a service with 'tls' listens with https, found '${url}'`,
        hint: `Write '${url.replace(/^http:/, "https:")}', or leave 'tls' out`,
      }
    : {
        message: `https takes a certificate: '${url}' without 'tls'`,
        hint: 'Add "tls": { "cert": "./cert.pem", "key": "./key.pem" }, or give the http address and put a proxy with the certificate in front',
      };
}

/** What is likely wrong where a node tells its gateway an address at which only its own machine finds it, or `undefined`. */
export function joiningWarning(url: string, gateway: string): string | undefined {
  const { hostname } = new URL(url);
  if (hostname !== "0.0.0.0" && hostname !== "[::]") return undefined;
  return `the gateway ${gateway} is told '${url}', where no machine can call this node, so it refuses it: 'url' is also how others reach this node, so give it the host name or address that they know`;
}

/** The form of an entry of `members`; which numbers an address may hold, only its reading knows. Part of the JSON Schema. */
export const memberPattern: RegExp = /^[^\s/?#@[\]]+(?:\/\d{1,3})?$/;

/** What is wrong with an entry of `members`, or `undefined`. */
export function memberProblem(value: string): string | undefined {
  if (parseRange(value) !== undefined) return undefined;
  // What only looks like an address would be a name that nobody has.
  const isName =
    /^[a-z\d_](?:[a-z\d_-]*[a-z\d_])?(?:\.[a-z\d_](?:[a-z\d_-]*[a-z\d_])?)*\.?$/i.test(value) &&
    !/^[\d.]+$/.test(value);
  return isName
    ? undefined
    : `expected a host name, an address or a range such as 10.0.0.0/8, found '${value}'`;
}
