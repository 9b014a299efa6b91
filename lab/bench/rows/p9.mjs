// P9: the build of 1,000 modules, and development with them.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { application, cliOf, repository } from "../lib/application.mjs";
import { groupOf, manyModules, manyModulesForVite } from "../lib/modules.mjs";
import { cpuOf, launch, launchUntil } from "../lib/processes.mjs";

const modules = 1_000;

/** @type {Map<string, Promise<import("../lib/application.mjs").Application>>} */
const applications = new Map();
const made = (key, files, checkout) => {
  if (!applications.has(key)) applications.set(key, application(files(), checkout));
  return applications.get(key);
};
const ours = (checkout = repository) =>
  made(`seamline ${checkout}`, () => manyModules(modules), checkout);
const vites = () => made("vite", () => manyModulesForVite(modules));

const viteOf = ({ checkout }) => join(checkout, "node_modules/vite/bin/vite.js");
const files = ["--sourcemap", "--outDir", "dist/files"];

/** Runs commands one after another; their CPU time in ms, with that of processes that end. */
async function cpuOfCommands(folder, commands) {
  let sum = 0;
  for (const [script, ...words] of commands) {
    const line = 'TIMEFORMAT="CPU %3U %3S"; time "$@"';
    const run = launch("bash", ["-c", line, "bench", process.execPath, script, ...words], {
      cwd: folder,
      env: { ...process.env, NODE_ENV: "production" },
    });
    const code = await new Promise((resolve) => run.child.once("close", resolve));
    const [, user, system] = /CPU ([\d.]+) ([\d.]+)/.exec(run.output()) ?? [];
    if (code !== 0) throw new Error(`${script} ${words.join(" ")} failed: ${run.output()}`);
    sum += (Number(user) + Number(system)) * 1_000;
  }
  return sum;
}

/** @param {string} name @param {() => Promise<any>} app @param {(app: any) => string[][]} commands */
const building = (name, app, commands) => ({
  name,
  async start() {
    const found = await app();
    return {
      measure: () => cpuOfCommands(found.folder, commands(found)),
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

/** The address of a procedure on a node, and what it answers. */
const group = groupOf(modules);
const called = `/rpc/parts/sum${group}?given=1`;
const first = String(group - 1);

const kinds = {
  vite: {
    app: vites,
    words: (app) => [viteOf(app), "--port", "0", "--host", "127.0.0.1"],
    ready: /Local:\s+(http:\S+?)\/?\s/,
    path: `/src/parts/part${group}.ts`,
    right: (text) => text.includes("* 1"),
    changed: (text, number) => text.includes(`* ${number}`),
  },
  seamline: {
    words: (app) => [cliOf(app), "dev", "--port", "0", "--json"],
    ready: /"event":"ready".*"url":"(http:[^"]+?)\/?"/,
    path: called,
    right: (text) => text === first,
    changed: (text, number) => text === String((group - 1) * number),
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

/** Time from the command to the first answer. */
const starting = (name, kind, app) => ({
  name,
  async start() {
    const found = await app();
    const cpu = [];
    return {
      async measure() {
        const began = performance.now();
        const dev = await developing(kind, found);
        const took = performance.now() - began;
        cpu.push(cpuOf([dev.pid]) / 1_000);
        await dev.stop();
        return took;
      },
      remarks: () => ({ "CPU ms": cpu.toSorted((a, b) => a - b)[cpu.length >> 1] ?? NaN }),
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
    const file = join(found.folder, `src/parts/part${group}.ts`);
    const text = await readFile(file, "utf8");
    let number = 1;
    return {
      async measure() {
        // Leaves time between two saves, as a user would.
        await pause(500);
        number++;
        const began = performance.now();
        await writeFile(file, text.replace("* 1", `* ${number}`));
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
export const about =
  "1,000 modules, of which 100 have a procedure; half of these run in the page. The limit is Vite with the same modules: a build for the page and one for the server, which makes one file. All modules are in one folder, which Vite's watcher lists again after a change: with folders of 25 modules a change takes half as long.";

/** @param {{ against?: string }} options @returns {import("../lib/rounds.mjs").Case[]} */
export const cases = ({ against }) => {
  const checkouts = [
    ["Seamline", () => ours()],
    ...(against ? [["Seamline, before", () => ours(against)]] : []),
  ];
  const development = (subject) => [
    subject("Vite alone", kinds.vite, vites),
    ...checkouts.map(([name, app]) => subject(name, kinds.seamline, app)),
  ];
  return [
    {
      name: "build",
      unit: "CPU ms",
      rounds: 3,
      cold: true,
      subjects: [
        building("two Vite builds: page and server", vites, (app) => [
          [viteOf(app), "build", "--outDir", "dist/page"],
          [viteOf(app), "build", "--ssr", "src/server.ts", "--outDir", "dist/server"],
        ]),
        ...checkouts.map(([name, app]) =>
          building(name, app, (found) => [[cliOf(found), "build"]]),
        ),
        building("two Vite builds, the server's with a file per module and maps", vites, (app) => [
          [viteOf(app), "build", "--outDir", "dist/page"],
          [viteOf(app), "build", "--ssr", "src/server.ts", ...files, "--config", "files.mjs"],
        ]),
      ],
    },
    {
      name: "dev until the first answer",
      unit: "ms",
      rounds: 3,
      cold: true,
      subjects: development(starting),
    },
    {
      name: "a changed module, until an answer shows it",
      unit: "ms",
      subjects: development(changing),
    },
  ];
};
