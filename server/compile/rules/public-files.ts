// Files that browsers may fetch, as far as they are known before a build.

import { existsSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";

import { slashed } from "../../files/sources.ts";

/** Paths of pages and of files in Vite's public folder, without leading slash. */
export function publicFiles(options: {
  readonly root: string;
  readonly pages: readonly string[];
  readonly publicDir?: string | undefined;
}): readonly string[] {
  const { root, pages, publicDir } = options;
  const found = pages.map((page) => slashed(relative(root, page)));
  if (publicDir !== undefined && existsSync(publicDir))
    for (const entry of readdirSync(publicDir, { recursive: true, withFileTypes: true }))
      if (entry.isFile())
        found.push(slashed(relative(publicDir, join(entry.parentPath, entry.name))));
  return found;
}
