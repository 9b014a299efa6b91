// The routes of a gateway's members, and which members have each.

import { patternParts, patternShape, routesClash } from "../../http/route-pattern.ts";
import { createRouteTable, type RouteTable } from "../../http/route-table.ts";
import type { RouteInfo } from "../../runtime/routes.ts";
import { createBalancer, type Holder, type Rotation } from "./balancer.ts";
import { maxLeft } from "../common/limits.ts";

/** Members that have it have the same routes. */
export interface ListOfRoutes {
  readonly routes: readonly RouteInfo[];
}

export interface RouteDirectory<T extends Holder> {
  /** Routes of the current members, and the latest of those that have left. */
  readonly table: RouteTable<RouteInfo>;
  /** The routes of the current members, for a proxy. */
  readonly current: readonly RouteInfo[];
  add(holder: T, list: ListOfRoutes): void;
  remove(holder: T, list: ListOfRoutes): void;
  /** The members that have the route, if there are any. */
  of(route: RouteInfo): Rotation<T> | undefined;
}

export function createRouteDirectory<T extends Holder>(): RouteDirectory<T> {
  const balancer = createBalancer<T>();
  /** Routes by key, with the number of lists that have them. The oldest that left come first. */
  const known = new Map<string, { readonly info: RouteInfo; lists: number }>();
  let table: RouteTable<RouteInfo> | undefined;

  const forgetOldest = (): void => {
    const left = [...known].filter(([, { lists }]) => lists === 0);
    for (const [key] of left.slice(0, Math.max(0, left.length - maxLeft))) known.delete(key);
  };
  return {
    get table() {
      return (table ??= createRouteTable([...known.values()].map(({ info }) => info)));
    },
    get current() {
      return [...known.values()].filter(({ lists }) => lists > 0).map(({ info }) => info);
    },
    add(holder, list) {
      if (!balancer.add(holder, list, () => list.routes.map(keyOf))) return;
      for (const info of list.routes) {
        const key = keyOf(info);
        for (const [otherKey, { info: left, lists }] of known)
          if (lists === 0 && otherKey !== key && routesClash(left, info)) known.delete(otherKey);
        const lists = known.get(key)?.lists ?? 0;
        known.set(key, { info, lists: lists + 1 });
      }
      table = undefined;
    },
    remove(holder, list) {
      if (!balancer.remove(holder, list, () => list.routes.map(keyOf))) return;
      for (const key of list.routes.map(keyOf)) {
        const entry = known.get(key);
        if (entry === undefined) continue;
        entry.lists--;
        if (entry.lists > 0) continue;
        // The latest to leave comes last.
        known.delete(key);
        known.set(key, entry);
      }
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
