#!/usr/bin/env node
// The command `seamline`.

import module from "node:module";

// From Node 22 on, what was compiled once is kept in the folder for temporary files: `seamline dev` is ready some 50 ms earlier. Where
// nothing can be written there, nothing is.
(module as { enableCompileCache?: () => unknown }).enableCompileCache?.();
// Only what is imported after that is kept.
const { run } = await import("./program.ts");

const words = process.argv.slice(2);
// Who reads has enough, as `head` has after a line. A service that loses its log has lost more.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE" || words[0] === "start") throw error;
  // All others come to their end, with the code that they have.
  if (words[0] === "dev") process.kill(process.pid, "SIGTERM");
});
const code = await run(words);
if (code !== 0) process.exitCode = code;
// A zero says that a command ran until it was told to stop. `start` leaves none, and goes on running.
if (code !== 0 || process.exitCode === 0) {
  // What a failed start or an application has left open must not keep the process; output that is still being written may finish.
  setTimeout(() => process.exit(), 500).unref();
}
