// Caches the last manifest in IndexedDB, so that a second visit starts without waiting for the
// network. If storage is missing, blocked or full, the page works as on a first visit.

// Without its stores, which stay open: this one is used once or twice.
import { promisifyRequest } from "idb-keyval";
import type { Manifest } from "../src/base/manifest.ts";
import type { Clock } from "../src/base/ports.ts";
import { isManifest } from "./fetch-manifest.ts";
import { storageMs } from "./times.ts";

/** Stores one manifest per key, which is the address of an application. Neither function rejects. */
export interface ManifestStore {
  read(): Promise<Manifest | undefined>;
  /** Replaces the stored manifest; `undefined` removes it. */
  write(manifest: Manifest | undefined): Promise<void>;
}

const name = "client";

export function createManifestStore(clock: Clock, key: string): ManifestStore {
  const request = async (
    mode: IDBTransactionMode,
    act: (values: IDBObjectStore) => IDBRequest | IDBTransaction,
  ): Promise<unknown> => {
    const opening = indexedDB.open("seamline");
    opening.onupgradeneeded = () => opening.result.createObjectStore(name);
    const database = await promisifyRequest(opening);
    const result = act(database.transaction(name, mode).objectStore(name));
    // Waits for the transaction.
    database.close();
    return await promisifyRequest(result as IDBRequest);
  };
  const attempt = async (...call: Parameters<typeof request>): Promise<unknown> =>
    await new Promise((resolve) => {
      const cancel = clock.after(storageMs, resolve as () => void);
      // Storage fails in private windows, when blocked, or when full.
      void request(...call)
        .catch(() => {})
        .then(resolve)
        .finally(cancel);
    });
  return {
    async read() {
      const stored = await attempt("readonly", (values) => values.get(key));
      return isManifest(stored) ? stored : undefined;
    },
    async write(manifest) {
      await attempt("readwrite", (values) => {
        values.put(manifest, key);
        return values.transaction;
      });
    },
  };
}
