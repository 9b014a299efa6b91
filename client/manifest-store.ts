// Caches the last manifest in IndexedDB, so that a second visit starts without waiting for the
// network. If storage is missing, blocked or full, the page works as on a first visit.

// Without `get` and `set`, which bring a default store that nothing here uses.
import { createStore, promisifyRequest } from "idb-keyval";
import type { Manifest } from "../src/base/manifest.ts";
import type { Clock } from "../src/base/ports.ts";
import { isManifest } from "./fetch-manifest.ts";

/** Stores one manifest per origin. Neither function rejects. */
export interface ManifestStore {
  read(): Promise<Manifest | undefined>;
  /** Replaces the stored manifest; `undefined` removes it. */
  write(manifest: Manifest | undefined): Promise<void>;
}

const key = "manifest";

// Some browsers never answer an `open`; slower storage than this would cost more than it saves.
const storageTimeoutMs = 1000;

export function createManifestStore(clock: Clock): ManifestStore {
  const store = createStore("seamline", "client");
  const attempt = async <T>(act: () => Promise<T>): Promise<T | undefined> => {
    return await new Promise((resolve) => {
      const giveUp = (): void => resolve(undefined);
      const cancel = clock.after(storageTimeoutMs, giveUp);
      // Storage fails in private windows, when blocked, or when full.
      act().then(resolve, giveUp).finally(cancel);
    });
  };
  return {
    async read() {
      const stored = await attempt(
        async () => await store("readonly", (values) => promisifyRequest(values.get(key))),
      );
      return isManifest(stored) ? stored : undefined;
    },
    write: (manifest) =>
      attempt(
        async () =>
          await store("readwrite", (values) => {
            values.put(manifest, key);
            return promisifyRequest(values.transaction);
          }),
      ),
  };
}
