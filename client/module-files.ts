// The files of a build, as the page loads them: checked, all at once, each once.

import { FileNotFound } from "../src/errors.ts";
import type { FileRecord, Manifest } from "../src/manifest.ts";
import type { ModuleNamespace } from "../src/ports.ts";
import type { Browser } from "./browser.ts";

export interface ModuleFiles {
  /** Makes the files of a manifest known. Their names hold hashes, so that two revisions never clash. */
  readonly add: (manifest: Manifest) => void;
  /** Fetches files with all that they import, in one go and not one after the other. Rejects with {@link FileNotFound}. */
  readonly preload: (files: Iterable<string>) => Promise<void>;
  /** Imports a file after all that it needs has been fetched and checked. */
  readonly import: (file: string) => Promise<ModuleNamespace>;
}

export function createModuleFiles(browser: Browser): ModuleFiles {
  const records = new Map<string, FileRecord>();
  const fetched = new Map<string, Promise<void>>();
  let latest: Manifest | undefined;
  const urlOf = (file: string): string => `${browser.origin}/${file}`;

  const fetchOnce = async (file: string, integrity: string): Promise<void> => {
    try {
      await browser.preload(urlOf(file), integrity);
    } catch (cause) {
      fetched.delete(file);
      throw new FileNotFound(
        `${urlOf(file)} is missing, or is not the file that the build made: load the page again`,
        { cause },
      );
    }
  };

  const preload = async (files: Iterable<string>): Promise<void> => {
    const needed = new Set(files);
    // A set that grows while it is walked is walked to its end.
    for (const file of needed) {
      const record = records.get(file);
      record?.imports.forEach((one) => needed.add(one));
      if (record !== undefined && /\.(m?js|css)$/.test(file) && !fetched.has(file))
        fetched.set(file, fetchOnce(file, record.integrity));
    }
    await Promise.all(Array.from(needed, async (file) => await fetched.get(file)));
  };

  return {
    add(manifest) {
      if (manifest === latest) return;
      latest = manifest;
      for (const [file, record] of Object.entries(manifest.files)) records.set(file, record);
    },
    preload,
    async import(file) {
      await preload([file]);
      return await browser.import(urlOf(file));
    },
  };
}
