// P5: calls that stay in their process.

import { fileURLToPath } from "node:url";

import { application, build, repository } from "../lib/application.mjs";
import { fork, nextMessage } from "../lib/processes.mjs";

const server = fileURLToPath(new URL("../servers/services/seamline.mjs", import.meta.url));

const files = {
  "bench.segment.json": `{
  "./add": { "add": { "access": "public" }, "addHere": { "access": "public" } },
  "./measure": { "measure": { "access": "public" } }
}`,
  "src/add.ts": `import type { Context } from "seamline";
export async function add(a: number, b: number): Promise<number> {
  return a + b;
}
export async function addHere(this: Context, a: number, b: number): Promise<number> {
  if (this === undefined) throw new Error("no context");
  return a + b;
}
`,
  // The same function without a seam.
  "src/measure.ts": `import { runProcedure, withOptions } from "seamline";
import { add, addHere } from "./add";
async function plain(a: number, b: number): Promise<number> {
  return a + b;
}
const named = async (a: number, b: number): Promise<number> =>
  (await runProcedure("add", "", { a, b })) as number;
const options = withOptions(add, { timeoutMs: 60_000 });
const ways = { plain, seam: add, this: addHere, runProcedure: named, options };
/** CPU time of a call in ns. */
export async function measure(what: keyof typeof ways, seconds: number): Promise<number> {
  const call = ways[what] as (a: number, b: number) => Promise<number>;
  const begin = process.cpuUsage();
  const end = performance.now() + seconds * 1_000;
  let calls = 0;
  do {
    for (let i = 0; i < 10_000; i++)
      if ((await call(i, 1)) !== i + 1) throw new Error("the calls did not add up");
    calls += 10_000;
  } while (performance.now() < end);
  const { user, system } = process.cpuUsage(begin);
  return ((user + system) * 1_000) / calls;
}
declare const process: { cpuUsage(before?: object): { user: number; system: number } };
`,
};

/** A process in which all ways to call are measured, as they differ by nanoseconds. @param {string} checkout */
function shared(checkout) {
  let users = 0;
  /** @type {ReturnType<typeof fork> | undefined} */
  let started;
  const start = async () => {
    const app = await application(files, checkout);
    await build(app);
    return await fork(server, [app.folder, checkout]);
  };
  return (name, what) => ({
    name,
    async start() {
      users++;
      const process = await (started ??= start());
      return {
        async measure(seconds) {
          const message = nextMessage(process);
          process.child.send({ what, seconds });
          return (await message).cost;
        },
        async stop() {
          if (--users > 0) return;
          started = undefined;
          await process.stop();
        },
      };
    },
  });
}

export const title = "Calls that stay in their process";
export const about =
  "A call of an imported function whose procedure runs in the same process, beside a plain async call.";

/** @param {{ against?: string }} options @returns {import("../lib/rounds.mjs").Case[]} */
export function cases({ against }) {
  const here = shared(repository);
  const there = against ? shared(against) : undefined;
  const names = [
    ["a local seam", "seam"],
    ["a procedure that mentions `this`", "this"],
    ["runProcedure by name", "runProcedure"],
    ["withOptions, with a time limit", "options"],
  ];
  return names.map(([name, what]) => ({
    name,
    unit: "CPU ns/call",
    subjects: [
      here("a plain async call", "plain"),
      here("Seamline", what),
      ...(there ? [there("Seamline, before", what)] : []),
    ],
  }));
}
