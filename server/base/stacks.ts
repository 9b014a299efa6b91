// Stacks for the log: the application's frames, without those of the runtime around it.

import { ServiceError } from "../../src/base/errors.ts";
import { packageFolder } from "./package-folder.ts";

// Causes of one error may form a circle.
const maxCauses = 8;
// Entries of one AggregateError, each with its causes.
const maxEntries = 8;

/** An application may be inside the package's own folder, as the demo is. */
const ownFolders: readonly string[] = ["dist", "server", "src"].map(
  (folder) => `${packageFolder}/${folder}/`,
);

/** The stack of a thrown value, and those of its causes and of the entries of an AggregateError. */
export function stackOf(thrown: unknown, causes = 0): string {
  try {
    if (!(thrown instanceof Error)) return String(thrown);
    // Drop our frames from the runtime's own errors, whose message says everything, and from errors with a cause,
    // which says more.
    const text = withoutOwnFrames(
      thrown.stack ?? `${thrown.name}: ${thrown.message}`,
      thrown instanceof ServiceError || thrown.cause instanceof Error,
    );
    if (causes === maxCauses) return text;
    const entries: readonly unknown[] =
      thrown instanceof AggregateError && Array.isArray(thrown.errors) ? thrown.errors : [];
    const more = entries.length - maxEntries;
    return [
      text,
      // Entries aren't followed as far: each may have entries itself.
      ...entries.slice(0, maxEntries).map((entry) => `with ${stackOf(entry, maxCauses - 1)}`),
      ...(more > 0 ? [`with ${more} more`] : []),
      ...(thrown.cause === undefined ? [] : [`caused by ${stackOf(thrown.cause, causes + 1)}`]),
    ].join("\n");
  } catch {
    // A getter or a proxy threw. Logging must never fail: an answer waits for it.
    return "the thrown value can't be read";
  }
}

/**
 * A stack without the frames of this package and of Node. An error without frames of the application keeps them,
 * unless `always`: nothing else says where it comes from.
 */
export function withoutOwnFrames(stack: string, always = false): string {
  const lines = stack.split("\n");
  if (!always && !lines.some((line) => isFrame(line) && !isOwnFrame(line))) return stack;
  return lines
    .filter((line) => !isOwnFrame(line))
    .map((line) => line.replace(contextType, "$1"))
    .join("\n");
}

/** V8 names a procedure after the class of its `this`, which is ours. */
const contextType = /^( +at (?:async )?)CallContext\./;

const isFrame = (line: string): boolean => /^ +at /.test(line);

function isOwnFrame(line: string): boolean {
  if (!isFrame(line)) return false;
  // `at async Promise.all (index 0)` and the like don't have a place of their own.
  if (/\((?:<anonymous>|native|index \d+)\)$/.test(line) || /[( ]node:/.test(line)) return true;
  // An error of another service may come from a package in another place.
  return (
    line.includes("/node_modules/seamline/") || ownFolders.some((folder) => line.includes(folder))
  );
}
