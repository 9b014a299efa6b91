// How big what browsers receive is, as the last build has written it down, if that build is still the application's.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import type { ServerManifest } from "../../src/manifest.ts";
import { findOutput, isFile, isStale, manifestFiles } from "../sources.ts";
import { nameOfFile } from "./package-imports.ts";
import type { Written } from "./written.ts";

export interface SizedModule {
  readonly name: string;
  readonly package?: string;
  readonly part?: "face" | "shared" | "body";
  /** Before minification: what the bundler kept of the module. */
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

/** What each module has come to in the browser's files, the biggest first. */
export function sizesOf(
  { moduleSizes }: Written,
  root: string,
  isCut: (file: string) => boolean,
): SizesFile {
  const sizes = new Map<string, SizedModule>();
  for (const [id, bytes] of moduleSizes) {
    const [path = id, query] = id.split("?");
    if (id.startsWith("\0") || bytes === 0) continue;
    const found = /^seamline=(shared|body)$/.exec(query ?? "")?.[1];
    const part = found === "shared" || found === "body" ? found : isCut(path) ? "face" : undefined;
    const key = `${path} ${part}`;
    sizes.set(key, {
      ...nameOfFile(root, path),
      ...(part !== undefined && { part }),
      bytes: bytes + (sizes.get(key)?.bytes ?? 0),
    });
  }
  return [...sizes.values()].sort(
    (one, other) => other.bytes - one.bytes || (one.name < other.name ? -1 : 1),
  );
}

/** Reads the sizes of a build that was made of the sources as they are now. */
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
  return { build: "fresh", modules, files: sized.sort((one, other) => other.bytes - one.bytes) };
}
