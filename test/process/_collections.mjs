// Loaded into a service before everything else: V8 reports collections. At SIGUSR2 the process prints
// its age, in the same unit, and whether Node has loaded the library of `fetch`.
import { writeSync } from "node:fs";
import { setFlagsFromString } from "node:v8";

setFlagsFromString("--trace-gc-nvp");

process.on("SIGUSR2", () => {
  const loaded = process.moduleLoadList.includes("NativeModule internal/deps/undici/undici");
  writeSync(1, `FETCH ${loaded ? "loaded" : "not loaded"}\nAGE ${performance.now()}\n`);
});
