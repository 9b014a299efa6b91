// Sizes of the browser's files, as recorded by the last build, if it is up to date.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import type { ServerManifest } from "../../../src/base/manifest.ts";
import { findOutput, isFile, isStale, manifestFiles } from "../../files/sources.ts";
import { parsePartId } from "../read/module-ids.ts";
import { nameOfFile } from "../read/package-imports.ts";
import type { Written } from "./written.ts";

export interface SizedModule {
  readonly name: string;
  readonly package?: string;
  readonly part?: "face" | "shared" | "body";
  /** Before minification: the code that the bundler kept of the module. */
  readonly bytes: number;
}

export type BrowserSizes =
  | {
      readonly build: "fresh";
      readonly modules: readonly SizedModule[];
      readonly files: readonly {
        readonly name: string;
        readonly bytes: number;
        readonly gzip: number;
      }[];
    }
  | { readonly build: "stale" | "none" };

/** The file in the server's output that {@link builtSizes} reads. */
export type SizesFile = readonly SizedModule[];

/** The size of each module in the browser's files, the largest first. */
export function sizesOf(
  { moduleSizes }: Written,
  root: string,
  isCut: (file: string) => boolean,
): SizesFile {
  const sizes = new Map<string, SizedModule>();
  for (const [id, bytes] of moduleSizes) {
    const { file: path, part: query } = parsePartId(id);
    // Pages hold the first face; the second is rarely loaded.
    if (id.startsWith("\0") || bytes === 0 || query === "face") continue;
    const part = query === "shared" || query === "body" ? query : isCut(path) ? "face" : undefined;
    const key = `${path} ${part}`;
    sizes.set(key, {
      ...nameOfFile(root, path),
      ...(part !== undefined && { part }),
      bytes: bytes + (sizes.get(key)?.bytes ?? 0),
    });
  }
  return [...sizes.values()].sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
}

/** Reads the sizes if the build was made from the current sources. */
export async function builtSizes(
  root: string,
  source: string,
  output: string,
): Promise<BrowserSizes> {
  const folders = await findOutput(root, output);
  if (folders === undefined) return { build: "none" };
  const manifest = JSON.parse(
    await readFile(join(folders.server, manifestFiles.server), "utf8"),
  ) as ServerManifest;
  const path = join(folders.server, manifestFiles.sizes);
  if (!(await isFile(path)) || (await isStale(root, source, output, manifest)))
    return { build: "stale" };
  const { modules, files } = JSON.parse(await readFile(path, "utf8")) as {
    modules: SizesFile;
    files: readonly string[];
  };
  const sized = [];
  for (const name of files) {
    const content = await readFile(join(folders.browser, name));
    sized.push({ name, bytes: content.length, gzip: gzipSync(content).length });
  }
  return { build: "fresh", modules, files: sized.sort((a, b) => b.bytes - a.bytes) };
}
