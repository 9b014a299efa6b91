// Problems in the form that Vite's client shows over a page.

import { existsSync } from "node:fs";
import { join } from "node:path";

import type { ErrorPayload } from "vite";

import { formatProblem, type Problem } from "../../src/base/problem.ts";

/**
 * All problems as one error, since the client shows one at a time. Their files are relative to
 * `root`.
 */
export function overlayError(problems: readonly Problem[], root: string): ErrorPayload {
  const [first, ...rest] = problems.map((problem) => ({
    ...problem,
    file: fileOf(problem, root),
  }));
  if (first === undefined) throw new TypeError("No problem to show");
  const { file, line, column = 1, path, message, hint, frame } = first;
  const text = path === undefined ? message : `at ${path}: ${message}`;
  return {
    type: "error",
    err: {
      message: hint === undefined ? text : `${text}\n→ ${hint}`,
      // The client turns absolute paths into links, here too.
      stack: rest.map(formatProblem).join("\n\n"),
      plugin: "seamline",
      id: file,
      ...(frame !== undefined && { frame: overlayFrame(frame) }),
      ...(line !== undefined && { loc: { file, line, column } }),
    },
  };
}

/** Absolute, so that an editor can open it. Some problems are not about a file. */
function fileOf({ file }: Problem, root: string): string {
  const path = join(root, file);
  return existsSync(path) ? path : file;
}

/**
 * The client trims the frame, which would misalign its first line, so lines start with their
 * number.
 */
function overlayFrame(frame: string): string {
  return frame.replace(/^( +)(\d+)(?= \|)/gm, "$2$1");
}
