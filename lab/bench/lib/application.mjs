// Applications of Seamline in folders of their own, and services of them in processes of their own.

import { mkdtempSync, rmSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { launch, launchUntil } from "./processes.mjs";

/** This checkout. */
export const repository = fileURLToPath(new URL("../../..", import.meta.url));

/** @type {string[]} */
const folders = [];
process.once("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** @typedef {{ folder: string, checkout: string }} Application */

/**
 * Writes an application into a new folder, which the end of the process removes.
 * @param {Record<string, string>} files
 * @param {string} [checkout] whose build of Seamline it uses
 * @returns {Promise<Application>}
 */
export async function application(files, checkout = repository) {
  const folder = mkdtempSync(join(tmpdir(), "seamline-bench-"));
  folders.push(folder);
  const all = { "package.json": '{ "type": "module", "private": true }', ...files };
  for (const [path, text] of Object.entries(all)) {
    await mkdir(join(folder, dirname(path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  await mkdir(join(folder, "node_modules"), { recursive: true });
  await symlink(resolve(checkout), join(folder, "node_modules/seamline"));
  await symlink(resolve(checkout, "node_modules/vite"), join(folder, "node_modules/vite"));
  return { folder, checkout: resolve(checkout) };
}

/** The command line of the Seamline that an application uses. @param {Application} application */
export const cliOf = ({ checkout }) => join(checkout, "dist/cli.js");

/** Builds an application. @param {Application} built */
export async function build(built) {
  const words = [cliOf(built), "build"];
  const { child, output } = launch(process.execPath, words, { cwd: built.folder });
  const code = await new Promise((done) => child.once("close", done));
  if (code !== 0) throw new Error(`seamline build failed: ${output()}`);
}

const trustKey = "the-trust-key-of-the-benches-0123456789";

/**
 * Starts a service of a built application, with the configuration that ships but for what it must
 * be told.
 * @param {Application} built
 * @param {string} mode
 * @param {Record<string, unknown>} [config]
 * @param {import("node:child_process").SpawnOptions & { everyMs?: number, node?: string[] }} [options]
 */
export async function service(built, mode, config = {}, { node = [], ...options } = {}) {
  const path = join(built.folder, `${mode}-${Math.random().toString(36).slice(2)}.bench.json`);
  const keyed = mode === "standalone" ? {} : { trustKey };
  await writeFile(path, JSON.stringify({ mode, url: "http://127.0.0.1:0", ...keyed, ...config }));
  const started = await launchUntil(
    process.execPath,
    [...node, cliOf(built), "start", "--no-build", "--config", path],
    {
      cwd: built.folder,
      until: /^\w+ at (http:\/\/127\.0\.0\.1:\d+)/m,
      ...options,
      env: { ...(options.env ?? process.env), SEAMLINE_LOG: "text" },
    },
  );
  return { ...started, url: started.found };
}

/** @typedef {Awaited<ReturnType<typeof service>>} Service */

/**
 * A repository, a gateway, and what stands behind it: nodes by the names of their segments, and a
 * proxy if it's asked for.
 * @param {Application} built
 * @param {{ nodes: string[][], proxy?: boolean, gateway?: Record<string, unknown> }} parts
 * @param {Parameters<typeof service>[3]} [options]
 */
export async function deployment(built, { nodes, proxy = false, gateway: config = {} }, options) {
  /** @type {Service[]} */
  const services = [];
  /** @param {string} mode @param {Record<string, unknown>} [settings] */
  const add = async (mode, settings) => {
    const started = await service(built, mode, settings, options);
    services.push(started);
    return started;
  };
  const stop = async () => {
    for (const started of services.toReversed()) await started.stop();
  };
  try {
    const store = await add("repository");
    const gateway = await add("gateway", config);
    const behind = { gateway: gateway.url, repository: store.url };
    const started = [];
    for (const segments of nodes) started.push(await add("node", { ...behind, segments }));
    const front = proxy ? await add("proxy", behind) : undefined;
    return { services, store, gateway, nodes: started, proxy: front, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
