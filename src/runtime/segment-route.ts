// The fields of a segment entry that make an export a route.

import { readRoute, type RoutePattern } from "../http/route-pattern.ts";

export interface RouteFields {
  readonly route?: RoutePattern;
  readonly crossSite?: true;
  readonly bodyBytes?: number;
}

/** Fields of a route. */
export const routeFields = ["route", "crossSite", "bodyBytes"] as const;

/** Fields of a call, which a route can't have: it is found by its path alone. */
export const procedureFields = [
  "version",
  "as",
  "safe",
  "idempotent",
  "resume",
  "timeoutMs",
  "validate",
  "extra",
] as const;

/**
 * Reads `route`, `crossSite` and `bodyBytes`, and refuses fields that don't go together.
 * `undefined` if a field is wrong.
 */
export function readRouteFields(
  entry: Readonly<Record<string, unknown>>,
  refuse: (field: string, message: string, hint?: string) => void,
): RouteFields | undefined {
  let valid = true;
  const wrong = (field: string, message: string, hint?: string): void => {
    valid = false;
    refuse(field, message, hint);
  };
  const { route: text, crossSite, bodyBytes } = entry;
  if (text === undefined) {
    for (const field of ["crossSite", "bodyBytes"] as const)
      if (entry[field] !== undefined)
        wrong(
          field,
          `"${field}" belongs to a route, and this entry has no "route"`,
          'Add "route": "POST /webhooks/:provider", or remove it.',
        );
    return valid ? {} : undefined;
  }
  const route =
    typeof text === "string"
      ? readRoute(text)
      : {
          message: "expected a method and a path as text",
          hint: 'Write "route": "POST /webhooks/:provider".',
        };
  if ("message" in route) wrong("route", route.message, route.hint);
  for (const field of procedureFields)
    if (entry[field] !== undefined)
      wrong(
        field,
        `a route has no "${field}": it is found by its path, and can't be called`,
        `Remove "${field}", or "route" if the function is a procedure.`,
      );
  if (crossSite !== undefined && typeof crossSite !== "boolean")
    wrong("crossSite", "expected true or false");
  if (bodyBytes !== undefined && !(Number.isSafeInteger(bodyBytes) && (bodyBytes as number) > 0))
    wrong(
      "bodyBytes",
      `expected a whole number of bytes above 0, found ${JSON.stringify(bodyBytes)}`,
      "Leave it out for no limit.",
    );
  if (!valid || "message" in route) return undefined;
  return {
    route,
    ...(crossSite === true && { crossSite: true }),
    ...(typeof bodyBytes === "number" && { bodyBytes }),
  };
}
