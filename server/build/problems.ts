// What the bundler found wrong, in the form of all problems.

import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { isAbsolute, relative, resolve } from "node:path";

import { type Problem, Problems } from "../../src/problem.ts";
import { frameOf } from "../../src/split/mark.ts";
import { slashed } from "../sources.ts";
import { unwritable } from "./output.ts";

interface BundlerError {
  readonly message?: string;
  readonly errors?: readonly BundlerError[];
  readonly id?: string;
  readonly frame?: string;
  readonly loc?: { readonly file?: string; readonly line: number; readonly column: number };
}

/** Every problem behind an error of Vite or of a plugin. Errors that are none of sources are thrown on, with their stack. */
export function bundlerProblems(error: unknown, root: string): readonly Problem[] {
  if (error instanceof Problems) return error.problems;
  const full = unwritten(error);
  if (full !== undefined) throw full;
  const found = (error as BundlerError).errors ?? [error as BundlerError];
  if (!found.every((one) => one.id !== undefined || one.loc !== undefined)) throw error;
  return found.map((one) => {
    // The bundler writes for terminals of its own.
    // oxlint-disable-next-line no-control-regex
    const message = (one.message ?? "the bundler gives no reason")
      .replace(/\u001b\[[\d;]*m/g, "")
      .trim();
    const file = (one.loc?.file ?? one.id ?? "").replace(/[?#].*$/, "");
    const place = one.loc && { line: one.loc.line, column: one.loc.column + 1 };
    if (file === "" && place !== undefined) return drawn(message, place, root);
    return {
      file: isAbsolute(file) ? slashed(relative(root, file)) : file,
      ...place,
      message,
      ...(one.frame !== undefined && { frame: one.frame }),
    };
  });
}

/** What the bundler draws names the file, relative to where the process was started, where the error itself doesn't. */
function drawn(
  message: string,
  place: { readonly line: number; readonly column: number },
  root: string,
): Problem {
  const [, path = ""] = /╭─\[ (.+?):\d+:\d+ \]/.exec(message) ?? [];
  const file = resolve(path);
  if (path === "" || !existsSync(file)) return { file: "", ...place, message };
  const [first = ""] = message.split("\n");
  const frame = frameOf(readFileSync(file, "utf8"), place.line, place.column);
  return {
    file: slashed(relative(root, file)),
    ...place,
    message: first.replace(/^\[[\w:-]+\] /, ""),
    frame,
  };
}

/** What rolldown tells, with a backtrace, of files that it can't write. */
function unwritten(error: unknown): Error | undefined {
  const found = /Could not [^\n]*: ([^\n]+)\n+Caused by:\n[^\n]*\(os error (\d+)\)/.exec(
    error instanceof Error ? error.message : "",
  );
  return found === null
    ? undefined
    : unwritable(found[1] ?? "", nameOfErrno(Number(found[2])), error);
}

function nameOfErrno(number: number): string {
  return (
    Object.entries(constants.errno).find(([, value]) => value === number)?.[0] ?? `error ${number}`
  );
}
