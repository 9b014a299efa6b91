// Applications with routes, in memory: alone, and behind proxy and gateway.

import { readRoute } from "../src/http/route-pattern.ts";
import type { RouteEntry } from "../src/base/manifest.ts";
import type { Middleware } from "../src/http/middleware.ts";
import type { ServerModules } from "../src/roles/application/application.ts";
import type { Role } from "../src/roles/pipeline/role.ts";
import { type Limits, defaultLimits } from "../src/base/limits.ts";
import { ask, TestDeployment, testModules, type TestProcedure } from "./_cluster.ts";

export interface TestRoute extends Partial<
  Pick<RouteEntry, "access" | "crossSite" | "bodyBytes" | "guard">
> {
  /** `POST /webhooks/:provider`. */
  readonly route: string;
  readonly name?: string;
  readonly segment?: string;
  readonly run: (this: unknown, request: Request) => unknown;
}

/** The modules of an application with these routes, in the segment `site` unless they say another. */
export function routeModules(
  routes: readonly TestRoute[],
  procedures: readonly TestProcedure[] = [],
): ServerModules {
  const modules = testModules(procedures);
  const bySegment: Record<string, RouteEntry[]> = {};
  const bodies = new Map<string, { run: TestRoute["run"] }>();
  for (const [at, { route, name, segment = "site", run, ...entry }] of routes.entries()) {
    const read = readRoute(route);
    if ("message" in read) throw new Error(read.message);
    const module = `r${at}`;
    bodies.set(`${module}~body.js`, { run });
    (bySegment[segment] ??= []).push({
      name: name ?? `site/route${at}`,
      ...read,
      module,
      export: "run",
      access: "public",
      ...entry,
    });
  }
  return {
    manifest: async () => {
      const manifest = await modules.manifest();
      const own = [...bodies.keys()].map((body) => {
        const module = body.replace("~body.js", "");
        return [module, { file: `${module}.js`, body }] as const;
      });
      return {
        ...manifest,
        segments: {
          ...Object.fromEntries(Object.keys(bySegment).map((name) => [name, []])),
          ...manifest.segments,
        },
        routes: bySegment,
        modules: { ...manifest.modules, ...Object.fromEntries(own) },
      };
    },
    import: async (file) => (bodies.get(file) as never) ?? (await modules.import(file)),
  };
}

export interface Site {
  readonly shape: "standalone" | "behind a proxy";
  readonly local: TestDeployment;
  /** The service that outsiders reach. */
  readonly outer: Role;
  /** The service that runs routes. */
  readonly inner: Role;
  request(
    line: string,
    headers?: Readonly<Record<string, string>>,
    body?: Parameters<typeof ask>[4],
    signal?: AbortSignal,
  ): ReturnType<typeof ask>;
}

export interface SiteOptions {
  readonly procedures?: readonly TestProcedure[];
  /** For the service that runs routes. */
  readonly middleware?: readonly Middleware[];
  /** For the service that outsiders reach. */
  readonly outerMiddleware?: readonly Middleware[];
  readonly limits?: Partial<Limits>;
  readonly origins?: readonly string[];
}

/** Runs `act` for the routes in both shapes. */
export async function inBothShapes(
  routes: readonly TestRoute[],
  act: (site: Site) => Promise<void>,
  options: SiteOptions = {},
): Promise<void> {
  for (const shape of ["standalone", "behind a proxy"] as const)
    await act(await startSite(shape, routes, options));
}

export async function startSite(
  shape: Site["shape"],
  routes: readonly TestRoute[],
  { procedures, middleware = [], outerMiddleware = [], ...options }: SiteOptions = {},
): Promise<Site> {
  const local = new TestDeployment({ limits: { ...defaultLimits, ...options.limits } });
  const modules = routeModules(routes, procedures);
  const web = options.origins && { web: { origins: options.origins } };
  let [outer, inner]: Role[] = [];
  if (shape === "standalone") {
    outer = inner = await local.standalone({ modules, ...web });
  } else {
    await local.gateway();
    const { segments } = await modules.manifest();
    inner = await local.node("a", { modules, segments: Object.keys(segments) });
    outer = await local.proxy({ ...web });
  }
  for (const entry of middleware) inner.addMiddleware(entry);
  for (const entry of outerMiddleware) outer.addMiddleware(entry);
  const request: Site["request"] = async (line, headers = {}, body = "", signal) => {
    const [method = "", target = ""] = line.split(" ");
    return await ask(outer, method, target, headers, body, signal);
  };
  return { shape, local, outer, inner, request };
}
