// The events for a change: per file, where a body was replaced or a module reloaded.

import { isAbsolute, relative } from "node:path";

import type { DevEnvironment } from "vite";

import { parsePartId, partId } from "../compile/read/module-ids.ts";
import { slashed } from "../files/sources.ts";
import type { NodeChange } from "./deployment.ts";
import type { Difference, PlacedBody } from "./difference.ts";
import { page } from "./node-segments.ts";
import type { DevEvent } from "./session.ts";

interface Done {
  readonly root: string;
  readonly changed: Pick<Difference, "bodies">;
  readonly files: ReadonlySet<string>;
  readonly changes: readonly NodeChange[];
  /** `ids` are those of the modules that pages have reloaded. */
  readonly pages: {
    readonly environment: DevEnvironment;
    readonly ids: ReadonlySet<string>;
    readonly isOpen: boolean;
  };
  readonly ms: number;
}

/** A file that runs nowhere has no event. */
export function eventsOf({ root, changed, files, changes, pages, ms }: Done): readonly DevEvent[] {
  const events: DevEvent[] = [];
  for (const file of files) {
    const name = isAbsolute(file) ? slashed(relative(root, file)) : file;
    const bodies = changed.bodies.get(file);
    const reloaded = changes
      .filter(({ invalidated }) => [...invalidated].some((id) => parsePartId(id).file === file))
      .map(({ node }) => node);
    const isInPage =
      bodies === undefined
        ? isServed(pages.environment, file, pages.ids)
        : pages.ids.has(partId.code(file));
    if (isInPage && pages.isOpen) reloaded.push(page);
    if (bodies === undefined) {
      if (reloaded.length > 0) events.push({ kind: "reloaded", file: name, where: reloaded, ms });
    } else
      for (const [procedures, where] of byProcedures(bodies, reloaded))
        events.push({ kind: "replaced", procedures, where, ms, file: name });
  }
  return events;
}

/** The places with the same procedures. A procedure that came or left has an event of its own. */
function byProcedures(
  bodies: readonly PlacedBody[],
  places: readonly string[],
): readonly (readonly [procedures: readonly string[], where: readonly string[]])[] {
  const groups = new Map<string, { procedures: readonly string[]; where: string[] }>();
  for (const place of places) {
    const here = bodies.filter(({ locations }) => locations.includes(place));
    if (here.length === 0) continue;
    const procedures = here.map(({ fqn }) => fqn);
    const group = groups.get(procedures.join());
    if (group === undefined) groups.set(procedures.join(), { procedures, where: [place] });
    else group.where.push(place);
  }
  return [...groups.values()].map(({ procedures, where }) => [procedures, where] as const);
}

/** Whether pages have a module of this file that has changed. */
function isServed(
  { moduleGraph }: DevEnvironment,
  file: string,
  inPages: ReadonlySet<string>,
): boolean {
  const served = [...(moduleGraph.getModulesByFile(file) ?? [])].filter(
    (module) => module.transformResult !== null || module.lastHMRTimestamp > 0,
  );
  return served.some(
    ({ id }) => id !== null && (parsePartId(id).part === undefined || inPages.has(id)),
  );
}
