// What the bundler read, and what it made of which module.

import { existsSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";

import type { Rolldown } from "vite";

import { isInside, slashed } from "../sources.ts";
import { isInstalled, packageOf } from "./package-of.ts";

/** What one environment has written. */
export interface Written {
  /** Ids of all modules that were read for it. */
  readonly modules: readonly string[];
  /** Absolute. */
  readonly folder: string;
  /** Module file and part → output file. */
  readonly parts: ReadonlyMap<string, { readonly face?: string; readonly body?: string }>;
  /** Output file → what it imports; all that the bundler made, style sheets and images too. */
  readonly files: ReadonlyMap<
    string,
    { readonly imports: readonly string[]; readonly dynamicImports: readonly string[] }
  >;
  /** Module id → bytes of code that the bundler kept of it. */
  readonly moduleSizes: ReadonlyMap<string, number>;
}

/** Reads a finished bundle. `entries` are the modules that have files; without them each chunk is one module. */
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
  for (const [name, one] of Object.entries(bundle)) {
    if (one.type !== "chunk") {
      files.set(name, { imports: [], dynamicImports: [] });
      continue;
    }
    // A style sheet comes with the module that imports it, though no code says so any more. Vite names it for servers too, and writes it for pages only.
    const styles = [...(one.viteMetadata?.importedCss ?? [])];
    files.set(name, {
      imports: own([...one.imports, ...styles]),
      dynamicImports: own(one.dynamicImports),
    });
    for (const [id, { renderedLength }] of Object.entries(one.modules))
      moduleSizes.set(id, (moduleSizes.get(id) ?? 0) + renderedLength);
    if (one.facadeModuleId !== null) chunks.push([one.facadeModuleId, name]);
  }
  const parts = new Map<string, { face?: string; body?: string }>();
  for (const [id, name] of entries ?? chunks) {
    const [file = id, part] = id.split("?seamline=");
    if (part !== "shared")
      parts.set(file, { ...parts.get(file), [part === "body" ? "body" : "face"]: name });
  }
  return { folder, parts, files, moduleSizes };
}

/**
 * Files outside of the source folder among modules, by their paths from the application folder: pages, modules beside it, packages that links lead
 * to, with what says where in these an import leads. What was installed is left out: it doesn't change under an application.
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
