#!/usr/bin/env node
// The command `seamline`.

import module from "node:module";
import { readStart } from "./read-start.ts";

// Node 22 and later cache compiled code in the folder for temporary files, which makes `seamline
// dev` about 50 ms faster. Nothing happens if that folder isn't writable.
(module as { enableCompileCache?: () => unknown }).enableCompileCache?.();
const words = process.argv.slice(2);
// Only modules that are imported after that are cached. The program has all commands with their
// help, which a service that starts doesn't need.
const plain = readStart(words);
const run =
  plain === undefined
    ? (await import("./program.ts")).run
    : async () => await (await import("./run-start.ts")).runStart(plain);
const isService = words[0] === "start";
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // It goes on without a log, and says so.
  if (isService) return;
  // The reader has enough, like `head` after a line.
  if (error.code !== "EPIPE") throw error;
  // Other commands run to their end, with their own exit code.
  if (words[0] === "dev") process.kill(process.pid, "SIGTERM");
});
// Before it runs, too.
if (isService) process.stderr.on("error", () => {});
const code = await run(words);
// A service goes on running.
if (code !== undefined) {
  if (code !== 0 || isService) process.exitCode = code;
  // Whatever a failed start or an application left open must not keep the process alive, but output
  // may finish.
  if (code !== 0 || isService || words[0] === "dev") setTimeout(() => process.exit(), 500).unref();
}
