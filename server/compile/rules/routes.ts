// Mistakes of routes: in their segment entries, and with files that have the same paths.

import { existsSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";

import { patternParts, routesClash } from "../../../src/http/route-pattern.ts";
import { createRouteTable } from "../../../src/http/route-table.ts";
import type { Problem } from "../../../src/base/problem.ts";
import type { ApplicationGraph } from "../cut/application.ts";
import { isPageOnly, isPrivate } from "../cut/closed-procedures.ts";
import { slashed } from "../../files/sources.ts";
import {
  type ApplicationProcedure,
  type ApplicationRoute,
  isRoute,
  placeOf,
} from "../cut/application-procedure.ts";

/** Routes with one name, with paths that no rule tells apart, with the wrong parameters, or that return no promise. */
export function routeEntries({
  named,
  routes,
}: Pick<ApplicationGraph, "named" | "routes">): readonly Problem[] {
  return [
    ...sameNames(named),
    ...clashes(routes),
    ...routes.flatMap(parameterProblems),
    ...routes.filter(({ stream }) => stream).map(streamProblem),
  ];
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
        ...placeOf(procedure.entries[0]),
        message: `"${procedure.fqn}" stands for two functions: ${placed(first)}, and ${placed(procedure)}`,
        hint: "Rename the function of the route.",
      });
  }
  return problems;
}

function placed(procedure: ApplicationProcedure): string {
  return `"${procedure.export}" of ${procedure.module.name} (${placeOf(procedure.entries[0]).file})`;
}

function clashes(routes: readonly ApplicationRoute[]): readonly Problem[] {
  return routes.flatMap((route, at) =>
    routes
      .slice(0, at)
      .filter((earlier) => routesClash(earlier.route, route.route))
      .map((earlier) => ({
        ...placeOf(route.entries[0]),
        message: `the route ${shown(route)} and the route ${shown(earlier)} (${placeOf(earlier.entries[0]).file}) answer the same requests`,
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
      ...placeOf(entries[0]),
      message: `the function of the route "${fqn}" takes ${parameters.length} parameters, but gets only the request`,
      hint: "Declare it as async (request: Request): Promise<Response>; getContext().params has the path's parameters.",
    },
  ];
}

function streamProblem({ fqn, entries }: ApplicationRoute): Problem {
  return {
    ...placeOf(entries[0]),
    message: `the function of the route "${fqn}" is an async generator, but a route returns one Response`,
    hint: 'Remove "route", so that callers get what it yields as a stream; or return a Response with a ReadableStream as its body.',
  };
}

/** Routes whose paths are those of the build's files. */
export function routesInAssets({
  routes,
  assetsDir,
}: Pick<ApplicationGraph, "routes" | "assetsDir">): readonly Problem[] {
  const [assets] = assetsDir.split("/").filter((part) => part !== "" && part !== ".");
  return routes
    .filter(({ route }) => {
      const [first] = patternParts(route.path);
      return first?.kind === "literal" && first.text === assets;
    })
    .map((route) => ({
      ...placeOf(route.entries[0]),
      message: `the route ${shown(route)} begins with "${assets}", where the build's files are`,
      hint: 'Begin with another word, or set another "build.assetsDir" in the configuration of Vite.',
    }));
}

/** Warns of routes that can't be reached, or that hide files. */
export function uselessRoutes(graph: ApplicationGraph): readonly Problem[] {
  const { routes } = graph;
  if (routes.length === 0) return [];
  const files = publicFiles(graph);
  const warnings: Problem[] = [];
  for (const route of routes) {
    const at = placeOf(route.entries[0]);
    const table = createRouteTable([{ method: "*", path: route.route.path }]);
    const hidden = files.find((file) =>
      urlsOf(file).some((url) => table.match("GET", url).kind === "found"),
    );
    if (isPrivate(route))
      warnings.push({
        ...at,
        message: `the route ${shown(route)} is private, so it can't be reached`,
        hint: 'Make it "public", or "protected" for callers with the trust key.',
      });
    else if (isPageOnly(route, graph))
      warnings.push({
        ...at,
        message: `the route ${shown(route)} is only in segments for browsers, which can't answer requests`,
        hint: "Name the function in a segment that servers load.",
      });
    if (hidden !== undefined)
      warnings.push({
        ...at,
        message: `the route ${shown(route)} hides the file ${hidden}: routes come before files`,
        hint: "Give one of them another path.",
      });
  }
  return warnings;
}

/** Paths of pages and of files in Vite's public folder, without leading slash. */
function publicFiles({ root, builtPages, publicDir }: ApplicationGraph): readonly string[] {
  const found = builtPages.map((page) => slashed(relative(root, page)));
  if (publicDir === undefined || !existsSync(publicDir)) return found;
  for (const entry of readdirSync(publicDir, { recursive: true, withFileTypes: true }))
    if (entry.isFile())
      found.push(slashed(relative(publicDir, join(entry.parentPath, entry.name))));
  return found;
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
