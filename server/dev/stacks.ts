// Stacks with the lines of the application only.

import { graphId } from "../compile/read/module-ids.ts";
import { withoutOwnFrames } from "../base/stacks.ts";

const tidied = new WeakSet<Error>();

/** Removes lines of the runtime and of Node from an error's stack. */
export function tidy(error: Error): Error {
  if (tidied.has(error) || typeof error.stack !== "string") return error;
  tidied.add(error);
  // Generated code turns a thrown value that isn't an error into one, and so has a frame.
  const lines = error.stack.split("\n").filter((line) => !line.includes(`${graphId}:`));
  Reflect.defineProperty(error, "stack", {
    value: withoutOwnFrames(lines.join("\n"), true),
    configurable: true,
    writable: true,
  });
  return error;
}
