// Jitar as its starter for a backend does it: built, then one process with all segments, which
// logs only errors.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { freePort } from "../../lib/load.mjs";
import { layers, ready, unable } from "../serve.mjs";

const packages = fileURLToPath(new URL("../../node_modules", import.meta.url));
const cli = join(packages, "jitar/dist/cli.js");
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const names = Array.from({ length: layers }, (_, at) => `./layers/layer${at}`);

const open = { default: { access: "public" } };
const files = {
  "package.json": { type: "module", private: true },
  "jitar.json": { source: "./dist", target: "./dist", segments: "./segments" },
  "segments/stock.json": { "./add": open, "./echo": open },
  "services/standalone.json": { url, middleware: names, standalone: { segments: ["stock"] } },
  "dist/add.js": "export default async function add(a, b) {\n  return a + b;\n}\n",
  "dist/echo.js": "export default async function echo(value) {\n  return value;\n}\n",
  ...Object.fromEntries(
    names.map((name, at) => [
      `dist/${name}.js`,
      `class Layer${at} {\n  async handle(request, next) {\n    return await next();\n  }\n}\nexport default new Layer${at}();\n`,
    ]),
  ),
};

const folder = mkdtempSync(join(tmpdir(), "jitar-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
process.once("SIGTERM", () => process.exit());
process.chdir(folder);
for (const name of ["segments", "services", "dist/layers"]) mkdirSync(name, { recursive: true });
for (const [path, content] of Object.entries(files))
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
symlinkSync(packages, "node_modules");

/** Whether it answers. */
async function answers() {
  const headers = { "content-type": "application/json" };
  const call = { method: "POST", headers, body: '{"a":1,"b":2}' };
  const answer = await fetch(`${url}/rpc/add`, call).catch(() => undefined);
  return answer?.ok && (await answer.text()).includes("3");
}

try {
  execFileSync(process.execPath, [cli, "build"], { stdio: "pipe" });
  process.argv = [
    process.execPath,
    cli,
    "start",
    "--service=services/standalone.json",
    "--log-level=error",
  ];
  await import(cli);
  const end = performance.now() + 20_000;
  while (!(await answers())) {
    if (performance.now() > end) throw new Error("it didn't answer in 20 s");
    await pause(20);
  }
  ready(port);
} catch (error) {
  unable(`it didn't start: ${String(error).split("\n")[0]}`);
}
