// An application before anything is bundled.

import type { Problem } from "../../../src/base/problem.ts";
import type { SegmentFile } from "../../../src/runtime/segment.ts";
import type { Part } from "../../../src/split/write/split-module.ts";
import type { Modules, SourceModule } from "../read/modules.ts";
import type { PageDemands } from "../read/pages.ts";
import type {
  ApplicationProcedure,
  ApplicationRoute,
  NamedFunction,
} from "./application-procedure.ts";
import type { CutModule } from "./cut.ts";
import type { Guard } from "./guards.ts";

/**
 * An application, read and cut: its modules with the imports between them, and the
 * procedures and parts that follow from segment files and pages. Rules follow it and find mistakes.
 */
export interface ApplicationGraph {
  readonly root: string;
  readonly source: string;
  /** Absolute folders that hold no source. */
  readonly outputs: readonly string[];
  readonly modules: Modules;
  readonly segments: readonly SegmentFile[];
  /** One for each entry of a segment file. */
  readonly functions: readonly NamedFunction[];
  /** Mistakes in single entries, and in the functions that they name. */
  readonly entryProblems: readonly Problem[];
  /** Procedures and routes. */
  readonly named: readonly ApplicationProcedure[];
  /** The guards that callers from outside must pass before some of them, by name. */
  readonly guards: ReadonlyMap<string, Guard>;
  /** Every public entry has to say what its guard is, or that it has none. */
  readonly guardsRequired: boolean;
  readonly procedures: readonly ApplicationProcedure[];
  readonly routes: readonly ApplicationRoute[];
  /** Segments that browsers may load. */
  readonly browserSegments: readonly string[];
  /** The option `browserSegments`; without it, pages decide. */
  readonly configuredSegments: readonly string[] | undefined;
  /** Segments that configurations have servers load. */
  readonly served: ReadonlySet<string>;
  /** Requests of pages and of the modules that they reach. */
  readonly demands: PageDemands;
  /** Pages that are built, absolute. */
  readonly builtPages: readonly string[];
  /** Vite's folder of files that are served as they are, absolute. */
  readonly publicDir: string | undefined;
  /** Vite's folder in the output for built files. */
  readonly assetsDir: string;
  /**
   * Modules that Vite's configuration or `browserModules` names as entries of the browser's build.
   */
  readonly entries: readonly SourceModule[];
  /**
   * Pages are seen to reach procedures but never call `startClient`, so they get a module that does
   * (start-page.ts). If they aren't seen to, faces do that (started-faces.ts).
   */
  readonly startsByItself: boolean;
  /** By file. */
  readonly cut: ReadonlyMap<string, CutModule>;
  /** By file: modules that re-export procedures which browsers can't call, as browsers get them. */
  readonly trimmed: ReadonlyMap<string, Part>;
  /**
   * Modules that `client.import` or `browserModules` names: browsers get them besides those that
   * pages reach.
   */
  readonly browserModules: readonly SourceModule[];
  /**
   * Modules that pages reach by value. Of a split module the imports of its face and shared part count.
   */
  readonly pageModules: ReadonlySet<SourceModule>;
  /** Globs in `browserModules` that match none. */
  readonly unmatchedGlobs: readonly string[];
  /** Middleware and health checks of configurations. */
  readonly configured: readonly SourceModule[];
  /**
   * Modules that a node may need: configured ones, and those that procedures import by value or
   * type.
   */
  readonly serverModules: ReadonlySet<SourceModule>;
  /** The modules among them that must be built even if nothing imports them by value. */
  readonly serverEntries: readonly SourceModule[];
  /**
   * Modules with classes that only pages import. Nodes rebuild instances of these if they can load
   * them.
   */
  readonly pageClasses: readonly SourceModule[];
}

/** A call by servers of a procedure that only pages have. */
export interface PageOnlyCall {
  readonly problem: Problem;
  /** The segments that have the procedure. If a server loads one of them, the call is fine. */
  readonly segments: readonly string[];
  /** Pages run the same code too, which may check where it runs. */
  readonly isShared: boolean;
}

/** An application, and its mistakes. */
export interface Application extends ApplicationGraph {
  /** Module id → ids of the modules that it imports, by value or by type. */
  readonly imports: Readonly<Record<string, readonly string[]>>;
  /** Targets of symbolic links that are modules with procedures; each of them is a problem. */
  readonly behindLinks: ReadonlySet<string>;
  /** Problems for a check, warnings for a build and in development. */
  readonly pageOnlyCalls: readonly PageOnlyCall[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** Modules of which segment files name functions, or would if they could be read. */
export function splitModules({
  segments,
  modules,
  cut,
}: Pick<ApplicationGraph, "segments" | "modules" | "cut">): ReadonlySet<SourceModule> {
  return new Set([
    ...segments.flatMap(({ entries }) =>
      entries.flatMap(({ module }) => modules.find(module) ?? []),
    ),
    ...[...cut.values()].map(({ module }) => module),
  ]);
}

/** Modules that others import by name at run time. */
export function dynamicModules({
  serverEntries,
  browserModules,
  pageModules,
  modules,
}: ApplicationGraph): readonly SourceModule[] {
  const withClasses = [...pageModules].filter(
    (module) => modules.outline(module).classes.length > 0,
  );
  return [...serverEntries, ...browserModules, ...withClasses];
}
