// The changes of routes that callers of the earlier build notice: whether each path that a route answered is
// still answered by it, or by the route in its place.

import {
  type PatternPart,
  patternParts,
  patternShape,
  routeMethods,
} from "../../src/http/route-pattern.ts";
import { createRouteTable, type RouteTable } from "../../src/http/route-table.ts";
import type { Contract, ContractRoute } from "./contract.ts";
import { breaking, type Difference, distinct, risky } from "./difference.ts";

export interface RouteChange {
  readonly route: ContractRoute;
  readonly difference: Difference | "is new" | "has changed, and answers what it did";
}

type Table = RouteTable<ContractRoute>;

export function compareRoutes(before: Contract, after: Contract): readonly RouteChange[] {
  const [earlier, later] = [createRouteTable(before.routes), createRouteTable(after.routes)];
  const successors = new Set<ContractRoute>();
  const found = before.routes.flatMap((route): RouteChange[] => {
    const successor = successorOf(route, later);
    if (successor !== undefined) successors.add(successor);
    const differences = changesOf(route, successor, earlier, later);
    if (differences.length > 0) return differences.map((difference) => ({ route, difference }));
    const isSame = successor === undefined || keyOf(successor) === keyOf(route);
    return isSame ? [] : [{ route, difference: "has changed, and answers what it did" }];
  });
  const added = after.routes.filter((route) => !successors.has(route));
  return [...found, ...added.map((route): RouteChange => ({ route, difference: "is new" }))];
}

/** The later route of the same pattern, or of the same function. */
function successorOf(route: ContractRoute, later: Table): ContractRoute | undefined {
  const { shape } = patternOf(route);
  const isNamesake = ({ name }: ContractRoute): boolean => name === route.name;
  const alike = later.all.filter(
    (other) => patternOf(other).shape === shape && [route.method, "*"].includes(other.method),
  );
  return alike.find(isNamesake) ?? alike[0] ?? later.all.find(isNamesake);
}

function changesOf(
  route: ContractRoute,
  successor: ContractRoute | undefined,
  earlier: Table,
  later: Table,
): readonly Difference[] {
  const answering = new Map<ContractRoute, string>();
  const lost: string[] = [];
  const requests = requestsOf(route, [...earlier.all, ...later.all]).filter(
    ({ method, path }) => routeOf(earlier, method, path) === route,
  );
  for (const { method, path, shown } of requests) {
    const current = routeOf(later, method, path);
    if (current === undefined) lost.push(shown);
    else if (!answering.has(current)) answering.set(current, shown);
  }
  const known = new Set(earlier.all.map(keyOf));
  const found: Difference[] = [];
  if (lost.length > 0)
    found.push(
      lost.length === requests.length
        ? breaking(
            "is gone: requests for it are answered 404 or 405",
            "Keep it until it gets no requests",
          )
        : breaking(
            `doesn't answer ${lost[0]} any more: 404 or 405`,
            "Keep the pattern that it had, until it gets no such requests",
          ),
    );
  for (const [current, shown] of answering) {
    if (current !== successor)
      found.push(
        successor === undefined && known.has(keyOf(current))
          ? breaking(
              `is gone: '${nameOf(current)}' answers ${shown} now`,
              "Keep it until it gets no requests",
            )
          : risky(
              `doesn't answer ${shown} any more: '${nameOf(current)}' does`,
              "Make sure that callers get what they expect, or choose another path",
            ),
      );
    found.push(...accessChanges(route, current));
  }
  return distinct(found);
}

function accessChanges(route: ContractRoute, current: ContractRoute): readonly Difference[] {
  return [
    ...(route.access === "public" && current.access === "protected"
      ? [
          breaking(
            "is protected now: requests without the trust key are answered 401",
            "Leave it public, or give callers another route first",
          ),
        ]
      : []),
    ...(current.guarded && !route.guarded
      ? [
          risky(
            "has a guard now: it may refuse requests that were let in",
            "Tell callers what the guard asks for",
          ),
        ]
      : []),
  ];
}

interface SampleRequest {
  readonly method: string;
  readonly path: string;
  /** As messages name it: `/images/new`, or `/images/:id` for any of these. */
  readonly shown: string;
}

/**
 * A request for each set of patterns that can match one path of a route. What two patterns have in common is a
 * pattern, so intersecting finds these sets.
 */
