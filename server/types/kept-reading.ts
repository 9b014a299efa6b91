// A reading that is kept in a file, for builds, development and test runs alike: it counts as long as nothing that
// was read has changed.

import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { threadId } from "node:worker_threads";
import { packageVersion } from "../base/package-folder.ts";
import { isOfPackage, type Programs, stampOf } from "./programs.ts";
import type { TypesRequest } from "./reading.ts";

/** Folder → hash of the names in it. */
export type Folders = Readonly<Record<string, string>>;

/** The first line of the file. The second one is the reading, which only the asking thread parses. */
interface Kept {
  /** Hash of the request, the compiler's version and our own. */
  readonly request: string;
  /** The files that were read. */
  readonly files: Readonly<Record<string, KeptFile>>;
  /** Files that would have been read, had they existed. */
  readonly missing: readonly string[];
  readonly folders: Folders;
}

/**
 * An equal stamp proves that a file is unchanged. After a checkout or a copy, stamps differ and the content
 * decides.
 */
interface KeptFile {
  readonly stamp: string;
  readonly hash: string;
}

/** The text of the reading that an equal request had, if all files are as they were. */
export function keptReading(request: TypesRequest, compiler: string): string | undefined {
  const text = contentOf(request.cache);
  const end = text?.indexOf(lineBreak) ?? -1;
  if (text === undefined || end < 0) return undefined;
  const kept = parsed(text.toString("utf8", 0, end));
  // Another release may have written it, with other members.
  if (kept?.request !== requestHash(request, compiler)) return undefined;
  return isUnchanged(kept, request.outputs) ? text.toString("utf8", end + 1) : undefined;
}

const lineBreak = "\n";

function parsed(line: string): Kept | undefined {
  try {
    return JSON.parse(line) as Kept;
  } catch {
    return undefined;
  }
}

function isUnchanged({ files, missing, folders }: Kept, outputs: readonly string[]): boolean {
  return (
    areSame(folders, outputs) &&
    !missing.some((file) => existsSync(file)) &&
    Object.entries(files).every(
      ([file, { stamp, hash }]) => stampOf(file) === stamp || fileHash(file) === hash,
    )
  );
}

/** Keeps the text of a reading. */
export function keepReading(
  request: TypesRequest,
  compiler: string,
  { files, missing, folders }: Pick<Programs, "files" | "missing"> & { readonly folders: Folders },
  reading: string,
): void {
  const { cache } = request;
  const kept: Kept = {
    request: requestHash(request, compiler),
    files: Object.fromEntries([...files].map(([file, stamp]) => [file, keptFile(file, stamp)])),
    missing: [...missing],
    folders,
  };
  // A file that was changed after it was read would be kept with another content.
  const isCurrent =
    [...files].every(([file, stamp]) => stampOf(file) === stamp) &&
    ![...missing].some((file) => existsSync(file));
  if (!isCurrent) return forgetReading(cache);
  // Another process may read it at any moment.
  const whole = `${cache}.${process.pid}-${threadId}`;
  mkdirSync(dirname(cache), { recursive: true });
  try {
    writeFileSync(whole, `${JSON.stringify(kept)}${lineBreak}${reading}`);
    renameSync(whole, cache);
  } catch (error) {
    rmSync(whole, { force: true });
    throw error;
  }
}

export function forgetReading(cache: string): void {
  rmSync(cache, { force: true });
}

/** The folders of files: a new file in one may declare more. Of packages only the files count. */
export function foldersOf(files: Iterable<string>, outputs: readonly string[]): Folders {
  const own = [...files].filter((file) => !isOfPackage(file));
  const folders = new Set(own.map((file) => dirname(file)));
  return Object.fromEntries([...folders].map((folder) => [folder, folderHash(folder, outputs)]));
}

export function areSame(folders: Folders, outputs: readonly string[]): boolean {
  return Object.entries(folders).every(([folder, hash]) => folderHash(folder, outputs) === hash);
}

/** Of {@link Kept}: a file with others is never read as one with these. */
const members: Readonly<Record<Exclude<keyof Kept, "request">, true>> = {
  files: true,
  missing: true,
  folders: true,
};

function requestHash(request: TypesRequest, compiler: string): string {
  return hashOf(JSON.stringify([members, request, compiler, packageVersion()]));
}

/** Of earlier readings: after an edit, nearly all files are as they were. */
const keptFiles = new Map<string, KeptFile>();

function keptFile(file: string, stamp: string): KeptFile {
  const known = keptFiles.get(file);
  if (known?.stamp === stamp) return known;
  const kept = { stamp, hash: fileHash(file) };
  keptFiles.set(file, kept);
  return kept;
}

function fileHash(file: string): string {
  return hashOf(contentOf(file) ?? "");
}

/** Outputs don't count, nor do hidden names: a build that is running has its output under one. */
function folderHash(folder: string, outputs: readonly string[]): string {
  try {
    const names = readdirSync(folder).filter(
      (name) => !name.startsWith(".") && !outputs.includes(join(folder, name)),
    );
    return hashOf(names.sort().join("\n"));
  } catch {
    return "";
  }
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
