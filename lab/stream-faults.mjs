// Measures the cost of faults for the reader of a stream with "resume": runs e2e/stream-faults.spec.ts many times, and prints the
// worst of each fault. A stream has failed if its loop ended.
// node lab/stream-faults.mjs [runs], after npm run build

import { spawn } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const runs = Number(process.argv[2] ?? 10);
const file = join(root, "test-results/stream-faults.json");

const words = ["test", "e2e/stream-faults.spec.ts", `--repeat-each=${runs}`, "--workers=1"];
await rm(file, { force: true });
const child = spawn("npx", ["playwright", ...words, "--reporter=line,json"], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, PLAYWRIGHT_JSON_OUTPUT_FILE: file },
});
const code = await new Promise((resolve) => child.on("close", resolve));

const { suites } = JSON.parse(await readFile(file, "utf8"));
const costs = new Map();
for (const { specs } of suites)
  for (const { tests } of specs)
    for (const { annotations } of tests)
      for (const { type, description } of annotations) {
        const { lost, doubled, error } = JSON.parse(description);
        const cost = costs.get(type) ?? { times: 0, failed: 0, lost: 0, doubled: 0 };
        cost.times++;
        if (error !== "") cost.failed++;
        cost.lost = Math.max(cost.lost, lost);
        cost.doubled = Math.max(cost.doubled, doubled);
        costs.set(type, cost);
      }
console.log(`\nThe worst of ${runs} runs; 'times' and 'failed' are those of all runs.`);
console.table(Object.fromEntries(costs));
process.exitCode = code ?? 1;
