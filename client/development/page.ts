// In development, pages follow procedures that move and classes that change
// (docs/guide/development.md). server/dev/page-files.ts wraps this around the production runtime.

import type { StartClient } from "../../src/types/client.ts";
import { procedureKey, procedureNotFound } from "../../src/base/fqn.ts";
import { entryOf, type Manifest, type ProcedureRecord } from "../../src/base/manifest.ts";
import type { PeerResponse } from "../../src/base/ports.ts";
import { developmentEvents, headers } from "../../src/base/protocol.ts";
import { traceOf } from "../../src/base/trace.ts";
import { warningOfOptions } from "../../src/runtime/mistaken-options.ts";
import { bodiesOf, type LocalProcedure } from "../../src/runtime/placement.ts";
import type { Seam } from "../../src/runtime/seam.ts";
import type { Revisions } from "../page-parts.ts";
import type { createPageRemote, Page, Remote } from "../remote.ts";
import { arrive, fileOf, findElsewhere, leave } from "./bodies.ts";
import { moveMs } from "./times.ts";

export { bodyOf, moduleStops } from "./bodies.ts";

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
/** Starts that are loading their segments, of the manifest that the page had when they began. */
const starting = new Set<Promise<unknown>>();
/** Resolves when the page has followed all moves so far. */
let followed: Promise<void> = Promise.resolve();

/** Wraps `startClient` to remember which segments the page has started. */
export function noting(start: StartClient): StartClient {
  return async (...names) => {
    const loading = start(...names).then((client) => {
      for (const name of names)
        if (typeof name === "string") started.add(name);
        else name.segments?.forEach((segment) => started.add(segment));
      return client;
    });
    starting.add(loading);
    try {
      return await loading;
    } finally {
      starting.delete(loading);
      // Moves have waited for the start meanwhile.
      await soon(followed);
    }
  };
}

/** Wraps the seam that faces call: the console warns when options are passed as a context. */
export const warning: (seam: Seam) => Pick<Seam, "run"> = warningOfOptions((line) =>
  // oxlint-disable-next-line no-console -- a page has no other log
  console.warn(`Seamline: ${line}`),
);

/** Places that differ in a number only are warned of once. */
const warned = new Set<string>();

/** The console warns of members that didn't arrive, though they would where the procedure is in the page. */
function warnOfDropped({ headers: fields }: Pick<PeerResponse, "headers">): void {
  const field = fields[headers.dropped];
  if (typeof field !== "string") return;
  const line = decodeURIComponent(field);
  const withoutNumbers = line.replace(/\[\d+\]/g, "[]");
  if (warned.has(withoutNumbers)) return;
  warned.add(withoutNumbers);
  // oxlint-disable-next-line no-console -- a page has no other log
  console.warn(`Seamline: ${line}`);
}

