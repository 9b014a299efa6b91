// A process that runs one serializer on one value, there and back, for as long as it's told.
// node loop.mjs <module of serializers/> <case> [<address of a bundle>]

import { isDeepStrictEqual } from "node:util";
import { values } from "../lib/values.mjs";
import { unable } from "./serve.mjs";

const [file, name, bundle] = process.argv.slice(2);
/** Not longer than a few milliseconds, so that the clock is read rarely and in time. */
let batch = 1;

async function main() {
  const { serializer } = await import(`./serializers/${file}.mjs`);
  const made = await serializer(name, bundle);
  if (typeof made === "string") return unable(made);
  const [write, read] = made;
  const value = values[name]();
  const result = read(write(value));
  // A Buffer is as good as a Uint8Array.
  const copy = name === "bytes" ? { image: new Uint8Array(result.image) } : result;
  if (!isDeepStrictEqual(copy, value)) return unable("what it reads isn't what it wrote");
  let last;
  process.on("message", ({ seconds }) => {
    const began = process.cpuUsage();
    const end = performance.now() + seconds * 1_000;
    let count = 0;
    for (;;) {
      const start = performance.now();
      for (let at = 0; at < batch; at++) last = read(write(value));
      count += batch;
      const now = performance.now();
      if (now - start < 2) batch *= 2;
      if (now >= end) break;
    }
    const { user, system } = process.cpuUsage(began);
    process.send({ cost: (user + system) / count, last: typeof last });
  });
  process.send({});
}

await main();
