// Lists the procedures in a manifest.

import { mostOpen } from "../../../src/base/access.ts";
import { type Access, entryOf, type Manifest, type Parameter } from "../../../src/base/manifest.ts";

/** One version of a procedure, and the segments that name it. */
export interface ManifestProcedure {
  readonly fqn: string;
  readonly version: string;
  /** The most open access among its segments. */
  readonly access: Access;
  readonly segments: readonly string[];
  readonly parameters: readonly Parameter[];
}

/** The procedures that any of these segments names [all segments]. */
export function proceduresIn(
  { procedures, segments }: Manifest,
  names: readonly string[] = Object.keys(segments),
): readonly ManifestProcedure[] {
  const entries = new Map<number, { segment: string; access: Access }[]>();
  for (const segment of names)
    for (const { procedure, access } of entryOf(segments, segment) ?? []) {
      const list = entries.get(procedure) ?? [];
      entries.set(procedure, list);
      list.push({ segment, access });
    }
  return procedures.flatMap(({ fqn, version, parameters }, index) => {
    const named = entries.get(index);
    if (named === undefined) return [];
    const access = mostOpen(named.map((entry) => entry.access));
    return [{ fqn, version, access, segments: named.map(({ segment }) => segment), parameters }];
  });
}
