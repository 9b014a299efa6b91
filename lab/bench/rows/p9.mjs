// P9: the build of 1,000 modules as people write them, and development with them.

import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { application, cliOf, repository } from "../lib/application.mjs";
import {
  group,
  manyModules,
  manyModulesForVite,
  partOf,
  procedureOf,
  roots,
} from "../lib/modules.mjs";
import { cpuOf, launch, launchUntil, rssOf } from "../lib/processes.mjs";
import { median } from "../lib/statistics.mjs";

const modules = 1_000;

/** @type {Map<string, Promise<import("../lib/application.mjs").Application>>} */
const applications = new Map();
const made = (key, files, checkout) => {
  if (!applications.has(key)) applications.set(key, application(files(), checkout));
  return applications.get(key);
};
const ours = (checkout = repository) =>
  made(`seamline ${checkout}`, () => manyModules(modules), checkout);
const unchecked = (checkout = repository) =>
  made(`unchecked ${checkout}`, () => manyModules(modules, { validate: false }), checkout);
const vites = () => made("vite", () => manyModulesForVite(modules));

const viteOf = ({ checkout }) => join(checkout, "node_modules/vite/bin/vite.js");
const files = ["--sourcemap", "--outDir", "dist/files"];

/** Runs commands one after another; their CPU time in ms, with that of processes that end, and how long they take. */
async function costOfCommands(folder, commands) {
  let [cpu, ms] = [0, 0];
  for (const [script, ...words] of commands) {
    const line = 'TIMEFORMAT="CPU %3U %3S %3R"; time "$@"';
    const run = launch("bash", ["-c", line, "bench", process.execPath, script, ...words], {
      cwd: folder,
      env: { ...process.env, NODE_ENV: "production" },
    });
    const code = await new Promise((resolve) => run.child.once("close", resolve));
    const [, user, system, real] = /CPU ([\d.]+) ([\d.]+) ([\d.]+)/.exec(run.output()) ?? [];
    if (code !== 0) throw new Error(`${script} ${words.join(" ")} failed: ${run.output()}`);
    cpu += (Number(user) + Number(system)) * 1_000;
    ms += Number(real) * 1_000;
  }
  return { cpu, ms };
}

/** The caches of earlier runs of an application, including the types that they read. */
const forget = async ({ folder }) =>
  await rm(join(folder, "node_modules/.vite"), { recursive: true, force: true });

/**
 * @param {string} name @param {() => Promise<any>} app @param {(app: any) => string[][]} commands
 * @param {{ cold?: boolean }} [options] `cold`: without what earlier runs kept
 */
const running = (name, app, commands, { cold = false } = {}) => ({
  name,
  async start() {
    const found = await app();
    const walls = [];
    return {
      async measure() {
        if (cold) await forget(found);
        const { cpu, ms } = await costOfCommands(found.folder, commands(found));
        walls.push(ms);
        return cpu;
      },
      remarks: () => ({ ms: median(walls) }),
      stop: async () => {},
    };
  },
});

/** Asks until the answer is the expected one. */
async function until(url, right) {
  const end = performance.now() + 60_000;
  for (;;) {
    const text = await fetch(url).then(
      async (answer) => (answer.ok ? await answer.text() : ""),
      () => "",
    );
    if (right(text)) return;
    if (performance.now() > end) throw new Error(`${url} still answers ${text.slice(0, 100)}`);
    await pause(2);
  }
}

/** A module whose procedure runs on a node, and what it answers. */
const edited = group;
const called = `/rpc/${procedureOf(edited)}?given=1`;
const first = group - 1;

const kinds = {
  vite: {
    app: vites,
    words: (app) => [viteOf(app), "--port", "0", "--host", "127.0.0.1"],
    ready: /Local:\s+(http:\S+?)\/?\s/,
    path: `/src/${partOf(edited)}.ts`,
    right: (text) => text.includes("* 1;"),
    changed: (text, number) => text.includes(`* ${number};`),
  },
  seamline: {
    words: (app) => [cliOf(app), "dev", "--port", "0", "--json"],
    ready: /"event":"ready".*"url":"(http:[^"]+?)\/?"/,
    path: called,
    right: (text) => text === String(first),
    changed: (text, number) => text === String(first * number),
  },
};

async function developing(kind, app) {
  const env = { ...process.env, NO_COLOR: "1" };
  const options = { cwd: app.folder, until: kind.ready, everyMs: 2, env };
  const dev = await launchUntil(process.execPath, kind.words(app), options);
  try {
    await until(dev.found + kind.path, kind.right);
    return dev;
  } catch (error) {
    await dev.stop();
    throw error;
  }
}

