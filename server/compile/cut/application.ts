// What is known of an application before anything is bundled.

import type { Problem } from "../../../src/base/problem.ts";
import type { SegmentFile } from "../../../src/runtime/segment.ts";
import type { Part } from "../../../src/split/write/split-module.ts";
import type { ApplicationProcedure, ApplicationRoute } from "./application-procedure.ts";
import type { CutModule } from "./cut.ts";
import type { Modules, SourceModule } from "../read/modules.ts";
import type { PageOnlyCall } from "../rules/page-only-calls.ts";
import type { PageEntry } from "../read/pages.ts";

export interface Application {
  readonly root: string;
  readonly source: string;
  readonly modules: Modules;
  readonly segments: readonly SegmentFile[];
  readonly procedures: readonly ApplicationProcedure[];
  readonly routes: readonly ApplicationRoute[];
  /** Segments that browsers may load. */
  readonly browserSegments: readonly string[];
  readonly pages: readonly PageEntry[];
  /**
   * Modules that Vite's configuration or `browserModules` names as entries of the browser's build.
   */
  readonly entries: readonly SourceModule[];
  /** Segment → the file that starts it in browsers. */
  readonly started: ReadonlyMap<string, string>;
  /**
   * Pages are seen to reach procedures but never call `startClient`, so they get a module that does
   * (start-page.ts). If they aren't seen to, faces do that (started-faces.ts).
   */
  readonly startsByItself: boolean;
  /** By file. */
  readonly cut: ReadonlyMap<string, CutModule>;
  /** By file: modules that re-export what browsers can't call, as browsers get them. */
  readonly trimmed: ReadonlyMap<string, Part>;
  /**
   * Modules that `client.import` or `browserModules` names: browsers get them besides what pages
   * reach.
   */
  readonly browserModules: readonly SourceModule[];
  /**
   * Modules that pages reach by value. Of a split module only the imports of its shared part count.
   */
  readonly pageModules: ReadonlySet<SourceModule>;
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
  /** Module id → ids of the modules that it imports, by value or by type. */
  readonly imports: Readonly<Record<string, readonly string[]>>;
  /** Targets of symbolic links that are modules with procedures; each of them is a problem. */
  readonly behindLinks: ReadonlySet<string>;
  /**
   * Calls by servers that nobody can answer: problems for a check, warnings for a build and in
   * development.
   */
  readonly pageOnlyCalls: readonly PageOnlyCall[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}
