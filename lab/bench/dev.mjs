// Measures `seamline dev` at 10 and 1,000 modules: time to ready, compared with Vite alone, and
// time from saving a file to its being live on a node and in a page, or to a procedure's being at its
// other place. Uses whole processes and a real page.
// node lab/bench/dev.mjs [ready] [live] [numbers of modules], after npm run build

import { readFile, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { join } from "node:path";

import { chromium } from "playwright";

import { requireBrowser } from "../../scripts/browser.mjs";
import { application, repository } from "./lib/application.mjs";
import { group, manyModules, partOf, procedureOf } from "./lib/modules.mjs";
import { cpuOf, launchUntil } from "./lib/processes.mjs";
import { median } from "./lib/statistics.mjs";

const words = process.argv.slice(2);
const wants = (word) =>
  words.includes(word) || !words.some((one) => one === "ready" || one === "live");
const sizes = words.map(Number).filter((number) => number > 0);
const rounds = 7;

const list = (times) => `${times.map(Math.round).join(" ")} (median ${Math.round(median(times))})`;
const seamline = ["dist/cli.js", "dev", "--port", "0"];
const vite = ["node_modules/vite/bin/vite.js", "--port", "0", "--host", "127.0.0.1"];

/**
 * Runs a command until its output matches `mark`; returns the time since its start and the output.
 */
async function until(folder, [script, ...rest], mark) {
  const began = performance.now();
  const line = [join(repository, script), ...rest];
  const options = { cwd: folder, until: mark, everyMs: 1 };
  const { pid, output, stop } = await launchUntil(process.execPath, line, options);
  const ms = performance.now() - began;
  return { ms, cpu: cpuOf([pid]) / 1_000, output: output(), end: stop };
}

/** Runs whole processes in turns, until there is a page to open. */
async function ready(folder, modules) {
  const kinds = {
    vite: [vite, /Local:.*\n/],
    seamline: [[...seamline, "--json"], /"event":"ready".*\n/],
  };
  const times = { vite: [], seamline: [] };
  const cpu = { vite: [], seamline: [] };
  for (let round = 0; round < rounds; round++)
    for (const kind of round % 2 === 0 ? ["vite", "seamline"] : ["seamline", "vite"]) {
      const run = await until(folder, ...kinds[kind]);
      times[kind].push(run.ms);
      cpu[kind].push(run.cpu);
      await run.end();
    }
  for (const kind of ["vite", "seamline"])
    console.log(
      `${modules} modules, ${kind.padEnd(8)} ready: ${list(times[kind])} ms; processor until then: ${list(cpu[kind])} ms`,
    );
  console.log(
    `${modules} modules, more than Vite: ${Math.round(median(times.seamline.map((ms, round) => ms - times.vite[round])))} ms (paired)`,
  );
}

const agent = new Agent({ keepAlive: true });
const call = (url) =>
  new Promise((resolve, reject) => {
    request(url, { agent }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part) => (text += part));
      answer.on("end", () => resolve({ status: answer.statusCode, text }));
    })
      .on("error", reject)
      .end();
  });

/** From writing a file to the first answer by its new code. */
async function live(folder, modules) {
  const dev = await until(folder, [...seamline, "--json"], /"event":"ready".*\n/);
  const browser = await chromium.launch({
    executablePath: requireBrowser().path,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  try {
    const { url } = JSON.parse(/^.*"event":"ready".*$/m.exec(dev.output)[0]);
    const page = await browser.newPage();
    page.on("load", () => loads++);
    let loads = 0;
    await page.goto(url);
    await page.waitForFunction("globalThis.sum0 !== undefined");
    const inPage = async (value) =>
      await page.evaluate(async (expected) => {
        while ((await globalThis.sum0(1)) !== expected)
          await new Promise((resolve) => setTimeout(resolve, 2));
      }, value);
    const onNode = async (value) => {
      while ((await call(`${url}/rpc/${procedureOf(group)}?given=1`)).text !== String(value))
        await new Promise((resolve) => setTimeout(resolve, 2));
    };
    const numbers = { page: [0, inPage, 1, 0], node: [group, onNode, 1, 0] };
    for (const state of Object.values(numbers)) await state[1](group - 1);
    const times = {
      "body on a node": [],
      "body in the page": [],
      "module below, on a node": [],
      "module below, in the page": [],
      "move into the page": [],
      "move to a node": [],
    };
    // The second segment file is saved right after the first.
    const segments = ["page", "office"].map((name) =>
      join(folder, `segments/${name}.segment.json`),
    );
    const atPage = await Promise.all(segments.map((file) => readFile(file, "utf8")));
    const [inOffice, moved] = atPage.map((text) => JSON.parse(text));
    const key = `./${partOf(0)}`;
    Object.assign(moved, { [key]: inOffice[key] });
    delete inOffice[key];
    const atNode = [inOffice, moved].map((content) => JSON.stringify(content));
    /** A node that has the procedure answers; it doesn't any more when all pages have followed. */
    const move = async (name, texts, status) => {
      const began = performance.now();
      await Promise.all(segments.map((file, at) => writeFile(file, texts[at])));
      while ((await call(`${url}/rpc/${procedureOf(0)}?given=1`)).status !== status)
        await new Promise((resolve) => setTimeout(resolve, 2));
      times[name].push(performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 500));
    };
    for (let round = 0; round < rounds; round++) {
      await move("move to a node", atNode, 200);
      await move("move into the page", atPage, 404);
    }
    for (let round = 0; round < rounds; round++)
      for (const [place, state] of Object.entries(numbers))
        for (const what of ["body", "below"]) {
          const [first, seen] = state;
          const file = join(folder, `src/${partOf(what === "body" ? first : first + 1)}.ts`);
          const before = await readFile(file, "utf8");
          const after =
            what === "body"
              ? before.replace(/\* \d+;/, `* ${++state[2]};`)
              : before.replace(/given \+ \d+/, `given + ${first + 1 + ++state[3]}`);
          const expected = (group - 1 + state[3]) * state[2];
          const began = performance.now();
          await writeFile(file, after);
          await seen(expected);
          const name = `${what === "body" ? "body" : "module below,"} ${place === "page" ? "in the page" : "on a node"}`;
          times[name].push(performance.now() - began);
          // Leave time between two saves, as a user would.
          await new Promise((resolve) => setTimeout(resolve, 500));
        }
    for (const [name, all] of Object.entries(times))
      console.log(`${modules} modules, ${name.padEnd(25)} live after ${list(all)} ms`);
    console.log(`${modules} modules, the page loaded itself again ${loads - 1} times`);
  } finally {
    await browser.close();
    await dev.end();
  }
}

for (const modules of sizes.length > 0 ? sizes : [10, 1000]) {
  const { folder } = await application(manyModules(modules));
  if (wants("ready")) await ready(folder, modules);
  if (wants("live")) await live(folder, modules);
}
process.exit(0);
