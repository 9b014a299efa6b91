// Which segments browsers may load (decisions §6): `clients`, else what the application's own pages start.

import { type Problem, nearest } from "../../src/problem.ts";
import type { PageDemands } from "./pages.ts";

/** Names of the segments that browsers may load, in a fixed order. */
export function clientSegments(
  configured: readonly string[] | undefined,
  pages: PageDemands,
  segments: readonly string[],
  problems: Problem[],
): readonly string[] {
  const named =
    configured === undefined ? pages.started : new Map(configured.map((name) => [name, "clients"]));
  if (configured === undefined)
    problems.push(
      ...pages.unclear.map((problem) => ({
        ...problem,
        hint:
          problem.hint ??
          'Name the segments literally, startClient("ui"), or list in "clients" those that browsers may load.',
      })),
    );
  for (const [name, file] of named)
    if (!segments.includes(name)) {
      const near = nearest(name, segments);
      const those =
        segments.length === 0 ? "there are no segment files" : `there are ${segments.join(", ")}`;
      problems.push({
        file,
        message:
          configured === undefined
            ? `startClient names the segment "${name}", but ${those}`
            : `"${name}" is no segment: ${those}`,
        ...(near !== undefined && { hint: `Did you mean "${near}"?` }),
      });
    }
  return segments.filter((name) => named.has(name)).sort();
}
