#!/usr/bin/env node
// The command `seamline`.

import { run } from "./program.ts";

const code = await run(process.argv.slice(2));
if (code !== 0) {
  process.exitCode = code;
  // What a failed start has left open must not keep the process; output that is still being written may finish.
  setTimeout(() => process.exit(), 500).unref();
}
