// Makes one change of the application live on nodes and in pages, and describes what it did.

import type { DevEnvironment } from "vite";

import { parsePartId } from "../compile/modules/module-ids.ts";
import type { Application } from "../compile/read/application.ts";
import type { Deployment, NodeChange } from "./deployment.ts";
import type { Difference } from "./session/difference.ts";
import type { Globs } from "./nodes/globs.ts";
import { invalidateInPages, invalidateOnNodes } from "./invalidate.ts";
import type { Pages } from "./pages/pages.ts";
import { eventsOf } from "./report.ts";
import type { DevEvent } from "./session/session.ts";

export interface FollowParts {
  readonly root: string;
  readonly environments: Readonly<Record<"browser" | "server", DevEnvironment>>;
  readonly deployment: Deployment;
  readonly pages: Pages;
  readonly globs: Globs;
}

export interface Change {
  readonly difference: Difference;
  readonly files: ReadonlySet<string>;
  readonly application: Application;
  /** Something couldn't be loaded before, so everything is tried again. */
  readonly isIncomplete: boolean;
  /** When the change was seen, on the clock of `performance.now()`. */
  readonly since: number;
  /** Nodes hold what has moved to them, and still hold what has left them. */
  readonly onPlaced: () => void;
}

/** Returns the events to report. `attempt` runs what may fail because it loads modules. */
export async function followChange(
  { root, environments, deployment, pages, globs }: FollowParts,
  { difference, files, application, isIncomplete, since, onPlaced }: Change,
  attempt: (act: () => Promise<void>) => Promise<void>,
): Promise<{ readonly events: readonly DevEvent[]; readonly ms: number }> {
  const { browser, server } = environments;
  const staleGlobs = await globs.findStale();
  const ids = invalidateOnNodes(
    server,
    difference,
    { staleGlobs, files },
    { cut: application.cut, isIncomplete },
  );
  const inPages = await invalidateInPages(browser, difference, pages);
  let changes: readonly NodeChange[] = [];
  const movePages = async (): Promise<void> => {
    onPlaced();
    await pages.move();
  };
  await attempt(async () => {
    changes = await deployment.follow(ids, difference.isMoved ? movePages : undefined);
  });
  // Without a move, or if nodes couldn't load what moved to them, pages haven't followed yet.
  await movePages();
  const ms = performance.now() - since;
  const events = eventsOf({
    root,
    changed: difference,
    files: new Set([...files, ...staleGlobs.map((id) => parsePartId(id).file)]),
    changes,
    pages: { environment: browser, ids: inPages, isOpen: pages.open > 0 },
    ms,
  });
  return { events, ms };
}
