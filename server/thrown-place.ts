// Where something was thrown, in the sources: read from a stack, whether Node has mapped it already or not.

import { existsSync, readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";

import { frameOf, placeOf } from "../src/split/mark.ts";
import { packageFolder } from "./package-folder.ts";
import { isInRunTree } from "./run-tree.ts";

export interface Place {
  /** Absolute. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The lines around, where they can be had on this machine. */
  readonly frame?: string;
}

// An application may lie inside of this folder itself, as the demo does.
const own = ["dist", "server", "src"].map((folder) => `${packageFolder}/${folder}/`);

/** The first place of the application's own in the stack of what was thrown, or the import that failed. */
export function thrownPlace(thrown: unknown): Place | undefined {
  const stack = thrown instanceof Error && typeof thrown.stack === "string" ? thrown.stack : "";
  const { code } = (thrown ?? {}) as { code?: unknown };
  const failed = failedImport(thrown, stack);
  if (failed !== undefined || code === "ERR_MODULE_NOT_FOUND" || code === "ERR_LOAD_URL")
    return failed;
  for (const [, url = "", line, column] of stack.matchAll(
    /(?:\(|at (?:async )?)((?:file:\/\/)?\/[^()\s]+?):(\d+):(\d+)\)?$/gm,
  )) {
    const file = pathOf(url);
    if (file === undefined) continue;
    const place = { file, line: Number(line), column: Number(column) };
    if (isInRunTree(place.file)) {
      const mapped = mappedPlace(place);
      if (mapped !== undefined) return mapped;
    } else if (
      !/[\\/]node_modules[\\/]/.test(place.file) &&
      !own.some((folder) => place.file.startsWith(folder))
    )
      return withFrame(place);
  }
  return undefined;
}

/** The source of a built module, by the map beside it. */
export function sourceOfBuilt(file: string): string | undefined {
  const [first] = mapOf(file)?.sources ?? [];
  return first === undefined ? undefined : pathOf(first);
}

/** The same place, with its lines as the map beside a built module has them, where the source itself isn't on this machine. */
export function withMappedFrame(place: Place, file: string): Place {
  if (place.frame !== undefined) return place;
  const map = mapOf(file);
  const text =
    map?.sourcesContent?.[map.sources.findIndex((source) => pathOf(source) === place.file)];
  return typeof text === "string"
    ? { ...place, frame: frameOf(text, place.line, place.column) }
    : place;
}

/** An import that leads nowhere, as Node and Vite's module runner tell it. */
export interface MissingImport {
  readonly kind: "module" | "package";
  readonly specifier: string;
  /** A path, or a name that only a plugin knows. */
  readonly importer: string;
}

export function missingImport(message: string): MissingImport | undefined {
  const [, kind, specifier, importer] =
    /^Cannot find (package|module) '(.+?)' imported from '?(.+?)'?$/m.exec(message) ??
    /^Failed to load (url) (\S+) \(resolved id: .*?\) in (.+)\. Does the file exist\?$/m.exec(
      message,
    ) ??
    [];
  if (kind === undefined || specifier === undefined || importer === undefined) return undefined;
  // Vite calls packages modules.
  const isPackage = kind === "package" || !/^(?:[./\0]|[a-z]+:)/i.test(specifier);
  return { kind: isPackage ? "package" : "module", specifier, importer };
}

/** An import that leads nowhere, or to what isn't exported: no module has run, so no stack leads to it. */
function failedImport(thrown: unknown, stack: string): Place | undefined {
  const { message = "" } = (thrown ?? {}) as { message?: string };
  const missing = missingImport(message);
  const [, unexported] = /^The requested module '(.+?)' /.exec(message) ?? [];
  // Node puts the importer before the message.
  const [, url] = /^(file:\/\/\S+?):\d+\n/.exec(stack) ?? [];
  const specifier = missing?.specifier ?? unexported;
  const importer = pathOf(missing?.importer ?? url ?? "");
  if (specifier === undefined || importer === undefined) return undefined;
  const map = isInRunTree(importer) ? mapOf(importer) : undefined;
  const file = pathOf(map?.sources[0] ?? importer);
  if (file === undefined) return undefined;
  const source = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  // A part of a module, with the rest of the module blanked: places in it are those of the source.
  const built = map?.sourcesContent?.[0];
  const offset = importIn(built ?? source ?? "", specifier);
  if (offset === undefined) return undefined;
  // The source may have been edited since the build.
  const text = source?.startsWith(specifier, offset + 1) === true ? source : (built ?? "");
  const { line, column } = placeOf(text, offset);
  return { file, line, column, frame: frameOf(text, line, column) };
}

/** Where a text imports this: the first import of it, or else the first time that it is named. */
function importIn(text: string, specifier: string): number | undefined {
  const named = `["'\`]${specifier.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}["'\`/]`;
  const found =
    new RegExp(`\\b(?:from|import)\\s*\\(?\\s*(?=${named})`).exec(text) ??
    new RegExp(`(?=${named})`).exec(text);
  return found === null ? undefined : found.index + found[0].length;
}

function mappedPlace({ file, line, column }: Place): Place | undefined {
  const map = mapOf(file);
  if (map === undefined) return undefined;
  const { originalSource, originalLine, originalColumn } = new SourceMap(map).findEntry(
    line - 1,
    column - 1,
  ) as Partial<{
    originalSource: string;
    originalLine: number;
    originalColumn: number;
  }>;
  const source = originalSource === undefined ? undefined : pathOf(originalSource);
  if (source === undefined || originalLine === undefined) return undefined;
  return withMappedFrame(
    withFrame({ file: source, line: originalLine + 1, column: (originalColumn ?? 0) + 1 }),
    file,
  );
}

function mapOf(file: string): SourceMapPayload | undefined {
  return existsSync(`${file}.map`)
    ? (JSON.parse(readFileSync(`${file}.map`, "utf8")) as SourceMapPayload)
    : undefined;
}

function withFrame(place: Place): Place {
  if (!existsSync(place.file)) return place;
  return { ...place, frame: frameOf(readFileSync(place.file, "utf8"), place.line, place.column) };
}

/** The path of a file that a stack, a message or a map names; `undefined` for all else that may be named there. */
function pathOf(name: string): string | undefined {
  const path = name.replace(/[?#].*$/, "");
  if (isAbsolute(path)) return path;
  try {
    return path.startsWith("file:") ? fileURLToPath(path) : undefined;
  } catch {
    // Not the address of a file on this machine.
    return undefined;
  }
}
