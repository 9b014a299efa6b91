// Mistakes of routes, by what segment files say of them and by what else has their paths.

import { patternParts, routesClash } from "../../../src/http/route-pattern.ts";
import { createRouteTable } from "../../../src/http/route-table.ts";
import type { Problem } from "../../../src/base/problem.ts";
import { isPrivate } from "../cut/closed-procedures.ts";
import {
  type ApplicationProcedure,
  type ApplicationRoute,
  isRoute,
  type NamedEntry,
  placeOf,
} from "../cut/application-procedure.ts";

/** Routes with one name, with paths that no rule tells apart, or with the wrong parameters. */
export function routeProblems(procedures: readonly ApplicationProcedure[]): readonly Problem[] {
  const routes = procedures.filter(isRoute);
  return [...sameNames(procedures), ...clashes(routes), ...routes.flatMap(parameterProblems)];
}

/** A route's name is that of one function: middleware and logs have nothing else. */
function sameNames(procedures: readonly ApplicationProcedure[]): readonly Problem[] {
  const byName = new Map<string, ApplicationProcedure>();
  const problems: Problem[] = [];
  // Routes last, so that the problem is at the route's entry.
  for (const procedure of procedures.toSorted((a, b) => Number(isRoute(a)) - Number(isRoute(b)))) {
    const first = byName.get(procedure.fqn);
    if (first === undefined) byName.set(procedure.fqn, procedure);
    else if (isRoute(procedure))
      problems.push({
        ...placeOf(procedure.entries[0] as NamedEntry),
        message: `"${procedure.fqn}" stands for two functions: ${placed(first)}, and ${placed(procedure)}`,
        hint: "Rename the function of the route.",
      });
  }
  return problems;
}

function placed(procedure: ApplicationProcedure): string {
  return `"${procedure.export}" of ${procedure.module.name} (${placeOf(procedure.entries[0] as NamedEntry).file})`;
}

function clashes(routes: readonly ApplicationRoute[]): readonly Problem[] {
  return routes.flatMap((route, at) =>
    routes
      .slice(0, at)
      .filter((earlier) => routesClash(earlier.route, route.route))
      .map((earlier) => ({
        ...placeOf(route.entries[0] as NamedEntry),
        message: `the route ${shown(route)} and the route ${shown(earlier)} (${placeOf(earlier.entries[0] as NamedEntry).file}) answer the same requests`,
        hint: "Give one of them another path or method; the names of parameters don't count.",
      })),
  );
}

/** `"POST /webhooks/:provider" of shop/webhook`. */
function shown({ fqn, route }: ApplicationRoute): string {
  return `"${route.method} ${route.path}" of ${fqn}`;
}

function parameterProblems({ fqn, parameters, entries }: ApplicationRoute): readonly Problem[] {
  if (parameters.length <= 1) return [];
  return [
    {
      ...placeOf(entries[0] as NamedEntry),
      message: `the function of the route "${fqn}" takes ${parameters.length} parameters, but gets only the request`,
      hint: "Declare it as async (request: Request): Promise<Response>; getContext().params has the path's parameters.",
    },
  ];
}

/** What has paths besides routes. */
export interface TakenPaths {
  /** Vite's `assetsDir`. */
  readonly assetsDir: string;
  /** Paths of files that browsers may fetch, without leading slash. */
  readonly files: readonly string[];
  readonly browserSegments: readonly string[];
  /** Segments among them that servers load, too. */
  readonly served: ReadonlySet<string>;
}

/** Routes that nobody can reach, or that hide something else. */
export function placedProblems(
  routes: readonly ApplicationRoute[],
  { assetsDir, files, browserSegments, served }: TakenPaths,
): { readonly problems: readonly Problem[]; readonly warnings: readonly Problem[] } {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const [assets] = assetsDir.split("/").filter((part) => part !== "" && part !== ".");
  for (const route of routes) {
    const at = placeOf(route.entries[0] as NamedEntry);
    const [first] = patternParts(route.route.path);
    if (first?.kind === "literal" && first.text === assets)
      problems.push({
        ...at,
        message: `the route ${shown(route)} begins with "${assets}", where the build's files are`,
        hint: 'Begin with another word, or set another "build.assetsDir" in the configuration of Vite.',
      });
    if (isPrivate(route))
      warnings.push({
        ...at,
        message: `the route ${shown(route)} is private, so nobody can reach it`,
        hint: 'Make it "public", or "protected" for callers with the trust key.',
      });
    else if (
      route.entries.every(
        ({ segment: { name } }) => browserSegments.includes(name) && !served.has(name),
      )
    )
      warnings.push({
        ...at,
        message: `the route ${shown(route)} is only in segments for browsers, which can't answer requests`,
        hint: "Name the function in a segment that servers load.",
      });
  }
  const tables = routes.map((route) => ({
    route,
    table: createRouteTable([{ method: "*", path: route.route.path }]),
  }));
  for (const { route, table } of tables) {
    const hidden = files.find((file) =>
      urlsOf(file).some((url) => table.match("GET", url).kind === "found"),
    );
    if (hidden !== undefined)
      warnings.push({
        ...placeOf(route.entries[0] as NamedEntry),
        message: `the route ${shown(route)} hides the file ${hidden}: routes come before files`,
        hint: "Give one of them another path.",
      });
  }
  return { problems, warnings };
}

/** The paths at which a file is found. */
function urlsOf(file: string): readonly string[] {
  const url = `/${file.split("/").map(encodeURIComponent).join("/")}`;
  return url.endsWith("/index.html")
    ? [url, url.slice(0, -"index.html".length), url.slice(0, -"/index.html".length)]
    : url.endsWith(".html")
      ? [url, url.slice(0, -".html".length)]
      : [url];
}
