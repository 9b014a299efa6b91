// A file that can't be written: the error names the file, the reason and a remedy.

import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "this user's share of the disk is full",
  EROFS: "the disk is read-only",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EMFILE: "this process has too many open files",
  ENFILE: "this machine has too many open files",
  ENOTDIR: "there is a file where a folder should be",
  EISDIR: "there is a folder where a file should be",
};

const remedies: Readonly<Record<string, string>> = {
  ENOSPC: "Free some space",
  EDQUOT: "Free some space",
  EMFILE: "Raise the limit (ulimit -n)",
  ENFILE: "Raise the limit (fs.file-max)",
  ENOTDIR: "Remove the file",
  EISDIR: "Remove the folder",
};

/** A file or folder can't be written, for a reason that the user can fix. */
export class WriteFailure extends Error {
  override readonly name: string = "WriteFailure";
  readonly reason: string;

  /** `instead` is an alternative, such as `choose another "output"`. */
  constructor(path: string, code: string, instead: string, cause?: unknown) {
    const reason = `${reasons[code] ?? "the system refuses"} (${code})`;
    super(
      `Can't write ${path}: ${reason}. ${remedies[code] ?? "Make it writable"}, or ${instead}`,
      {
        cause,
      },
    );
    this.reason = reason;
  }
}

/** Runs `write`, which writes `path`. Throws a {@link WriteFailure} if the disk is the reason. */
export async function writing<T>(
  path: string,
  instead: string,
  write: () => T | Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw asWriteFailure(error, path, instead);
  }
}

/** A {@link WriteFailure} for an error of writing `path`, or the error itself if it has another reason. */
export function asWriteFailure(error: unknown, path: string, instead: string): unknown {
  const { code, syscall, path: found } = error as NodeJS.ErrnoException;
  // For mkdir, a file or a broken link of that name.
  const reason = code === "EEXIST" && syscall === "mkdir" ? "ENOTDIR" : code;
  if (reason === undefined || !Object.hasOwn(reasons, reason)) return error;
  return new WriteFailure((reason === "ENOTDIR" && found) || path, reason, instead, error);
}

/**
 * Creates a folder and its parents one by one. Node's recursive mkdir says ENOENT on a read-only disk,
 * and never returns on /proc.
 */
export async function makeFolder(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  if (found === undefined) await makeFolder(dirname(path));
  await mkdir(path).catch(async (error: unknown) => {
    // Another process may have created it meanwhile.
    if ((await stat(path).catch(() => undefined))?.isDirectory() !== true) throw error;
  });
}
