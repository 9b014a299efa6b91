// What a change did, file by file: where a body was replaced, and where a module was loaded again.

import { isAbsolute, relative } from "node:path";

import type { DevEnvironment } from "vite";

import { slashed } from "../sources.ts";
import type { NodeChange } from "./cluster.ts";
import type { Difference } from "./difference.ts";
import { codeId, partOfId } from "./ids.ts";
import { page } from "./layout.ts";
import type { DevEvent } from "./session.ts";

interface Done {
  readonly root: string;
  readonly changed: Pick<Difference, "bodies">;
  readonly files: ReadonlySet<string>;
  readonly changes: readonly NodeChange[];
  /** `ids` are those of modules that they have anew. */
  readonly pages: {
    readonly environment: DevEnvironment;
    readonly ids: ReadonlySet<string>;
    readonly isOpen: boolean;
  };
  readonly ms: number;
}

/** Nothing of a file that runs nowhere. */
export function eventsOf({ root, changed, files, changes, pages, ms }: Done): readonly DevEvent[] {
  const events: DevEvent[] = [];
  for (const file of files) {
    const name = isAbsolute(file) ? slashed(relative(root, file)) : file;
    const procedures = changed.bodies.get(file);
    const where = changes
      .filter(({ outdated }) => [...outdated].some((id) => partOfId(id).file === file))
      .map(({ node }) => node);
    const isInPage =
      procedures === undefined
        ? isServed(pages.environment, file, pages.ids)
        : pages.ids.has(codeId(file));
    if (isInPage && pages.isOpen) where.push(page);
    if (where.length === 0) continue;
    events.push(
      procedures === undefined
        ? { kind: "reloaded", file: name, where, ms }
        : { kind: "replaced", procedures, where, ms, file: name },
    );
  }
  return events;
}

/** Whether pages have a module that is another one now. */
function isServed(
  { moduleGraph }: DevEnvironment,
  file: string,
  inPages: ReadonlySet<string>,
): boolean {
  const there = [...(moduleGraph.getModulesByFile(file) ?? [])].filter(
    (one) => one.transformResult !== null || one.lastHMRTimestamp > 0,
  );
  return there.some(
    ({ id }) => id !== null && (partOfId(id).part === undefined || inPages.has(id)),
  );
}
