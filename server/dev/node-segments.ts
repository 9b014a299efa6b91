// The nodes of a session, their segments, and the procedures and routes that they answer from outside.

import { callableIn, isCallable } from "../../src/base/access.ts";
import {
  defaultServerSegments,
  entryOf,
  type RouteEntry,
  type ServerManifest,
} from "../../src/base/manifest.ts";
import { nearest } from "../../src/base/problem.ts";
import { createRouteTable, type RouteTable } from "../../src/http/route-table.ts";

/** Node → segments that it holds. */
export type NodeSegments = Readonly<Record<string, readonly string[]>>;

/** The name of pages in lists of nodes. */
export const page = "page";

/** Without `nodeSegments`, each segment that servers run has a node under its name. */
export function segmentsByNode(
  nodeSegments: NodeSegments | undefined,
  segments: readonly string[],
  browserSegments: readonly string[],
): NodeSegments {
  if (nodeSegments === undefined)
    return Object.fromEntries(
      defaultServerSegments(segments, browserSegments).map((name) => [name, [name]]),
    );
  return Object.fromEntries(
    Object.entries(nodeSegments).map(([node, named]) => [
      node,
      named.filter((name) => segments.includes(name)),
    ]),
  );
}

/** Where a procedure of these segments is: names of nodes, and {@link page}. */
export function locationsOf(
  nodeSegments: NodeSegments | undefined,
  segments: readonly string[],
  browserSegments: readonly string[],
): readonly string[] {
  const nodes = Object.entries(segmentsByNode(nodeSegments, segments, browserSegments)).filter(
    ([, named]) => named.length > 0,
  );
  return [
    ...nodes.map(([name]) => name),
    ...(segments.some((name) => browserSegments.includes(name)) ? [page] : []),
  ];
}

/** The procedures and routes that nodes answer from outside. */
export interface OnNodes {
  readonly names: Readonly<Record<"procedure" | "route", ReadonlySet<string>>>;
  readonly routes: RouteTable<RouteEntry>;
}

export function callableOnNodes(
  manifest: ServerManifest,
  nodeSegments: NodeSegments | undefined,
): OnNodes {
  const { segments, browserSegments } = manifest;
  const onNodes = [
    ...new Set(
      Object.values(segmentsByNode(nodeSegments, Object.keys(segments), browserSegments)).flat(),
    ),
  ];
  const routes = onNodes
    .flatMap((segment) => entryOf(manifest.routes ?? {}, segment) ?? [])
    .filter(({ access }) => isCallable(access));
  return {
    names: {
      procedure: new Set(callableIn(manifest, onNodes)),
      route: new Set(routes.map(({ name }) => name)),
    },
    routes: createRouteTable(routes),
  };
}

/** A hint for a name that isn't among `names`. */
export function meantBy(fqn: string, names: ReadonlySet<string>): string | undefined {
  const withoutFile = fqn.replace(/[^/]+\/([^/]+)$/, "$1");
  if (names.has(withoutFile))
    return `did you mean '${withoutFile}'? The file's name isn't part of it`;
  const near = nearest(fqn, names);
  return near && `did you mean '${near}'?`;
}
