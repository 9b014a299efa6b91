// Which nodes there are, and what is where.

/** Node → segments that it holds. Left out: a node for each segment that isn't for browsers alone, under its name. */
export type Layout = Readonly<Record<string, readonly string[]>>;

/** What pages are called among the places where code runs. */
export const page = "page";

/** Nodes and their segments. `clients` are segments that browsers load. */
export function nodesIn(
  layout: Layout | undefined,
  segments: readonly string[],
  clients: readonly string[],
): Layout {
  if (layout === undefined)
    return Object.fromEntries(
      segments.filter((name) => !clients.includes(name)).map((name) => [name, [name]]),
    );
  return Object.fromEntries(
    Object.entries(layout).map(([node, named]) => [
      node,
      named.filter((name) => segments.includes(name)),
    ]),
  );
}

/** Where a procedure of these segments is: names of nodes, and `page`. */
export function placesIn(
  layout: Layout | undefined,
  segments: readonly string[],
  clients: readonly string[],
): readonly string[] {
  const nodes = Object.entries(nodesIn(layout, segments, clients)).filter(
    ([, named]) => named.length > 0,
  );
  return [
    ...nodes.map(([name]) => name),
    ...(segments.some((name) => clients.includes(name)) ? [page] : []),
  ];
}