function requestsOf(route: ContractRoute, others: readonly ContractRoute[]): SampleRequest[] {
  const patterns = others.map((other) => patternOf(other).parts);
  const length = Math.max(...patterns.map((parts) => parts.length)) + 1;
  const found = new Map<string, readonly PatternPart[]>();
  const open = [patternOf(route).parts];
  // It grows meanwhile; the plainest come first.
  for (const parts of open) {
    const shape = patternShape(parts);
    if (found.has(shape)) continue;
    found.set(shape, parts);
    for (const other of patterns) {
      const both = intersection(parts, other);
      if (both !== undefined) open.push(both);
    }
    open.push(...withoutWildcard(parts, length));
  }
  const methods =
    route.method === "*" ? routeMethods.filter((method) => method !== "*") : [route.method];
  return [...found.values()].flatMap((parts) => {
    const path = pathOf(parts, length);
    const text = `/${parts.map((part) => (part.kind === "literal" ? part.text : sign(part) + part.name)).join("/")}`;
    return methods.map((method) => ({
      method,
      path,
      shown: route.method === "*" ? `${method} ${text}` : text,
    }));
  });
}

/** The paths that both match, as a pattern. */
function intersection(
  left: readonly PatternPart[],
  right: readonly PatternPart[],
): readonly PatternPart[] | undefined {
  const found: PatternPart[] = [];
  for (let at = 0; ; at++) {
    const [own, other] = [left[at], right[at]];
    if (own === undefined && other === undefined) return found;
    // A wildcard takes one part that isn't empty, then any others.
    if (own?.kind === "wildcard") return withTail(found, own, right.slice(at));
    if (other?.kind === "wildcard") return withTail(found, other, left.slice(at));
    if (own === undefined || other === undefined) return undefined;
    if (own.kind === "literal" && other.kind === "literal" && own.text !== other.text)
      return undefined;
    const part = own.kind === "literal" ? own : other;
    const isEmpty = part.kind === "literal" && part.text === "";
    if (isEmpty && own.kind !== other.kind) return undefined;
    found.push(part);
  }
}

function withTail(
  head: readonly PatternPart[],
  wildcard: PatternPart,
  tail: readonly PatternPart[],
): readonly PatternPart[] | undefined {
  const [first] = tail;
  if (first === undefined || (first.kind === "literal" && first.text === "")) return undefined;
  return [...head, ...(first.kind === "wildcard" ? [wildcard] : tail)];
}

/** The paths of a wildcard by their lengths, and those that end with a slash. */
function withoutWildcard(
  parts: readonly PatternPart[],
  length: number,
): readonly (readonly PatternPart[])[] {
  const last = parts.at(-1);
  if (last?.kind !== "wildcard") return [];
  const found: (readonly PatternPart[])[] = [];
  const own = parts.slice(0, -1);
  while (own.length < length) {
    own.push({ kind: "parameter", name: last.name });
    found.push([...own], [...own, { kind: "literal", text: "" }]);
  }
  return found;
}

/** A path that matches no other pattern than it must: with a text of its own for each parameter. */
function pathOf(parts: readonly PatternPart[], length: number): string {
  const texts = parts.map((part) => (part.kind === "literal" ? part.text : anyText));
  if (parts.at(-1)?.kind === "wildcard") while (texts.length < length) texts.push(anyText);
  return `/${texts.join("/")}`;
}

/** Not a literal of any route: patterns have no lower-case escapes of ASCII. */
const anyText = "~%7e";

function sign({ kind }: PatternPart): string {
  return kind === "wildcard" ? "*" : ":";
}

function routeOf(table: Table, method: string, path: string): ContractRoute | undefined {
  const match = table.match(method, path);
  return match.kind === "found" ? match.route : undefined;
}

interface Pattern {
  readonly parts: readonly PatternPart[];
  readonly shape: string;
}

const patternsBy = new WeakMap<ContractRoute, Pattern>();

/** Read once: each route is compared with all others. */
function patternOf(route: ContractRoute): Pattern {
  let pattern = patternsBy.get(route);
  if (pattern === undefined) {
    const parts = patternParts(route.path);
    patternsBy.set(route, (pattern = { parts, shape: patternShape(parts) }));
  }
  return pattern;
}

function keyOf(route: ContractRoute): string {
  return `${route.method} ${patternOf(route).shape}`;
}

function nameOf({ method, path }: ContractRoute): string {
  return `${method} ${path}`;
}