/**
 * Time from the command to the first answer.
 * @param {string} name @param {typeof kinds.vite | typeof kinds.seamline} kind @param {() => Promise<any>} app
 * @param {{ cold?: boolean }} [options] as of {@link running}
 */
const starting = (name, kind, app, { cold = false } = {}) => ({
  name,
  async start() {
    const found = await app();
    const [cpu, rss] = [[], []];
    if (!cold) await (await developing(kind, found)).stop();
    return {
      async measure() {
        if (cold) await forget(found);
        const began = performance.now();
        const dev = await developing(kind, found);
        const took = performance.now() - began;
        cpu.push(cpuOf([dev.pid]) / 1_000);
        rss.push(rssOf([dev.pid]));
        await dev.stop();
        return took;
      },
      remarks: () => ({ "CPU ms": median(cpu), "MB resident": median(rss) }),
      stop: async () => {},
    };
  },
});

/** Time from saving a module to the first answer that shows it. */
const changing = (name, kind, app) => ({
  name,
  async start() {
    const found = await app();
    const dev = await developing(kind, found);
    const file = join(found.folder, `src/${partOf(edited)}.ts`);
    const text = await readFile(file, "utf8");
    let number = 1;
    return {
      async measure() {
        // Leaves time between two saves, as a user would.
        await pause(500);
        number++;
        const began = performance.now();
        await writeFile(file, text.replace("* 1;", `* ${number};`));
        await until(dev.found + kind.path, (answer) => kind.changed(answer, number));
        return performance.now() - began;
      },
      async stop() {
        await writeFile(file, text);
        await dev.stop();
      },
    };
  },
});

export const title = `Build and development, ${modules.toLocaleString("en")} modules`;
export const about = `1,000 modules of 2.7 KB in folders of 25, of which ${roots(modules).length} have a procedure or two; a quarter of these run in the page. The limit is Vite with the same modules: a build for the page and one for the server, which makes one file. Types of arguments are read by the compiler: *cold* without what an earlier run kept of that, as after a fresh clone.`;

/** @param {{ against?: string }} options @returns {import("../lib/rounds.mjs").Case[]} */
export const cases = ({ against }) => {
  const checkouts = [["Seamline", repository], ...(against ? [["Seamline, before", against]] : [])];
  const command = (word) => (app) => [[cliOf(app), word]];
  return [
    {
      name: "build",
      unit: "CPU ms",
      rounds: 5,
      cold: true,
      subjects: [
        running("two Vite builds: page and server", vites, (app) => [
          [viteOf(app), "build", "--outDir", "dist/page"],
          [viteOf(app), "build", "--ssr", "src/server.ts", "--outDir", "dist/server"],
        ]),
        ...checkouts.flatMap(([name, checkout]) => [
          running(`${name}, validate false`, () => unchecked(checkout), command("build")),
          running(`${name}, types kept`, () => ours(checkout), command("build")),
          running(`${name}, cold`, () => ours(checkout), command("build"), { cold: true }),
        ]),
        running("two Vite builds, the server's with a file per module and maps", vites, (app) => [
          [viteOf(app), "build", "--outDir", "dist/page"],
          [viteOf(app), "build", "--ssr", "src/server.ts", ...files, "--config", "files.mjs"],
        ]),
      ],
    },
    {
      name: "check",
      unit: "CPU ms",
      rounds: 5,
      cold: true,
      unrelated: true,
      subjects: checkouts.flatMap(([name, checkout]) => [
        running(`${name}, validate false`, () => unchecked(checkout), command("check")),
        running(`${name}, types kept`, () => ours(checkout), command("check")),
        running(`${name}, cold`, () => ours(checkout), command("check"), { cold: true }),
      ]),
    },
    {
      name: "dev until the first answer",
      unit: "ms",
      rounds: 5,
      cold: true,
      subjects: [
        starting("Vite alone", kinds.vite, vites),
        ...checkouts.flatMap(([name, checkout]) => [
          starting(`${name}, validate false`, kinds.seamline, () => unchecked(checkout)),
          starting(`${name}, types kept`, kinds.seamline, () => ours(checkout)),
          starting(`${name}, cold`, kinds.seamline, () => ours(checkout), { cold: true }),
        ]),
      ],
    },
    {
      name: "a changed module, until an answer shows it",
      unit: "ms",
      rounds: 20,
      subjects: [
        changing("Vite alone", kinds.vite, vites),
        ...checkouts.map(([name, checkout]) =>
          changing(name, kinds.seamline, () => ours(checkout)),
        ),
      ],
    },
  ];
};
