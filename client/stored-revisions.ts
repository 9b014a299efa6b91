// Decides which revision of the application a page runs if it has none in itself, or one that is gone: the one
// cached by the last visit, or the current one. Part of /svc/plain.js.

import { NotFound } from "../src/base/errors.ts";
import type { Manifest } from "../src/base/manifest.ts";
import { fetchManifest } from "./fetch-manifest.ts";
import { createManifestStore } from "./manifest-store.ts";
import type { Browser, Revisions } from "./page-parts.ts";

/**
 * Starts reading the cache and fetching at once. `onManifest` gets each manifest before its use.
 */
export function createStoredRevisions(
  browser: Browser,
  onManifest: (manifest: Manifest) => void,
): Revisions {
  const { clock, base, revision } = browser;
  const store = createManifestStore(clock, base);
  // A built page contains code of its own build, so a manifest of another build would load second
  // copies of its modules. A page that no build made can run any cached revision.
  let cached: Promise<Manifest | undefined> = store
    .read()
    .then((manifest) =>
      revision === undefined || manifest?.revision === revision ? manifest : undefined,
    );
  let fresh: Promise<Manifest> | undefined;

  // A failure isn't cached, so the next start asks again.
  const refresh = (): Promise<Manifest> =>
    (fresh ??= fetchManifest(base, revision).then(
      (manifest) => {
        void cached.then(
          (previous): unknown => previous?.revision === manifest.revision || store.write(manifest),
        );
        return manifest;
      },
      (error: unknown) => {
        fresh = undefined;
        throw error;
      },
    ));

  // A first visit to a page without its manifest waits for this request. On later visits it only
  // updates the cache, so the page may start offline.
  refresh().catch(
    async (error: unknown) => (await cached) && browser.warn("can't check revision", error),
  );

  return {
    async use(act) {
      const previous = await cached;
      if (previous)
        try {
          onManifest(previous);
          return await act(previous, true);
        } catch (error) {
          if (!(error instanceof NotFound)) throw error;
          cached = Promise.resolve(undefined);
          await store.write(undefined);
          // The line above may have removed the fresh manifest, if it was stored already.
          refresh().then(store.write, () => {});
        }
      const current = await refresh();
      onManifest(current);
      return await act(current, false);
    },
  };
}
