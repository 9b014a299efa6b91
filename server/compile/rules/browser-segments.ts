// Segments for browsers: those in `browserSegments`, else those that the application's pages start.

import { type Problem, nearest } from "../../../src/base/problem.ts";
import type { ApplicationGraph } from "../cut/application.ts";

/** Refuses names of segments that don't exist, and starts that don't say which they mean. */
export function browserSegments({
  segments,
  configuredSegments,
  demands,
}: Pick<ApplicationGraph, "segments" | "configuredSegments" | "demands">): readonly Problem[] {
  const names = segments.map(({ name }) => name);
  const available =
    names.length === 0 ? "there are no segment files" : `there are ${names.join(", ")}`;
  const unknown = (name: string, file: string, subject: string, joint: string): Problem[] => {
    if (names.includes(name)) return [];
    const near = nearest(name, names);
    return [
      {
        file,
        message: `${subject}${joint} ${available}`,
        ...(near !== undefined && { hint: `Did you mean "${near}"?` }),
      },
    ];
  };
  if (configuredSegments !== undefined)
    return configuredSegments.flatMap((name) =>
      unknown(name, "browserSegments", `"${name}" isn't a segment`, ":"),
    );
  const unclear = demands.unclear.map((problem) => ({ hint: nameThem, ...problem }));
  const started = [...demands.started].flatMap(([name, file]) =>
    unknown(name, file, `startClient names the segment "${name}"`, ", but"),
  );
  return [...unclear, ...started];
}

const nameThem =
  'Name the segments literally, startClient("ui"), or list in "browserSegments" those that browsers may load.';
