// Runs a script that is in TypeScript, with the oldest supported Node.
import { join } from "node:path";
import { createServer, createServerModuleRunner } from "vite";

const root = join(import.meta.dirname, "..");

/**
 * Calls `act` with the exports of a module. Its dynamic imports work until `act` has ended.
 *
 * @param {string} path From the root.
 * @param {(module: any) => Promise<void>} act
 */
export async function withTypeScript(path, act) {
  const server = await createServer({
    root,
    configFile: false,
    appType: "custom",
    logLevel: "silent",
    server: { middlewareMode: true, hmr: false, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true, include: [] },
  });
  try {
    const modules = createServerModuleRunner(server.environments.ssr, { hmr: false });
    await act(await modules.import(join(root, path)));
  } finally {
    await server.close();
  }
}
