#!/usr/bin/env node
// The command `seamline`.

import { run } from "./program.ts";

const code = await run(process.argv.slice(2));
if (code !== 0) process.exitCode = code;
// A zero says that a command ran until it was told to stop. `start` leaves none, and goes on running.
if (code !== 0 || process.exitCode === 0) {
  // What a failed start or an application has left open must not keep the process; output that is still being written may finish.
  setTimeout(() => process.exit(), 500).unref();
}
