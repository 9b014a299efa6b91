// Loads the files of a build: each once, with its digest checked, and all at the same time.

import { FileNotFound } from "../src/base/errors.ts";
import type { FileRecord, Manifest } from "../src/base/manifest.ts";
import type { ModuleNamespace } from "../src/base/ports.ts";
import type { Browser } from "./page-parts.ts";

export interface ModuleFiles {
  /** Adds the files of a manifest. Their names contain hashes, so revisions can't clash. */
  readonly add: (manifest: Manifest) => void;
  /** Fetches files and all their imports at the same time. Rejects with {@link FileNotFound}. */
  readonly preload: (files: Iterable<string>) => Promise<void>;
  /** Imports a file once it and all its imports have been fetched and checked. */
  readonly import: (file: string) => Promise<ModuleNamespace>;
}

export function createModuleFiles(browser: Browser): ModuleFiles {
  const records = new Map<string, FileRecord>();
  const fetched = new Map<string, Promise<void>>();
  const urlOf = (file: string): string => `${browser.base}/${file}`;

  const fetchOnce = async (file: string, integrity: string): Promise<void> => {
    try {
      await browser.preload(urlOf(file), integrity);
    } catch (cause) {
      fetched.delete(file);
      throw new FileNotFound(`${urlOf(file)} is gone or changed: reload`, {
        cause,
      });
    }
  };

  const preload = async (files: Iterable<string>): Promise<void> => {
    const needed = new Set(files);
    // Iterating over a set also visits entries that are added meanwhile.
    for (const file of needed) {
      const record = records.get(file);
      record?.imports.forEach((imported) => needed.add(imported));
      if (record !== undefined && /\.(m?js|css)$/.test(file) && !fetched.has(file))
        fetched.set(file, fetchOnce(file, record.integrity));
    }
    await Promise.all(Array.from(needed, async (file) => await fetched.get(file)));
  };

  return {
    add(manifest) {
      for (const [file, record] of Object.entries(manifest.files)) records.set(file, record);
    },
    preload,
    async import(file) {
      await preload([file]);
      return await browser.import(urlOf(file));
    },
  };
}
