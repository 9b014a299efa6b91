// Lists the procedures and routes in a manifest.

import { mostOpen } from "../../../src/base/access.ts";
import {
  type Access,
  entryOf,
  type Parameter,
  type ServerManifest,
} from "../../../src/base/manifest.ts";
import { describeRoute } from "../../../src/roles/members/member-details.ts";
import { routesIn } from "../../../src/runtime/routes.ts";

/** One version of a procedure, or a route, and the segments that name it. */
export interface ManifestProcedure {
  readonly fqn: string;
  readonly version: string;
  /** The most open access among its segments. */
  readonly access: Access;
  readonly segments: readonly string[];
  readonly parameters: readonly Parameter[];
  /** Method and path of a route: `POST /webhooks/:provider`. */
  readonly route?: string;
  /** What callers from outside must pass: `auth#signedIn`. */
  readonly guard?: string;
}

/** The procedures and routes that any of these segments names [all segments]. */
export function proceduresIn(
  manifest: ServerManifest,
  names: readonly string[] = Object.keys(manifest.segments),
): readonly ManifestProcedure[] {
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
