// Checks the origin of console requests by the headers that browsers set, and reads their bodies.

import type { HeaderFields, HttpRequest } from "../../../src/base/ports.ts";
import { parsedUrl } from "../../../src/base/url.ts";

/** Sent by a page of another site, or of another port of this machine. */
export function isCrossOrigin(fields: HeaderFields): boolean {
  const site = fields["sec-fetch-site"];
  return site !== undefined && site !== "same-origin" && site !== "none";
}

/** Sent by a page of this service: no script can choose its `Origin`. */
export function isFromOwnPage(fields: HeaderFields): boolean {
  const { origin, host } = fields;
  return (
    typeof origin === "string" &&
    typeof host === "string" &&
    parsedUrl(origin)?.host === host.toLowerCase()
  );
}

/**
 * Sent to a loopback name. Protects against DNS rebinding, where an attacker's name resolves here.
 */
export function isForLoopback(fields: HeaderFields): boolean {
  const { host } = fields;
  const hostname = typeof host === "string" ? parsedUrl(`http://${host}`)?.hostname : undefined;
  return /^(?:localhost|[\w.-]+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname ?? "");
}

export function isJson(fields: HeaderFields): boolean {
  return /^application\/json\s*(?:;|$)/i.test(String(fields["content-type"] ?? ""));
}

/** The strings of a small JSON object, by key; none if the body is anything else. */
export async function readStrings(
  request: HttpRequest,
  limit: number,
): Promise<ReadonlyMap<string, string>> {
  const body = new TextDecoder().decode(await request.readBody(limit));
  try {
    const value: unknown = JSON.parse(body);
    return new Map(
      Object.entries(value as object).filter(
        (entry): entry is [string, string] => typeof entry[1] === "string",
      ),
    );
  } catch {
    return new Map();
  }
}
