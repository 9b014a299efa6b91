// Checks the parts of lists that other services send.

import { BadRequest } from "../../base/errors.ts";
import { readRoute } from "../../http/route-pattern.ts";
import type { RouteInfo } from "../../runtime/routes.ts";

/** Checks a list of routes. */
export function readRoutes(value: unknown): readonly RouteInfo[] {
  const wrong = (): BadRequest =>
    new BadRequest(
      '\'routes\' is not a list of routes; expected [{"name": "…", "method": "POST", "path": "/…"}]',
    );
  if (!Array.isArray(value)) throw wrong();
  return value.map((item: unknown) => {
    const { name, method, path } = (item ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof name !== "string" || name === "") throw wrong();
    if (typeof method !== "string" || typeof path !== "string") throw wrong();
    const route = readRoute(`${method} ${path}`);
    if ("message" in route) throw new BadRequest(`The route '${name}': ${route.message}`);
    return { name, ...route };
  });
}

/** Checks the time limits of procedures, in ms. A service without any doesn't send them. */
export function readTimeouts(value: unknown): ReadonlyMap<string, number> {
  const entries = Object.entries(value ?? {}) as [string, unknown][];
  const isTime = (ms: unknown): ms is number => Number.isSafeInteger(ms) && (ms as number) > 0;
  if (typeof (value ?? {}) !== "object" || !entries.every(([, ms]) => isTime(ms)))
    throw new BadRequest(
      `'timeouts' doesn't give times in ms; expected {"…": 200} with whole numbers above 0`,
    );
  return new Map(entries as [string, number][]);
}

/** Whether a value is a list of names, none of them empty. */
export function areNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string" && name !== "");
}
