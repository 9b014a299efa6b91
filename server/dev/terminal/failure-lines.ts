// Prints an error that a procedure threw, with its place in the sources and its trace of calls.

import { pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { ServiceError } from "../../../src/base/errors.ts";
import { traceOf } from "../../../src/base/trace.ts";
import { packageFolder } from "../../base/package-folder.ts";
import { oneEntry } from "../../base/printable.ts";
import type { Paint } from "./text.ts";

/** Stack frames of one error. */
const maxFrames = 10;
const maxCauses = 3;

export function failureLines(
  error: unknown,
  { root, paint, head }: { root: string; paint: Paint; head: string },
): { readonly text: string; readonly same: string } {
  const lines: string[] = [];
  let cause: unknown = error;
  for (let depth = 0; depth <= maxCauses && cause !== undefined; depth++) {
    const what =
      depth === 0
        ? `${paint("red", `${head}:`)} ${titleOf(cause)}`
        : `  caused by ${titleOf(cause)}`;
    lines.push(what, ...framesOf(cause, root).map((frame) => paint("dim", `    ${frame}`)));
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  lines.push(...traceOf(error).map((line) => paint("dim", `    ${line}`)));
  const text = lines.join("\n");
  return { text, same: text };
}

/** `NotFound: No such sku`, without control characters: callers may influence the message. */
export function titleOf(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return oneEntry(stripVTControlCharacters(String(thrown)));
    const title = thrown.message === "" ? thrown.name : `${thrown.name}: ${thrown.message}`;
    return oneEntry(stripVTControlCharacters(title));
  } catch {
    return "an error that can't be printed";
  }
}

/** Why an action of the session itself has failed. */
export function reasonOf(thrown: unknown): string {
  return thrown instanceof Error && thrown.name === "Error" ? thrown.message : titleOf(thrown);
}

/**
 * The application's own stack frames with relative paths. If it has none, all of them; but those of
 * the runtime's own errors say nothing.
 */
function framesOf(thrown: unknown, root: string): readonly string[] {
  if (!(thrown instanceof Error) || typeof thrown.stack !== "string") return [];
  const frames = thrown.stack
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim());
  const own = frames.filter((frame) => !isForeign(frame, root));
  const isOfRuntime = thrown instanceof ServiceError;
  const shown = (own.length > 0 || isOfRuntime ? own : frames).slice(0, maxFrames);
  return shown.map((frame) =>
    frame.replaceAll(`${pathToFileURL(root).href}/`, "").replaceAll(`${root}/`, ""),
  );
}

const packageUrl = pathToFileURL(packageFolder).href;

/** Frames of Node, this package or Vite: the mistake isn't there. */
function isForeign(frame: string, root: string): boolean {
  if (/\((?:node:|<anonymous>)|at node:|\/node_modules\/(?:seamline|vite|rolldown)\//.test(frame))
    return true;
  const ours = frame.includes(`${packageFolder}/`) || frame.includes(`${packageUrl}/`);
  // The application may be inside the package's folder, as the demo is.
  return ours && !frame.includes(`${root}/`) && !frame.includes(pathToFileURL(root).href);
}
