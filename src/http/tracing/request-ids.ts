// The id of an outer request, which connects the log lines of several services.

import type { HeaderFields } from "../../base/ports.ts";

/** Carries the id of a request, which proxies in front often set. */
export const requestIdHeader = "x-request-id";

/** Longer ids aren't taken, so that services may add these fields to any request that they accept. */
export const longestId = 64;

const isId = /^[\w.-]{1,64}$/;

/** The id of a request; `undefined` if it has none that is fit for a log. */
export function requestIdOf(fields: HeaderFields): string | undefined {
  const id = fields[requestIdHeader];
  return typeof id === "string" && isId.test(id) ? id : undefined;
}
