// Which segments browsers may load: those in `browserSegments`, else those that the application's
// pages start.

import { type Problem, nearest } from "../../../src/base/problem.ts";
import type { PageDemands } from "../read/pages.ts";

/** Names of the segments that browsers may load, in a fixed order. */
export function browserSegmentsOf(
  configured: readonly string[] | undefined,
  pages: PageDemands,
  segments: readonly string[],
  problems: Problem[],
): readonly string[] {
  const named =
    configured === undefined
      ? pages.started
      : new Map(configured.map((name) => [name, "browserSegments"]));
  if (configured === undefined)
    problems.push(
      ...pages.unclear.map((problem) => ({
        ...problem,
        hint:
          problem.hint ??
          'Name the segments literally, startClient("ui"), or list in "browserSegments" those that browsers may load.',
      })),
    );
  for (const [name, file] of named)
    if (!segments.includes(name)) {
      const near = nearest(name, segments);
      const available =
        segments.length === 0 ? "there are no segment files" : `there are ${segments.join(", ")}`;
      problems.push({
        file,
        message:
          configured === undefined
            ? `startClient names the segment "${name}", but ${available}`
            : `"${name}" isn't a segment: ${available}`,
        ...(near !== undefined && { hint: `Did you mean "${near}"?` }),
      });
    }
  return segments.filter((name) => named.has(name)).sort();
}
