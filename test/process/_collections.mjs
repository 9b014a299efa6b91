// Loaded into a service before everything else: V8 reports collections, and the process prints its
// age at SIGUSR2, in the same unit.
import { writeSync } from "node:fs";
import { setFlagsFromString } from "node:v8";

setFlagsFromString("--trace-gc-nvp");

process.on("SIGUSR2", () => writeSync(1, `AGE ${performance.now()}\n`));
