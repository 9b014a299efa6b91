// In development, pages follow procedures that move and classes that change
// (docs/guide/development.md). server/dev/pages/page-files.ts wraps this around the production runtime.

import type { StartClient } from "../../src/types/client.ts";
import { procedureKey } from "../../src/base/fqn.ts";
import { entryOf, type Manifest } from "../../src/base/manifest.ts";
import { developmentEvents } from "../../src/base/protocol.ts";
import { warningOfOptions } from "../../src/runtime/mistaken-options.ts";
import type { Seam } from "../../src/runtime/seam.ts";
import type { Revisions } from "../revisions.ts";
import type { createPageRemote, Page, Remote } from "../svc/remote.ts";

/** Vite's connection to its server: `import.meta.hot`. */
export interface Hot {
  on(event: string, listener: (data: never) => void): void;
  send(event: string, data?: unknown): void;
}

/** Sent by the server when procedures have moved or module addresses have changed. */
export interface Move {
  readonly manifest: Manifest;
  /** The page sends it back once it has applied the move. */
  readonly number: number;
}

const started = new Set<string>();

/** Wraps `startClient` to remember which segments the page has started. */
export function noting(start: StartClient): StartClient {
  return async (...names) => {
    const client = await start(...names);
    for (const name of names)
      if (typeof name === "string") started.add(name);
      else name.segments?.forEach((segment) => started.add(segment));
    return client;
  };
}

/** Wraps what faces call: the console shows when options are passed as a context. */
export const warning: (seam: Seam) => Pick<Seam, "run"> = warningOfOptions((line) =>
  // oxlint-disable-next-line no-console -- a page has no other log
  console.warn(`Seamline: ${line}`),
);

/** Wraps a page's outbound calls so that they use the latest manifest sent by the server. */
export function following(create: typeof createPageRemote, hot: Hot): typeof createPageRemote {
  return (page) => {
    let latest: Manifest | undefined;
    const revisions: Revisions = {
      use: async (act) =>
        await (latest === undefined ? page.revisions.use(act) : act(latest, false)),
    };
    const seenKeys = new Set<string>();
    // The page may get its headers later.
    const followingPage: Page = Object.create(page, { revisions: { value: revisions } }) as Page;
    let remote = create(followingPage);
    let last: Promise<void> = Promise.resolve();
    const underWay = new Map<Promise<unknown>, string>();
    const noted = (key: string, call: Promise<unknown>): Promise<unknown> => {
      underWay.set(call, key);
      const end = (): unknown => underWay.delete(call);
      call.then(end, end);
      return call;
    };

    const follow = async ({ manifest, number }: Move): Promise<void> => {
      const before = latest ?? (await page.revisions.use(async (current) => current));
      if (before.revision !== manifest.revision) {
        latest = manifest;
        for (const version of [before, manifest])
          keysOf(version, Object.keys(version.segments)).forEach((key) => seenKeys.add(key));
        // Class addresses may have changed: a new remote loads them again on demand.
        remote = create(followingPage);
        await place(page, manifest, seenKeys);
      }
      // A request that left before may still be on its way, and its node drops the procedure as
      // soon as pages have followed. The server limits how long it waits.
      const here = hereIn(manifest);
      const calls = [...underWay].filter(([, key]) => here.has(key)).map(([call]) => call);
      void Promise.allSettled(calls).then(() => hot.send(developmentEvents.followed, number));
    };
    hot.on(developmentEvents.move, (move: Move) => {
      // One after the other, so that the last move wins.
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
      away(seam) {
        const key = procedureKey(seam.fqn, seam.version);
        const run = remote.away(seam);
        return async function (this: unknown, ...values) {
          return await noted(key, run.apply(this, values));
        };
      },
      call: async (fqn, version, ...more) =>
        await noted(procedureKey(fqn, version), remote.call(fqn, version, ...more)),
    } satisfies Remote;
  };
}

/** Loads the bodies that now belong here, then drops the rest, even if some fail to load. */
async function place(
  { placement }: Page,
  manifest: Manifest,
  seenKeys: ReadonlySet<string>,
): Promise<void> {
  await placement.load(Promise.resolve(manifest), startedIn(manifest)).catch(report);
  const here = hereIn(manifest);
  placement.drop([...seenKeys].filter((key) => !here.has(key)));
}

/** The started segments that still exist. */
function startedIn({ segments }: Manifest): readonly string[] {
  return [...started].filter((segment) => Object.hasOwn(segments, segment));
}

/** Keys of the procedures that belong to this page. */
function hereIn(manifest: Manifest): ReadonlySet<string> {
  return new Set(keysOf(manifest, startedIn(manifest)));
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
