// Reads a finished bundle: its modules, and the files that they became.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative } from "node:path";

import type { Rolldown } from "vite";

import { isInside, slashed } from "../../files/sources.ts";
import { parsePartId } from "../read/module-ids.ts";
import { isInstalled, packageOf } from "../read/package-of.ts";

/** The output of one environment. */
export interface Written {
  /** Ids of all modules that were read for it. */
  readonly modules: readonly string[];
  /** Absolute. */
  readonly folder: string;
  /** Module file and part → output file. */
  readonly parts: ReadonlyMap<string, { readonly face?: string; readonly body?: string }>;
  /** Output file → its imports. Includes style sheets and images. */
  readonly files: ReadonlyMap<
    string,
    { readonly imports: readonly string[]; readonly dynamicImports: readonly string[] }
  >;
  /** Module id → bytes of code that the bundler kept of it. */
  readonly moduleSizes: ReadonlyMap<string, number>;
}

/** Writes one more file into the output. */
export function withFile(written: Written, name: string, content: string): Written {
  const path = join(written.folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  const files = new Map(written.files).set(name, { imports: [], dynamicImports: [] });
  return { ...written, files };
}

/**
 * Reads a finished bundle. `entries` maps modules to their files; without it, each chunk is one
 * module.
 */
export function writtenOf(
  folder: string,
  bundle: Rolldown.OutputBundle,
  entries: ReadonlyMap<string, string> | undefined,
): Omit<Written, "modules"> {
  const files = new Map<
    string,
    { imports: readonly string[]; dynamicImports: readonly string[] }
  >();
  const own = (imports: readonly string[]): readonly string[] =>
    imports.filter((file) => file in bundle);
  const chunks: (readonly [string, string])[] = [];
  const moduleSizes = new Map<string, number>();
  for (const [name, file] of Object.entries(bundle)) {
    if (file.type !== "chunk") {
      files.set(name, { imports: [], dynamicImports: [] });
      continue;
    }
    // A style sheet is loaded with the module that imports it, though the code no longer says so.
    // Vite names it for servers too, but writes it for pages only.
    const styles = [...(file.viteMetadata?.importedCss ?? [])];
    files.set(name, {
      imports: own([...file.imports, ...styles]),
      dynamicImports: own(file.dynamicImports),
    });
    for (const [id, { renderedLength }] of Object.entries(file.modules))
      moduleSizes.set(id, (moduleSizes.get(id) ?? 0) + renderedLength);
    if (file.facadeModuleId !== null) chunks.push([file.facadeModuleId, name]);
  }
  const parts = new Map<string, { face?: string; body?: string }>();
  for (const [id, name] of entries ?? chunks) {
    const { file, part } = parsePartId(id);
    // With another query it is another module.
    const key = part === undefined ? id : file;
    if (part !== "shared")
      parts.set(key, { ...parts.get(key), [part === "body" ? "body" : "face"]: name });
  }
  return { folder, parts, files, moduleSizes };
}

/**
 * The files outside the source folder among these modules, relative to the application folder:
 * pages, modules beside it, linked packages and their package.json. Installed packages are left
 * out, as they don't change under an application.
 */
export function outsideOf(
  ids: readonly string[],
  { root, source }: { readonly root: string; readonly source: string },
): readonly string[] {
  const files = new Set(
    ids
      .map((id) => id.replace(/[?#].*$/, ""))
      .filter((file) => isAbsolute(file) && existsSync(file)),
  );
  const outside = [...files].filter((file) => !isInside(source, file) && !isInstalled(file));
  const packages = outside
    .flatMap((file) => packageOf(file)?.folder ?? [])
    .map((folder) => join(folder, "package.json"));
  return [...new Set([...outside, ...packages])].map((file) => slashed(relative(root, file)));
}