/** Wraps a page's outbound calls so that they use the latest manifest sent by the server. */
export function following(create: typeof createPageRemote, hot: Hot): typeof createPageRemote {
  return (page) => {
    let latest: Manifest | undefined;
    const revisions: Revisions = {
      use: async (act) =>
        await (latest === undefined ? page.revisions.use(act) : act(latest, false)),
    };
    const seenKeys = new Set<string>();
    /**
     * All procedures that had a body for pages, by its file and their name there: a later manifest may lack them.
     */
    const seenBodies = new Map<string, ProcedureRecord>();
    const note = (manifest: Manifest): void => {
      const segments = Object.keys(manifest.segments);
      for (const key of keysOf(manifest, segments)) seenKeys.add(key);
      for (const [address, brought] of bodiesOf(manifest, segments))
        for (const { record } of brought)
          seenBodies.set(`${fileOf(address)} ${record.export}`, record);
    };
    // The page may get its headers later.
    const followingPage: Page = Object.create(page, {
      revisions: { value: revisions },
      answered: { value: warnOfDropped },
    }) as Page;
    let remote = create(followingPage);
    const underWay = new Map<Promise<unknown>, string>();
    const noted = (key: string, call: Promise<unknown>): Promise<unknown> => {
      underWay.set(call, key);
      const end = (): unknown => underWay.delete(call);
      call.then(end, end);
      return call;
    };

    let onFollowed = (): void => {};
    let asking: Promise<void> | undefined;
    /** Follows the current manifest. */
    const ask = async (): Promise<void> => {
      asking ??= soon(
        new Promise<void>((resolve) => {
          onFollowed = resolve;
          hot.send(developmentEvents.here);
        }),
      ).finally(() => (asking = undefined));
      await asking;
    };
    /**
     * The procedure that a call didn't find on any node, if it is in this page by now. The page may have started
     * with an earlier manifest, or the notice may still be on its way.
     */
    const arrived = async (
      error: unknown,
      fqn: string,
      version: string,
    ): Promise<LocalProcedure | undefined> => {
      if (!isUnknown(error, fqn, version)) return undefined;
      await ask();
      return await page.placement.find(fqn, version);
    };

    findElsewhere(async (file, name) => {
      note(latest ?? (await page.revisions.use(async (used) => used)));
      const record = seenBodies.get(`${file} ${name}`);
      await ask();
      if (record === undefined || latest === undefined) return undefined;
      const isHere = hereIn(latest).has(procedureKey(record.fqn, record.version));
      return isHere ? undefined : remote.away(record);
    });

    const follow = async ({ manifest, number }: Move): Promise<void> => {
      const before = latest ?? (await page.revisions.use(async (current) => current));
      // These starts end with the procedures of the earlier manifest.
      await soon(Promise.allSettled(starting));
      if (before.revision !== manifest.revision) {
        latest = manifest;
        for (const version of [before, manifest]) note(version);
        // Class addresses may have changed: a new remote loads them again on demand.
        remote = create(followingPage);
        await place(page, before, manifest, seenKeys);
      }
      // A request that left before may still be on its way, and its node drops the procedure as
      // soon as pages have followed. The server limits how long it waits.
      const here = hereIn(manifest);
      const calls = [...underWay].filter(([, key]) => here.has(key)).map(([call]) => call);
      void Promise.allSettled(calls).then(() => hot.send(developmentEvents.followed, number));
    };
    hot.on(developmentEvents.move, (move: Move) => {
      // One after the other, so that the last move wins.
      followed = followed
        .then(async () => await follow(move))
        .catch(report)
        .finally(() => onFollowed());
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
          try {
            return await noted(key, run.apply(this, values));
          } catch (error) {
            const local = await arrived(error, seam.fqn, seam.version);
            if (local === undefined) throw error;
            return await local.run.apply(this, values);
          }
        };
      },
      async call(fqn, version, args, context) {
        try {
          return await noted(procedureKey(fqn, version), remote.call(fqn, version, args, context));
        } catch (error) {
          if ((await arrived(error, fqn, version)) === undefined) throw error;
          const { runProcedure } = await page.rare();
          const now = page.browser.clock.now();
          return await runProcedure(
            page,
            now,
            undefined,
            fqn,
            version,
            Object.fromEntries(args),
            context,
          );
        }
      },
    } satisfies Remote;
  };
}

/** Loads the bodies that now belong here, then drops the rest, even if some fail to load. */
async function place(
  { placement }: Page,
  before: Manifest,
  manifest: Manifest,
  seenKeys: ReadonlySet<string>,
): Promise<void> {
  const bodies = bodiesIn(manifest);
  await arrive(bodies).catch(report);
  await placement.load(Promise.resolve(manifest), startedIn(manifest)).catch(report);
  const here = hereIn(manifest);
  placement.drop([...seenKeys].filter((key) => !here.has(key)));
  // Moves don't wait for callbacks.
  void leave([...bodiesIn(before)].filter((body) => !bodies.has(body)));
}

/** Addresses of the files of the bodies that belong to this page. */
function bodiesIn(manifest: Manifest): ReadonlySet<string> {
  const addresses = bodiesOf(manifest, startedIn(manifest)).keys();
  return new Set([...addresses].map(fileOf));
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

/** Whether the procedure hasn't run, because no node has it. */
function isUnknown(error: unknown, fqn: string, version: string): boolean {
  const { name, message } = procedureNotFound(fqn, version);
  return (
    error instanceof Error &&
    error.name === name &&
    error.message.startsWith(message) &&
    traceOf(error).length === 0
  );
}

/** Waits for it, but not for long. */
async function soon(settling: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, moveMs)));
  await Promise.race([settling, timeout]).finally(() => clearTimeout(timer));
}

function report(error: unknown): void {
  globalThis.reportError(error);
}
