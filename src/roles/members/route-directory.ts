// The routes of a gateway's members: which there are, and who has them.

import { patternParts, patternShape, routesClash } from "../../http/route-pattern.ts";
import { createRouteTable, type RouteTable } from "../../http/route-table.ts";
import type { RouteInfo } from "../../runtime/routes.ts";
import { createBalancer, type Rotation } from "./balancer.ts";

/** Remember this many routes that no member has any more: requests for them get 503. */
const maxLeft = 1_000;

export interface RouteDirectory<T> {
  /** Routes of the current members, and the latest of those that have left. */
  readonly table: RouteTable<RouteInfo>;
  /** The routes of the current members, for a proxy. */
  readonly current: readonly RouteInfo[];
  add(holder: T, routes: readonly RouteInfo[]): void;
  remove(holder: T, routes: readonly RouteInfo[]): void;
  /** The members that have the route, if there are any. */
  of(route: RouteInfo): Rotation<T> | undefined;
}

export function createRouteDirectory<T>(): RouteDirectory<T> {
  const balancer = createBalancer<T>();
  /** Routes by key, with the number of their holders. The oldest that left come first. */
  const known = new Map<string, { readonly info: RouteInfo; holders: number }>();
  let table: RouteTable<RouteInfo> | undefined;

  const forgetOldest = (): void => {
    const left = [...known].filter(([, { holders }]) => holders === 0);
    for (const [key] of left.slice(0, Math.max(0, left.length - maxLeft))) known.delete(key);
  };
  return {
    get table() {
      return (table ??= createRouteTable([...known.values()].map(({ info }) => info)));
    },
    get current() {
      return [...known.values()].filter(({ holders }) => holders > 0).map(({ info }) => info);
    },
    add(holder, routes) {
      for (const info of routes) {
        const key = keyOf(info);
        for (const [other, { info: left, holders }] of known)
          if (holders === 0 && other !== key && routesClash(left, info)) known.delete(other);
        const holders = known.get(key)?.holders ?? 0;
        known.set(key, { info, holders: holders + 1 });
      }
      balancer.add(holder, routes.map(keyOf));
      table = undefined;
    },
    remove(holder, routes) {
      for (const key of routes.map(keyOf)) {
        const entry = known.get(key);
        if (entry === undefined) continue;
        entry.holders--;
        if (entry.holders > 0) continue;
        // The latest to leave comes last.
        known.delete(key);
        known.set(key, entry);
      }
      balancer.remove(holder, routes.map(keyOf));
      forgetOldest();
      table = undefined;
    },
    of: (route) => balancer.of(keyOf(route)),
  };
}

/** The names of parameters don't count: a member matches the path itself. */
function keyOf({ name, method, path }: RouteInfo): string {
  return `${method} ${patternShape(patternParts(path))} ${name}`;
}

/** Why members with these routes can't be in one deployment; `undefined` if they can. */
export function routeClash(
  routes: readonly RouteInfo[],
  others: readonly RouteInfo[],
): string | undefined {
  for (const route of routes) {
    const clash = others.find((other) => other.name !== route.name && routesClash(other, route));
    if (clash !== undefined)
      return `The route '${route.name}' (${route.method} ${route.path}) answers the same requests as '${clash.name}' (${clash.method} ${clash.path}) of another member: give one of them another path`;
  }
  return undefined;
}
