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
  if (failed !== undefined || code === "ERR_MODULE_NOT_FOUND") return failed;
  for (const [, url = "", line, column] of stack.matchAll(/(?:\(|at (?:async )?)((?:file:\/\/)?\/[^()\s]+?):(\d+):(\d+)\)?$/gm)) {
    const place = { file: pathOf(url), line: Number(line), column: Number(column) };
    if (isInRunTree(place.file)) {
      const mapped = mappedPlace(place);
      if (mapped !== undefined) return mapped;
    } else if (!/[\\/]node_modules[\\/]/.test(place.file) && !own.some((folder) => place.file.startsWith(folder))) return withFrame(place);
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
  const text = map?.sourcesContent?.[map.sources.findIndex((source) => pathOf(source) === place.file)];
  return typeof text === "string" ? { ...place, frame: frameOf(text, place.line, place.column) } : place;
}

/** An import that leads nowhere, or to what isn't exported: no module has run, so no stack leads to it. */
function failedImport(thrown: unknown, stack: string): Place | undefined {
  const { message = "" } = (thrown ?? {}) as { message?: string };
  const [, missing, importer] = /^Cannot find (?:package|module) '(.+?)' imported from (.+)$/m.exec(message) ?? [];
  const [, unexported] = /^The requested module '(.+?)' /.exec(message) ?? [];
  // Node puts the importer before the message.
  const [, url] = /^(file:\/\/\S+?):\d+\n/.exec(stack) ?? [];
  const specifier = missing ?? unexported;
  const from = importer ?? url;
  if (specifier === undefined || from === undefined) return undefined;
  const map = mapOf(pathOf(from));
  const file = map?.sources[0] === undefined ? pathOf(from) : pathOf(map.sources[0]);
  const text = map?.sourcesContent?.[0] ?? (existsSync(file) ? readFileSync(file, "utf8") : "");
  const offset = ['"', "'"].map((quote) => text.indexOf(quote + specifier)).find((found) => found >= 0);
  if (offset === undefined) return undefined;
  const { line, column } = placeOf(text, offset);
  return { file, line, column, frame: frameOf(text, line, column) };
}

function mappedPlace({ file, line, column }: Place): Place | undefined {
  const map = mapOf(file);
  if (map === undefined) return undefined;
  const { originalSource, originalLine, originalColumn } = new SourceMap(map).findEntry(line - 1, column - 1) as Partial<{
    originalSource: string;
    originalLine: number;
    originalColumn: number;
  }>;
  if (originalSource === undefined || originalLine === undefined) return undefined;
  return withMappedFrame(withFrame({ file: pathOf(originalSource), line: originalLine + 1, column: (originalColumn ?? 0) + 1 }), file);
}

function mapOf(file: string): SourceMapPayload | undefined {
  return existsSync(`${file}.map`) ? (JSON.parse(readFileSync(`${file}.map`, "utf8")) as SourceMapPayload) : undefined;
}

function withFrame(place: Place): Place {
  if (!existsSync(place.file)) return place;
  return { ...place, frame: frameOf(readFileSync(place.file, "utf8"), place.line, place.column) };
}

function pathOf(url: string): string {
  const path = url.replace(/[?#].*$/, "");
  return isAbsolute(path) ? path : fileURLToPath(path);
}
