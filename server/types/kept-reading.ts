// A reading that is kept in a file, for builds, development and test runs alike: it counts as long as nothing has
// changed that its types depend on.

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
import { type Compiler, isOfPackage, outlineOf, type Programs, stampOf } from "./programs.ts";
import type { KeptAnswer, TypesRequest } from "./reading.ts";

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
 * decides. After an edit, its outline does: most edits are inside functions.
 */
interface KeptFile {
  readonly stamp: string;
  readonly hash: string;
  /** Absent where every change counts. */
  readonly outline?: string | undefined;
}

/** The application's compiler, which is loaded when it is first needed. */
interface UsedCompiler {
  readonly version: string;
  readonly load: () => Compiler;
}

/** The reading that an equal request had, if nothing has changed that its types depend on. */
export function keptReading(request: TypesRequest, compiler: UsedCompiler): KeptAnswer | undefined {
  const text = contentOf(request.cache);
  const end = text?.indexOf(lineBreak) ?? -1;
  if (text === undefined || end < 0) return undefined;
  const kept = parsed(text.toString("utf8", 0, end));
  // Another release may have written it, with other members.
  if (kept?.request !== requestHash(request, compiler)) return undefined;
  if (!areSame(kept.folders, request.outputs) || kept.missing.some((file) => existsSync(file)))
    return undefined;
  const changed: [string, KeptFile][] = [];
  for (const [file, known] of Object.entries(kept.files)) {
    const stamp = stampOf(file);
    if (stamp === known.stamp) continue;
    const now = stamp === undefined ? undefined : sameFile(file, stamp, known, compiler);
    if (now === undefined) return undefined;
    changed.push([file, now]);
  }
  const reading = text.toString("utf8", end + 1);
  if (changed.length === 0) return { reading };
  // The next reading compares stamps again, and no more.
  const files = { ...kept.files, ...Object.fromEntries(changed) };
  return write(request.cache, { ...kept, files }, reading);
}

/** A file as it is now, if that makes no difference to the types. */
function sameFile(
  file: string,
  stamp: string,
  known: KeptFile,
  { load }: UsedCompiler,
): KeptFile | undefined {
  const content = contentOf(file);
  if (content === undefined) return undefined;
  const hash = hashOf(content);
  const { outline } = known;
  const isSame =
    hash === known.hash ||
    (outline !== undefined && outlineOf(load(), file, content.toString()) === outline);
  return isSame ? { stamp, hash, outline } : undefined;
}

const lineBreak = "\n";

function parsed(line: string): Kept | undefined {
  try {
    return JSON.parse(line) as Kept;
  } catch {
    return undefined;
  }
}

/** The parts of a reading that decide for how long it counts. */
interface ReadFrom extends Pick<Programs, "files" | "outlines" | "missing"> {
  readonly folders: Folders;
}

/** Keeps the text of a reading, and returns it. */
export function keepReading(
  request: TypesRequest,
  compiler: UsedCompiler,
  { files, outlines, missing, folders }: ReadFrom,
  reading: string,
): KeptAnswer {
  const { cache } = request;
  const kept: Kept = {
    request: requestHash(request, compiler),
    files: Object.fromEntries(
      [...files].map(([file, stamp]) => [
        file,
        { ...keptFile(file, stamp), outline: outlines.get(file) },
      ]),
    ),
    missing: [...missing],
    folders,
  };
  // A file that was changed after it was read would be kept with another content.
  const isCurrent =
    [...files].every(([file, stamp]) => stampOf(file) === stamp) &&
    ![...missing].some((file) => existsSync(file));
  return isCurrent ? write(cache, kept, reading) : forgetReading(cache, reading);
}

/** Takes away what is kept, and returns the reading. */
export const forgetReading = (cache: string, reading: string): KeptAnswer =>
  keeping(reading, () => rmSync(cache, { force: true }));

function write(cache: string, kept: Kept, reading: string): KeptAnswer {
  return keeping(reading, () => {
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
  });
}

function keeping(reading: string, keep: () => void): KeptAnswer {
  try {
    keep();
    return { reading };
  } catch (error) {
    return { reading, unkept: error instanceof Error ? error.message : String(error) };
  }
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

function requestHash(request: TypesRequest, { version }: UsedCompiler): string {
  return hashOf(JSON.stringify([members, request, version, packageVersion()]));
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
