#!/usr/bin/env node
// The command `seamline`.

import module from "node:module";

// Node 22 and later cache compiled code in the folder for temporary files, which makes `seamline
// dev` about 50 ms faster. Nothing happens if that folder isn't writable.
(module as { enableCompileCache?: () => unknown }).enableCompileCache?.();
const words = process.argv.slice(2);
const isService = words[0] === "start";
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // A service goes on without its log, and reports that.
  if (isService) return;
  // The reader has closed the pipe, as `head` does.
  if (error.code !== "EPIPE") throw error;
  // Other commands run to their end, with their own exit code.
  if (words[0] === "dev") process.kill(process.pid, "SIGTERM");
});
// Also before it runs.
if (isService) process.stderr.on("error", () => {});
const code = await runCommand();
// A service goes on running.
if (code !== undefined) {
  if (code !== 0 || isService) process.exitCode = code;
  // Handles that a failed start or an application left open must not keep the process alive, but output may
  // finish.
  if (code !== 0 || isService || words[0] === "dev") setTimeout(() => process.exit(), 500).unref();
}

// Only modules that are imported after `enableCompileCache` are cached.
async function runCommand(): Promise<number | undefined> {
  if (isService) {
    const { readStart, runStart } = await import("./start.ts");
    const options = readStart(words);
    // The program has all commands with their help, which a service that starts doesn't need.
    if (options !== undefined) return await runStart(options);
  }
  return await (await import("./program.ts")).run(words);
}
