// Runs what is written in TypeScript, with the oldest supported Node.
import { join } from "node:path";
import { createServer, createServerModuleRunner, runnerImport } from "vite";

const root = join(import.meta.dirname, "..");

/**
 * A Vite server that transforms this project's modules, and listens nowhere.
 *
 * @param {import("vite").PluginOption[]} plugins
 * @returns {Promise<import("vite").ViteDevServer>}
 */
export async function transformer(plugins = []) {
  return await createServer({
    root,
    configFile: false,
    appType: "custom",
    logLevel: "silent",
    server: { middlewareMode: true, hmr: false, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true, include: [] },
    plugins,
  });
}

/**
 * Imports a module of the sources.
 *
 * @param {string} path From the root.
 * @returns {Promise<any>}
 */
export async function load(path) {
  const options = {
    root,
    configFile: /** @type {const} */ (false),
    logLevel: /** @type {const} */ ("warn"),
  };
  const { module } = await runnerImport(join(root, path), options);
  return module;
}

/**
 * Runs the `main` of a module with the words of this command line. Its result is the exit code.
 *
 * @param {string} path From the root.
 * @returns {Promise<void>}
 */
export async function runMain(path) {
  const server = await transformer();
  try {
    const modules = createServerModuleRunner(server.environments.ssr, { hmr: false });
    /** @type {{ readonly main: import("../lab/fuzz/command-line.ts").Main }} */
    const { main } = await modules.import(join(root, path));
    process.exitCode = await main(process.argv.slice(2), console.log);
  } finally {
    // Before that, dynamic imports work.
    await server.close();
  }
}
