// Which segments the nodes and the page of a test cluster hold.

import { defaultServerSegments } from "../../src/base/manifest.ts";
import { nearest } from "../../src/base/problem.ts";
import type { Application } from "../compile/cut/application.ts";
import type { TestClusterOptions } from "./test-cluster.ts";

export interface ClusterSegments {
  readonly nodes: Readonly<Record<string, readonly string[]>>;
  readonly page: readonly string[];
}

/** Throws for segments that the application doesn't have, and for names that nodes can't have. */
export function checkSegments(
  application: Application,
  nodes: TestClusterOptions["nodes"],
  page: readonly string[],
): ClusterSegments {
  const all = application.segments.map(({ name }) => name);
  const check = (segment: string, among: readonly string[], what: string): void => {
    if (among.includes(segment)) return;
    const meant = nearest(segment, among);
    throw new Error(
      `Segment '${segment}' ${what}; ${meant === undefined ? `there is ${among.join(", ") || "none"}` : `did you mean '${meant}'?`}`,
    );
  };
  for (const segment of page) {
    check(segment, all, "not found");
    check(
      segment,
      application.browserSegments,
      "is not one that browsers may load, see 'browserSegments'",
    );
  }
  if (nodes === undefined)
    return {
      nodes: Object.fromEntries(
        defaultServerSegments(all, application.browserSegments).map((name) => [name, [name]]),
      ),
      page,
    };
  const byNode = Object.entries(nodes).map(([name, value]): [string, readonly string[]] => {
    if (reserved.has(name))
      throw new Error(`'${name}' is reserved in a test cluster: give the node another name`);
    if (!/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(name))
      throw new Error(
        `'${name}' is not a valid name for a node: use small letters, digits, and '-' between them`,
      );
    const segments = typeof value === "string" ? [value] : value;
    for (const segment of segments) check(segment, all, "not found");
    return [name, segments];
  });
  return { nodes: Object.fromEntries(byNode), page };
}

const reserved = new Set(["gateway", "page", "test", "outside", "fakes"]);
