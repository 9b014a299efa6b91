// Routes in the text output of `seamline inspect`.

import type { Paint } from "../../base/paint.ts";
import type { InspectedRoute } from "../../report/inspection.ts";

/** Pattern, access and name of the routes of a segment. */
export function routeRows(
  segment: string,
  routes: readonly InspectedRoute[],
): readonly (readonly string[])[] {
  return routes.flatMap(({ name, method, path, segments }) =>
    segments
      .filter((entry) => entry.name === segment)
      .map(({ access }) => [`  ${method} ${path}`, access, name]),
  );
}

/** Pattern, declaration and segments of each route. */
export function routeDetails(
  routes: readonly InspectedRoute[],
  { paint }: { readonly paint: Paint },
): readonly string[] {
  return routes.flatMap(({ name, method, path, file, line, column, segments }) => [
    "",
    `${paint("bold", name)} ${method} ${path}`,
    `  declared     ${file}:${line}:${column}`,
    `  segments     ${segments.map((segment) => `${segment.name} (${segment.access})`).join(", ")}`,
  ]);
}
