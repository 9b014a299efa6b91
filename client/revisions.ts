// The manifest with which a page runs. Most built pages have theirs in themselves, and need no more.

import { NotFound } from "../src/base/errors.ts";
import type { Manifest } from "../src/base/manifest.ts";
import { isManifest } from "./fetch-manifest.ts";
import { loadPlain } from "./load-rare.ts";
import type { Browser, Revisions } from "./page-parts.ts";

/** A page without its manifest begins to look for one at once. `onManifest` gets each before its use. */
export function createRevisions(
  browser: Browser,
  onManifest: (manifest: Manifest) => void,
): Revisions {
  let own: unknown = JSON.parse(browser.manifest ?? "null");
  let stored: Promise<Revisions> | undefined;
  // A failure isn't kept, so the next start tries again.
  const others = (): Promise<Revisions> =>
    (stored ??= loadPlain().then(
      ({ createStoredRevisions }) => createStoredRevisions(browser, onManifest),
      (error: unknown) => {
        stored = undefined;
        throw error;
      },
    ));
  if (!isManifest(own)) others().catch(() => {});
  return {
    async use(act) {
      if (isManifest(own))
        try {
          onManifest(own);
          return await act(own, true);
        } catch (error) {
          if (!(error instanceof NotFound)) throw error;
          own = undefined;
        }
      return await (await others()).use(act);
    },
  };
}
