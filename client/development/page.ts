// What a page has more of in development (docs/guide/development.md): it follows its procedures when they move, and its classes when they
// change. The runtime is the one that everybody gets; this stands around it (server/dev/page-files.ts puts the two together).

import type { StartClient } from "../../src/client.ts";
import { procedureKey } from "../../src/fqn.ts";
import { entryOf, type Manifest } from "../../src/manifest.ts";
import { developmentEvents } from "../../src/protocol.ts";
import type { Revisions } from "../revisions.ts";
import type { createPageRemote, Page, Remote } from "../svc/remote.ts";

/** The development server's line to this page: Vite's. */
export interface Hot {
  on(event: string, heard: (data: never) => void): void;
  send(event: string, data?: unknown): void;
}

/** What the server says when procedures have moved, or modules have other addresses. */
export interface Move {
  readonly manifest: Manifest;
  /** To be said again when the page has followed. */
  readonly number: number;
}

const started = new Set<string>();

/** `startClient` that keeps in mind which segments the page has asked for. */
export function noting(start: StartClient): StartClient {
  return async (...segments) => {
    const client = await start(...segments);
    for (const segment of segments) started.add(segment);
    return client;
  };
}

/** The way out of a page that goes by the server's latest word. */
export function following(create: typeof createPageRemote, hot: Hot): typeof createPageRemote {
  return (page) => {
    let latest: Manifest | undefined;
    const revisions: Revisions = {
      use: async (act) =>
        await (latest === undefined ? page.revisions.use(act) : act(latest, false)),
    };
    const known = new Set<string>();
    let remote = create({ ...page, revisions });
    let last: Promise<void> = Promise.resolve();

    const follow = async ({ manifest, number }: Move): Promise<void> => {
      const before = latest ?? (await page.revisions.use(async (one) => one));
      if (before.revision !== manifest.revision) {
        latest = manifest;
        for (const one of [before, manifest])
          keysOf(one, Object.keys(one.segments)).forEach((key) => known.add(key));
        // Classes may have come from other addresses: whoever needs one loads it from there.
        remote = create({ ...page, revisions });
        await place(page, manifest, known);
      }
      hot.send(developmentEvents.followed, number);
    };
    hot.on(developmentEvents.move, (move: Move) => {
      // One after the other: of two moves the later one decides.
      last = last.then(async () => await follow(move)).catch(report);
    });
    hot.on(developmentEvents.mended, () => {
      for (const overlay of document.querySelectorAll<HTMLElement & { close?(): void }>(
        "vite-error-overlay",
      ))
        overlay.close?.();
    });
    hot.send(developmentEvents.here);
    return {
      away: (seam) => remote.away(seam),
      runProcedure: async (...call) => await remote.runProcedure(...call),
      noSuchModule: async (...about) => await remote.noSuchModule(...about),
    } satisfies Remote;
  };
}

/** Loads what is here now, then lets go of what isn't. A body that fails to load keeps nothing else from coming. */
async function place(
  { placement }: Page,
  manifest: Manifest,
  known: ReadonlySet<string>,
): Promise<void> {
  const segments = [...started].filter((segment) => Object.hasOwn(manifest.segments, segment));
  const here = new Set(keysOf(manifest, segments));
  await placement.load(Promise.resolve(manifest), segments).catch(report);
  placement.drop([...known].filter((key) => !here.has(key)));
}

function keysOf({ procedures, segments }: Manifest, names: readonly string[]): readonly string[] {
  return names.flatMap((name) =>
    (entryOf(segments, name) ?? []).map(({ procedure }) => {
      const { fqn = "", version = "" } = procedures[procedure] ?? {};
      return procedureKey(fqn, version);
    }),
  );
}

function report(error: unknown): void {
  globalThis.reportError(error);
}
