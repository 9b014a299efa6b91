// Loaded into a service before everything else: counts promises, and prints their number at SIGUSR2.

import { createHook } from "node:async_hooks";
import { writeSync } from "node:fs";

let promises = 0;
createHook({
  init(_id, type) {
    if (type === "PROMISE") promises++;
  },
}).enable();

process.on("SIGUSR2", () => writeSync(1, `${promises} promises\n`));
