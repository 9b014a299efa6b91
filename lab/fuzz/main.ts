// `npm run fuzz` (lab/fuzz.mjs): reads the options, runs the targets, prints what they found.

import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { type Main, numberOf } from "./command-line.ts";
import { runTarget, type Report } from "./run.ts";
import type { Target } from "./target.ts";
import { decoderTargets } from "./targets/decoders.ts";
import { fieldTargets } from "./targets/fields.ts";
import { fileTargets } from "./targets/files.ts";
import { hostile } from "./targets/hostile.ts";
import { linkTargets } from "./targets/links.ts";
import { processTargets } from "./targets/processes.ts";
import { joinTargets } from "./targets/joins.ts";
import { serviceTargets } from "./targets/services.ts";
import { unread } from "./targets/unread.ts";

/** All targets, the quickest first. */
export const targets: readonly Target[] = [
  ...decoderTargets,
  ...fieldTargets,
  ...fileTargets,
  ...linkTargets,
  ...serviceTargets,
  ...joinTargets,
  ...processTargets,
  hostile,
  unread,
];

/** An input that takes this long is a hang. */
const hangMs = 30_000;
/** With this a worker says that there was one: it exits with 1 when it is terminated. */
const hangExit = 3;

export const main: Main = async (words, print) => {
  const { values } = parseArgs({
    args: [...words],
    options: {
      seconds: { type: "string", default: "60" },
      seed: { type: "string" },
      only: { type: "string" },
      from: { type: "string", default: "0" },
      count: { type: "string" },
      list: { type: "boolean", default: false },
    },
  });
  if (values.list) return (targets.forEach(({ name }) => print(name)), 0);
  const chosen = values.only?.split(",");
  const unknown = chosen?.find((word) => targets.every(({ name }) => name !== word));
  if (unknown !== undefined) throw new Error(`No target is called '${unknown}'; try --list`);
  const selected = targets.filter(({ name }) => chosen?.includes(name) !== false);
  const seed = numberOf("seed", values.seed ?? String(Date.now() % 1_000_000));
  const ms = (numberOf("seconds", values.seconds, 1) * 1_000) / selected.length;
  const from = numberOf("from", values.from);
  const count = values.count === undefined ? Infinity : numberOf("count", values.count, 1);
  print(
    `seed ${seed}; an input again: npm run fuzz -- --only TARGET --seed ${seed} --from N --count 1`,
  );
  const watch = watchForHangs(seed);
  const reports: Report[] = [];
  try {
    for (const target of selected) {
      const report = await runTarget(target, {
        seed,
        from,
        count,
        ms,
        onInput: watch.note,
      });
      reports.push(report);
      printReport(report, print);
    }
  } finally {
    await watch.end();
  }
  const inputs = reports.reduce((sum, report) => sum + report.inputs, 0);
  const findings = reports.reduce((sum, report) => sum + report.findings.length, 0);
  print(`${inputs} inputs, ${findings} findings`);
  return findings === 0 ? 0 : 1;
};

function printReport(report: Report, print: (line: string) => void): void {
  const { target, inputs, ms, findings, figures } = report;
  print(
    `${target.padEnd(16)} ${String(inputs).padStart(9)} inputs in ${(ms / 1_000).toFixed(1)} s${figures === undefined ? "" : `; ${figures}`}`,
  );
  for (const { index, message, input = "" } of findings) {
    print(`✗ ${target}, input ${index}: ${message.split("\n").slice(0, 6).join("\n")}`);
    print(`  ${inputs === 1 ? input : input.slice(0, 400)}`);
  }
}

/** An endless loop stops this thread, so another one has to say where it is. */
function watchForHangs(seed: number): {
  readonly note: (target: string, index: number) => void;
  readonly end: () => Promise<unknown>;
} {
  const shared = new SharedArrayBuffer(64);
  const [index, name] = [new Int32Array(shared, 0, 1), new Uint8Array(shared, 4)];
  const code = `
    const { workerData: { shared, seed, hangMs } } = require("node:worker_threads");
    const [index, name] = [new Int32Array(shared, 0, 1), new Uint8Array(shared, 4)];
    let last = -1;
    setInterval(() => {
      if (index[0] !== last || name[0] === 0) return void (last = index[0]);
      const target = Buffer.from(name.slice()).toString().replace(/\\0.*/s, "");
      process.stderr.write("✗ hangs: --only '" + target + "' --seed " + seed + " --from " + last + " --count 1\\n");
      process.exit(${hangExit});
    }, hangMs);`;
  const worker = new Worker(code, { eval: true, workerData: { shared, seed, hangMs } });
  // A worker's exit ends only itself. One that is terminated exits, too.
  worker.on("exit", (code) => code === hangExit && process.exit(1));
  let current = "";
  return {
    note(target, at) {
      index[0] = at;
      if (target === current) return;
      current = target;
      name.fill(0).set(new TextEncoder().encode(target));
    },
    end: () => worker.terminate(),
  };
}
