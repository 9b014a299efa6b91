// Turns errors of the bundler into problems.

import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { isAbsolute, relative, resolve } from "node:path";

import { type Problem, Problems } from "../../../src/base/problem.ts";
import { frameOf } from "../../../src/split/read/code-frame.ts";
import { slashed } from "../../files/sources.ts";
import { unwritable } from "./output.ts";

interface BundlerError {
  readonly message?: string;
  readonly errors?: readonly BundlerError[];
  readonly id?: string;
  readonly frame?: string;
  readonly loc?: { readonly file?: string; readonly line: number; readonly column: number };
}

// The bundler colors its messages, whatever the terminal.
// oxlint-disable-next-line no-control-regex
const colors = /\u001b\[[\d;]*m/g;

/**
 * Every problem behind an error of Vite or of a plugin. Rethrows errors that aren't about sources,
 * with their stack.
 */
export function bundlerProblems(error: unknown, root: string): readonly Problem[] {
  if (error instanceof Problems) return error.problems;
  const full = unwritten(error);
  if (full !== undefined) throw full;
  const found = (error as BundlerError).errors ?? [error as BundlerError];
  if (!found.every((failure) => failure.id !== undefined || failure.loc !== undefined)) throw error;
  return found.map((failure) => {
    const message = (failure.message ?? "the bundler gives no reason").replace(colors, "").trim();
    const file = (failure.loc?.file ?? failure.id ?? "").replace(/[?#].*$/, "");
    const place = failure.loc && { line: failure.loc.line, column: failure.loc.column + 1 };
    if (file === "" && place !== undefined) return drawn(message, place, root);
    return {
      file: isAbsolute(file) ? slashed(relative(root, file)) : file,
      ...place,
      message,
      ...(failure.frame !== undefined && { frame: failure.frame }),
    };
  });
}

/**
 * The bundler's code frame names the file, relative to the working directory, if the error itself
 * doesn't.
 */
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

/** The error for a file that rolldown can't write, without its backtrace. */
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
