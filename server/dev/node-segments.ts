// Which nodes a session has, and which segments each holds.

import { defaultServerSegments } from "../../src/base/manifest.ts";

/** Node → segments that it holds. */
export type NodeSegments = Readonly<Record<string, readonly string[]>>;

/** What pages are called where nodes are listed by name. */
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
