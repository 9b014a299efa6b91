// Lists the procedures and routes in a manifest.

import { mostOpen } from "../../base/access.ts";
import { type Access, entryOf, type ServerManifest } from "../../base/manifest.ts";
import { routesIn } from "../../runtime/routes.ts";
import { describeRoute, type MemberProcedure } from "./member-details.ts";

/**
 * The procedures and routes that any of these segments names [all segments], each with the most
 * open access among them.
 */
export function proceduresIn(
  manifest: ServerManifest,
  names: readonly string[] = Object.keys(manifest.segments),
): readonly MemberProcedure[] {
  const { procedures, segments } = manifest;
  const entries = new Map<number, { segment: string; access: Access; guard?: string }[]>();
  for (const segment of names)
    for (const { procedure, access, guard } of entryOf(segments, segment) ?? []) {
      const list = entries.get(procedure) ?? [];
      entries.set(procedure, list);
      list.push({ segment, access, ...(guard !== undefined && { guard }) });
    }
  const called = procedures.flatMap(({ fqn, version, parameters }, index) => {
    const named = entries.get(index);
    if (named === undefined) return [];
    const access = mostOpen(named.map((entry) => entry.access));
    const { guard } = named.find((entry) => entry.guard !== undefined) ?? {};
    return [
      {
        fqn,
        version,
        access,
        segments: named.map(({ segment }) => segment),
        parameters,
        ...(guard !== undefined && { guard }),
      },
    ];
  });
  return [...called, ...[...routesIn(manifest, names).values()].map(describeRoute)];
}
