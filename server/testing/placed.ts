// Which segments are where in a test cluster.

import { nearest } from "../../src/problem.ts";
import type { TestApplication } from "./application.ts";
import type { TestClusterOptions } from "./test-cluster.ts";

export interface Placed {
  readonly nodes: Readonly<Record<string, readonly string[]>>;
  readonly page: readonly string[];
}

/** Checks what was asked for; throws for what the application doesn't have. */
export function placementOf(
  { read }: TestApplication,
  nodes: TestClusterOptions["nodes"],
  page: readonly string[],
): Placed {
  const known = read.segments.map((one) => one.name);
  const check = (segment: string, among: readonly string[], what: string): void => {
    if (among.includes(segment)) return;
    const meant = nearest(segment, among);
    throw new Error(
      `Segment '${segment}' ${what}; ${meant === undefined ? `there is ${among.join(", ") || "none"}` : `did you mean '${meant}'?`}`,
    );
  };
  for (const segment of page) {
    check(segment, known, "not found");
    check(segment, read.clients, "is not one that browsers may load, see 'clients'");
  }
  if (nodes === undefined)
    return {
      nodes: Object.fromEntries(
        known.filter((name) => !read.clients.includes(name)).map((name) => [name, [name]]),
      ),
      page,
    };
  const all = Object.entries(nodes).map(([name, given]): [string, readonly string[]] => {
    if (reserved.has(name))
      throw new Error(
        `'${name}' is the name of another place of a test cluster: give the node another one`,
      );
    if (!/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(name))
      throw new Error(
        `'${name}' is no name for a node here: small letters, digits, and '-' between them`,
      );
    const segments = typeof given === "string" ? [given] : given;
    for (const segment of segments) check(segment, known, "not found");
    return [name, segments];
  });
  return { nodes: Object.fromEntries(all), page };
}

const reserved = new Set(["gateway", "page", "test", "outside", "fakes"]);
