// A reading that is kept in a file, for builds, development and test runs alike: it counts as long as nothing that
// was read has changed.

import { createHash } from "node:crypto";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { threadId } from "node:worker_threads";
import { packageVersion } from "../base/package-folder.ts";
import { isOfPackage } from "./programs.ts";
import type { TypesReading, TypesRequest } from "./reading.ts";

/** Folder → hash of the names in it. */
export type Folders = Readonly<Record<string, string>>;

interface Kept {
  /** Hash of the request, the compiler's version and our own. */
  readonly request: string;
  /** File that was read → hash of its content. */
  readonly files: Readonly<Record<string, string>>;
  readonly folders: Folders;
  readonly reading: TypesReading;
}

/** The reading that an equal request had, if all files are as they were. */
export function keptReading(request: TypesRequest, compiler: string): TypesReading | undefined {
  const text = contentOf(request.cache);
  if (text === undefined) return undefined;
  const kept = JSON.parse(text.toString()) as Kept;
  const isAsItWas =
    kept.request === requestHash(request, compiler) &&
    areSame(kept.folders) &&
    Object.entries(kept.files).every(([file, hash]) => fileHash(file) === hash);
  return isAsItWas ? kept.reading : undefined;
}

/** Keeps a reading, unless it has problems: those are solved where nothing looks, as by installing a package. */
export function keepReading(
  request: TypesRequest,
  compiler: string,
  { files, folders }: { readonly files: ReadonlyMap<string, number>; readonly folders: Folders },
  reading: TypesReading,
): void {
  const { cache } = request;
  // A file that was changed after it was read would be kept with another content.
  const isCurrent = [...files].every(([file, modified]) => modifiedOf(file) === modified);
  if (reading.problems.length > 0 || !isCurrent) return rmSync(cache, { force: true });
  const kept: Kept = {
    request: requestHash(request, compiler),
    files: Object.fromEntries([...files.keys()].map((file) => [file, fileHash(file)])),
    folders,
    reading,
  };
  // Another process may read it at any moment.
  const whole = `${cache}.${process.pid}-${threadId}`;
  mkdirSync(dirname(cache), { recursive: true });
  writeFileSync(whole, JSON.stringify(kept));
  renameSync(whole, cache);
}

/** The folders of files: a new file in one may declare more. Of packages only the files count. */
export function foldersOf(files: Iterable<string>): Folders {
  const own = [...files].filter((file) => !isOfPackage(file));
  const folders = new Set(own.map((file) => dirname(file)));
  return Object.fromEntries([...folders].map((folder) => [folder, folderHash(folder)]));
}

export function areSame(folders: Folders): boolean {
  return Object.entries(folders).every(([folder, hash]) => folderHash(folder) === hash);
}

function requestHash(request: TypesRequest, compiler: string): string {
  return hashOf(JSON.stringify([request, compiler, packageVersion()]));
}

function fileHash(file: string): string {
  return hashOf(contentOf(file) ?? "");
}

/** Hidden names don't count: a build that is running has its output under one. */
function folderHash(folder: string): string {
  try {
    const names = readdirSync(folder).filter((name) => !name.startsWith("."));
    return hashOf(names.sort().join("\n"));
  } catch {
    return "";
  }
}

/** In ms; undefined for a file that isn't there. */
function modifiedOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.mtime.getTime();
}

function contentOf(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

function hashOf(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("base64");
}
