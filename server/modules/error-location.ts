// Finds where in the sources an error was thrown, from a stack that Node may or may not have
// mapped.

import { existsSync, readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";

import { frameOf, positionOf } from "../../src/split/read/code-frame.ts";
import { packageFolder } from "../base/package-folder.ts";
import { isInRunTree } from "./run-tree.ts";

export interface SourceLocation {
  /** An absolute path. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The lines around it, if the source is on this machine. */
  readonly frame?: string;
}

// An application may be inside the package's own folder, as the demo is.
const ownFolders = ["dist", "server", "src"].map((folder) => `${packageFolder}/${folder}/`);

/** The first location in the stack that belongs to the application, or the import that failed. */
export function errorLocation(thrown: unknown): SourceLocation | undefined {
  const stack = thrown instanceof Error && typeof thrown.stack === "string" ? thrown.stack : "";
  const { code } = (thrown ?? {}) as { code?: unknown };
  const importLocation = failedImport(thrown, stack);
  if (importLocation !== undefined || code === "ERR_MODULE_NOT_FOUND" || code === "ERR_LOAD_URL")
    return importLocation;
  for (const [, url = "", line, column] of stack.matchAll(
    /(?:\(|at (?:async )?)((?:file:\/\/)?\/[^()\s]+?):(\d+):(\d+)\)?$/gm,
  )) {
    const file = pathOf(url);
    if (file === undefined) continue;
    const location = { file, line: Number(line), column: Number(column) };
    if (isInRunTree(file)) {
      const mapped = mappedLocation(location);
      if (mapped !== undefined) return mapped;
    } else if (
      !/[\\/]node_modules[\\/]/.test(file) &&
      !ownFolders.some((folder) => file.startsWith(folder))
    )
      return withFrame(location);
  }
  return undefined;
}

/** The source of a built module, from its source map. */
export function sourceOfBuilt(file: string): string | undefined {
  const [first] = mapOf(file)?.sources ?? [];
  return first === undefined ? undefined : pathOf(first);
}

/** Adds the lines from the source map of a built module, if the source isn't on this machine. */
export function withMappedFrame(location: SourceLocation, file: string): SourceLocation {
  if (location.frame !== undefined) return location;
  const map = mapOf(file);
  const text =
    map?.sourcesContent?.[map.sources.findIndex((source) => pathOf(source) === location.file)];
  return typeof text === "string"
    ? { ...location, frame: frameOf(text, location.line, location.column) }
    : location;
}

/** An import of a missing module, as Node and Vite's module runner report it. */
export interface MissingImport {
  readonly kind: "module" | "package";
  readonly specifier: string;
  /** A path, or an id that only a plugin knows. */
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
  // Vite says "module" for packages too.
  const isPackage = kind === "package" || !/^(?:[./\0]|[a-z]+:)/i.test(specifier);
  return { kind: isPackage ? "package" : "module", specifier, importer };
}

/** An import of a missing module or export. No module has run, so no stack leads to it. */
function failedImport(thrown: unknown, stack: string): SourceLocation | undefined {
  const { message = "" } = (thrown ?? {}) as { message?: string };
  const missing = missingImport(message);
  const [, unexported] = /^The requested module '(.+?)' /.exec(message) ?? [];
  // In the stack, Node puts the importer before the message.
  const [, url] = /^(file:\/\/\S+?):\d+\n/.exec(stack) ?? [];
  const specifier = missing?.specifier ?? unexported;
  const importer = pathOf(missing?.importer ?? url ?? "");
  if (specifier === undefined || importer === undefined) return undefined;
  const map = isInRunTree(importer) ? mapOf(importer) : undefined;
  const file = pathOf(map?.sources[0] ?? importer);
  if (file === undefined) return undefined;
  const source = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  // A part of a module, with the rest blanked out: its locations are those of the source.
  const built = map?.sourcesContent?.[0];
  const offset = importIn(built ?? source ?? "", specifier);
  if (offset === undefined) return undefined;
  // The source may have been edited since the build.
  const text = source?.startsWith(specifier, offset + 1) === true ? source : (built ?? "");
  const { line, column } = positionOf(text, offset);
  return { file, line, column, frame: frameOf(text, line, column) };
}

/** The offset of the first import of `specifier`, or else of its first mention. */
function importIn(text: string, specifier: string): number | undefined {
  const named = `["'\`]${specifier.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}["'\`/]`;
  const found =
    new RegExp(`\\b(?:from|import)\\s*\\(?\\s*(?=${named})`).exec(text) ??
    new RegExp(`(?=${named})`).exec(text);
  return found === null ? undefined : found.index + found[0].length;
}

function mappedLocation({ file, line, column }: SourceLocation): SourceLocation | undefined {
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

function withFrame(location: SourceLocation): SourceLocation {
  const { file, line, column } = location;
  if (!existsSync(file)) return location;
  return { ...location, frame: frameOf(readFileSync(file, "utf8"), line, column) };
}

/** The path of a file named in a stack, a message or a map; `undefined` if it isn't a file. */
function pathOf(name: string): string | undefined {
  const path = name.replace(/[?#].*$/, "");
  if (isAbsolute(path)) return path;
  try {
    return path.startsWith("file:") ? fileURLToPath(path) : undefined;
  } catch {
    // Not the URL of a file on this machine.
    return undefined;
  }
}
