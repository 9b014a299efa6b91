// Stacks with the lines of the application only.

import { packageFolder } from "../../base/package-folder.ts";

const tidied = new WeakSet<Error>();
// An application may lie inside the package folder, as the demo does.
const own = ["dist", "server", "src"].map((folder) => `${packageFolder}/${folder}/`);

/** Removes lines of the runtime and of Node from an error's stack. */
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
