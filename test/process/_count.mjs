// Loaded into a service before everything else: counts promises, or lets V8 report collections, and
// prints the count and the time at SIGUSR2.
import { createHook } from "node:async_hooks";
import { writeSync } from "node:fs";
import { setFlagsFromString } from "node:v8";

let promises = 0;
if (process.env["COUNT"] === "promises")
  createHook({
    init(_id, type) {
      if (type === "PROMISE") promises++;
    },
  }).enable();
else setFlagsFromString("--trace-gc-nvp");

process.on("SIGUSR2", () => writeSync(1, `COUNTED ${promises} at ${performance.now()}\n`));
