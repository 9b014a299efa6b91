// Which revision of the application a page runs: the one that the last visit kept, or the one that is there now.

import { NotFound } from "../src/errors.ts";
import type { Manifest } from "../src/manifest.ts";
import type { Browser } from "./browser.ts";
import { fetchManifest } from "./fetch-manifest.ts";
import { createManifestStore } from "./manifest-store.ts";

export interface Revisions {
  /**
   * Runs `act` with the page's manifest. When a kept one names what is not there (any {@link NotFound}), it is
   * dropped, and `act` runs once more with the fresh one.
   */
  use<T>(act: (manifest: Manifest, kept: boolean) => Promise<T>): Promise<T>;
}

/** Begins to read and to fetch at once. `found` hears of each manifest before it is used. */
export function createRevisions(browser: Browser, found: (manifest: Manifest) => void): Revisions {
  const { clock, origin, revision } = browser;
  const store = createManifestStore(clock);
  // A built page holds code of its own build: a manifest of another one would give it a second copy of its modules.
  // A page that no build made has nothing to clash with, so it takes the kept revision whole.
  let kept = store
    .read()
    .then((manifest) =>
      revision === undefined || manifest?.revision === revision ? manifest : undefined,
    );
  let fresh: Promise<Manifest> | undefined;

  // Asked once; a failure is forgotten, so that the next start asks again.
  const refresh = (): Promise<Manifest> =>
    (fresh ??= fetchManifest(origin).then(
      (manifest) => {
        void kept.then((before) =>
          before?.revision === manifest.revision ? undefined : store.write(manifest),
        );
        return manifest;
      },
      (error: unknown) => {
        fresh = undefined;
        throw error;
      },
    ));

  // On a first visit the page waits for it; later it is for the next visit, and the page may as well start offline.
  refresh().catch(
    async (error: unknown) =>
      (await kept) && browser.warn("could not ask for a newer revision", error),
  );

  return {
    async use(act) {
      const before = await kept;
      if (before !== undefined) {
        try {
          found(before);
          return await act(before, true);
        } catch (error) {
          if (!(error instanceof NotFound)) throw error;
          kept = Promise.resolve(undefined);
          await store.write(undefined);
          // The fresh one may have been kept before, and was forgotten just now.
          refresh().then(store.write, () => {});
        }
      }
      const now = await refresh();
      found(now);
      return await act(now, false);
    },
  };
}
