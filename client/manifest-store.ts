// The last manifest, kept in IndexedDB so that a second visit starts without waiting for the network.
// Storage is a comfort: where it is away, blocked or full, the page works as on a first visit.

import { createStore, get, set } from "idb-keyval";
import type { Manifest } from "../src/manifest.ts";
import type { Clock } from "../src/ports.ts";
import { isManifest } from "./fetch-manifest.ts";

/** Keeps one manifest per origin. Neither function ever rejects. */
export interface ManifestStore {
  read(): Promise<Manifest | undefined>;
  /** Keeps a manifest in the place of another; `undefined` forgets it. */
  write(manifest: Manifest | undefined): Promise<void>;
}

const key = "manifest";

// Chosen: some browsers leave an `open` unanswered; storage that takes longer than this would cost more than it saves.
const patience = 1000;

export function createManifestStore(clock: Clock): ManifestStore {
  const store = createStore("seamline", "client");
  const attempt = async <T>(act: () => Promise<T>): Promise<T | undefined> => {
    return await new Promise((resolve) => {
      const cancel = clock.after(patience, () => resolve(undefined));
      // Private windows, blocked storage, no room: nothing is kept, and nothing else changes.
      const without = (): void => resolve(undefined);
      (async () => await act())().then(resolve, without).finally(cancel);
    });
  };
  return {
    async read() {
      const kept = await attempt(() => get<unknown>(key, store));
      return isManifest(kept) ? kept : undefined;
    },
    write: (manifest) => attempt(() => set(key, manifest, store)),
  };
}
