// Stacks as the application's people want them: their lines, and not ours.

import { packageFolder } from "../package-folder.ts";

const tidied = new WeakSet<Error>();
// An application may lie inside of this folder itself, as the demo does.
const own = ["dist", "server", "src"].map((folder) => `${packageFolder}/${folder}/`);

/** Takes the runtime's own lines out of an error's stack, and Node's; once. What is no stack of V8's stays what it is. */
export function tidy(error: Error): Error {
  if (tidied.has(error) || typeof error.stack !== "string") return error;
  tidied.add(error);
  const lines = error.stack.split("\n").filter((line) => !/^\s+at /.test(line) || !isOwn(line));
  Reflect.defineProperty(error, "stack", {
    value: lines.join("\n"),
    configurable: true,
    writable: true,
  });
  return error;
}

function isOwn(line: string): boolean {
  return /\(?node:[\w/]+:\d+:\d+\)?$/.test(line) || own.some((folder) => line.includes(folder));
}
