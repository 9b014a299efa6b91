#!/usr/bin/env node
// The command `seamline`.

import module from "node:module";

// From Node 22 on, what was compiled once is kept in the folder for temporary files: `seamline dev` is ready some 50 ms earlier. Where
// nothing can be written there, nothing is.
(module as { enableCompileCache?: () => unknown }).enableCompileCache?.();
// Only what is imported after that is kept.
const { run } = await import("./program.ts");

const code = await run(process.argv.slice(2));
if (code !== 0) process.exitCode = code;
// A zero says that a command ran until it was told to stop. `start` leaves none, and goes on running.
if (code !== 0 || process.exitCode === 0) {
  // What a failed start or an application has left open must not keep the process; output that is still being written may finish.
  setTimeout(() => process.exit(), 500).unref();
}
