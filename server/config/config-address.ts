// Addresses in a configuration: scheme, host and port, nothing more.

import { parseAddress } from "../../src/base/ip.ts";
import type { Config } from "./config-types.ts";
import { parsedUrl } from "../../src/base/url.ts";

/** The form of an address, for the JSON Schema; only `URL` knows whether it is valid. */
export const addressPattern: RegExp =
  /^https?:\/\/(?:\[[\da-fA-F:.]+\]|[^\s/?#@:\\[\]]+)(?::\d{1,5})?\/?$/;

/** A host name alone, or `*` for all of them. */
export const hostPattern: RegExp = /^(?:\*|[^\s/?#@:\\[\]*,%]+)$/;

/** Where a socket listens: a host name or an address, without scheme and port. */
export const listenPattern: RegExp = /^[^\s/?#@\\[\]*,%]+$/;

export const expectedAddress = "expected an address such as http://127.0.0.1:3000";

/** The problem of an address, or `undefined`. */
export function addressProblem(
  value: string,
  expected: string = expectedAddress,
): string | undefined {
  const malformed = `${expected}, found '${value}'`;
  const url = parsedUrl(value);
  if (url === undefined) return malformed;
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return `expected an address that begins with http:// or https://, found '${value}'`;
  // The address isn't shown, as it holds a secret.
  if (url.username !== "" || url.password !== "")
    return "an address can't contain a user name or password";
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "")
    return `expected host and port only: '${url.origin}', found '${value}'`;
  return addressPattern.test(value) ? undefined : malformed;
}

/**
 * `tls` and the scheme of `url` belong together: otherwise others would be told an address at which
 * nothing answers.
 */
export function schemeProblem(
  url: string,
  hasTls: boolean,
): { readonly message: string; readonly hint: string } | undefined {
  if (url.startsWith("https:") === hasTls) return undefined;
  return hasTls
    ? {
        message: `a service with 'tls' listens with https, found '${url}'`,
        hint: `Write '${url.replace(/^http:/, "https:")}', or remove 'tls'`,
      }
    : {
        message: `https needs a certificate, but there is no 'tls' for '${url}'`,
        hint: 'Add "tls": { "cert": "./cert.pem", "key": "./key.pem" }, or use http and put a proxy with the certificate in front',
      };
}

/**
 * A warning if other machines can reach a service whose configuration doesn't set `errors`. A
 * repository runs no code that throws them.
 */
export function errorsWarning(
  { mode, url, errors }: Pick<Config, "mode" | "url" | "errors">,
  file: string,
): string | undefined {
  if (errors !== undefined || mode === "repository" || isLoopback(new URL(url).hostname))
    return undefined;
  return `${file}: 'errors' isn't set, so callers read the messages of this application's errors: set it to "masked" to hide them, or to "shown"`;
}

/** Whether only programs on this machine can reach the host. */
export function isLoopback(host: string): boolean {
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  const address = parseAddress(host.replace(/^\[|\]$/g, ""));
  if (address === undefined) return false;
  return address.length === 4
    ? address[0] === 127
    : String(address) === String(parseAddress("::1"));
}
