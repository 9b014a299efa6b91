// The routes of a node: name and path → function.

import { isCallable, mostOpen } from "../base/access.ts";
import type { PathParameters } from "../base/context.ts";

import { SegmentNotFound } from "../base/errors.ts";
import { traceLine } from "../base/fqn.ts";
import { entryOf, type RouteEntry, type ServerManifest } from "../base/manifest.ts";
import type { ModuleLoader } from "../base/ports.ts";
import { defaultVersion } from "../base/version.ts";
import type { RoutePattern } from "../http/route-pattern.ts";
import { createRouteTable, type RouteTable } from "../http/route-table.ts";
import type { ProcedureFunction } from "./procedure-function.ts";

/** A route, as services announce it to each other. */
export interface RouteInfo extends RoutePattern {
  readonly name: string;
}

/** The route of a request, of this service or of one behind it. */
export interface MatchedRoute {
  readonly info: RouteInfo;
  readonly params: PathParameters;
}

/** A route of this node. Its access is the most open one among its segments here. */
export interface RouteRegistration extends RouteEntry {
  /** The trace of a request's context. */
  readonly trace: readonly string[];
  readonly segments: readonly string[];
  readonly run: ProcedureFunction;
}

export interface RouteRegistryParts {
  readonly loader: Pick<ModuleLoader, "import">;
  /** Called with a route's function when the route has another one, or is gone. */
  readonly onReplaced?: ((run: ProcedureFunction) => void) | undefined;
}

export class RouteRegistry {
  readonly #parts: RouteRegistryParts;
  /** By name, as the latest manifest has them. */
  #routes: ReadonlyMap<string, RouteRegistration> = new Map();
  /** No longer in the manifest, but requests for them may be on their way. */
  #leaving: ReadonlyMap<string, RouteRegistration> = new Map();
  #loading: Promise<void> | undefined;
  #loadingNames: ReadonlySet<string> = new Set();
  #table: RouteTable<RouteRegistration> = createRouteTable<RouteRegistration>([]);

  constructor(parts: RouteRegistryParts) {
    this.#parts = parts;
  }

  /** The routes that requests are matched with. A private one has none. */
  get table(): RouteTable<RouteRegistration> {
    return this.#table;
  }

  /** All routes, private ones too. */
  all(): readonly RouteRegistration[] {
    return [...this.#routes.values()];
  }

  /** For the gateway. */
  get callable(): readonly RouteInfo[] {
    return this.#table.all.map(({ name, method, path }) => ({ name, method, path }));
  }

  /**
   * Loads the routes of these segments, and again those with a body in `fresh`. The registry
   * switches to them at once when all are loaded. Those that are gone stay until {@link drop}.
   */
  load(
    manifest: ServerManifest,
    segments: readonly string[],
    fresh: ReadonlySet<string> = new Set(),
  ): Promise<void> {
    const named = routesIn(manifest, segments);
    this.#loadingNames = new Set(named.keys());
    this.#loading = this.#load(manifest, named, fresh);
    return this.#loading;
  }

  async #load(
    manifest: ServerManifest,
    named: ReadonlyMap<string, NamedRoute>,
    fresh: ReadonlySet<string>,
  ): Promise<void> {
    const loaded = [...named.values()].map(async (route): Promise<RouteRegistration> => {
      const file = entryOf(manifest.modules, route.module)?.body;
      if (file === undefined)
        throw new SegmentNotFound(
          `Segment '${route.segments[0]}' names a route whose module isn't in the build: build again`,
        );
      const known = this.#routes.get(route.name);
      const trace = [traceLine(route.name, defaultVersion.toString())];
      if (known?.module === route.module && known.export === route.export && !fresh.has(file))
        return { ...route, trace, run: known.run };
      const run = (await this.#parts.loader.import(file))[route.export];
      if (typeof run !== "function")
        throw new TypeError(`${file} has no function '${route.export}': build again`);
      return { ...route, trace, run: run as ProcedureFunction };
    });
    const routes = new Map((await Promise.all(loaded)).map((route) => [route.name, route]));
    this.#leaving = new Map(
      [...this.#leaving, ...this.#routes].filter(([name]) => !routes.has(name)),
    );
    const before = this.#routes;
    this.#routes = routes;
    this.#loading = undefined;
    this.#rebuild();
    for (const [name, { run }] of before) {
      const current = routes.get(name);
      if (current !== undefined && current.run !== run) this.#parts.onReplaced?.(run);
    }
  }

  /** Drops the routes that the manifest no longer has. */
  drop(): void {
    if (this.#leaving.size === 0) return;
    const gone = this.#leaving;
    this.#leaving = new Map();
    this.#rebuild();
    for (const { run } of gone.values()) this.#parts.onReplaced?.(run);
  }

  #rebuild(): void {
    // Of two with the same path the first matches: the new one.
    const all = [...this.#routes.values(), ...this.#leaving.values()];
    this.#table = createRouteTable(all.filter(({ access }) => isCallable(access)));
  }

  /** The function that a seam of the route runs. Only tests have such seams. */
  functionOf(name: string): ProcedureFunction | undefined {
    if (!this.#loadingNames.has(name) && !this.#routes.has(name)) return undefined;
    return async (...args) => {
      await this.#loading;
      return await this.#routes.get(name)?.run(...args);
    };
  }
}

type NamedRoute = Omit<RouteRegistration, "run" | "trace">;

/** The routes of these segments, by name. Of one in several segments, the most open access applies. */
export function routesIn(
  { routes = {} }: Pick<ServerManifest, "routes">,
  segments: readonly string[],
): ReadonlyMap<string, NamedRoute> {
  const named = new Map<string, NamedRoute>();
  for (const segment of segments)
    for (const entry of entryOf(routes, segment) ?? []) {
      const known = named.get(entry.name);
      const guard = entry.guard ?? known?.guard;
      named.set(entry.name, {
        ...entry,
        ...(guard !== undefined && { guard }),
        access: known === undefined ? entry.access : mostOpen([known.access, entry.access]),
        segments: [...(known?.segments ?? []), segment],
      });
    }
  return named;
}
