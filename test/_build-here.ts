// The build that the start of a service makes, in the tests' own process.

import { readConfig } from "../server/config/config.ts";
import { ensureBuild } from "../server/start/ensure-build.ts";
import type { ServerOptions } from "../server/start/server.ts";
import { buildApplication } from "../server/vite/build.ts";
import { TestLog } from "./_cluster.ts";

/** The builds of this process, so that services of one application that start together make one. */
const building = new Map<string, Promise<void>>();

/**
 * Makes the build that the start of a service would make in a process of its own, which would load Vite, TypeScript
 * and its libraries again: three seconds. That a start builds is shown in spec/builds.test.ts and process/cli.test.ts.
 */
export async function buildHere(
  root: string,
  { config, build }: Pick<ServerOptions, "config" | "build">,
): Promise<void> {
  if (config === undefined || build !== undefined) return;
  // A start reports faults of its configuration, and of its application, itself.
  const own = Promise.resolve(building.get(root))
    .then(async () => await ensureBuiltHere(root, config))
    .catch(() => {});
  building.set(root, own);
  await own;
}

async function ensureBuiltHere(root: string, source: string | object): Promise<void> {
  const config = await readConfig(source, { root });
  if (!("source" in config)) return;
  const log = new TestLog();
  await ensureBuild({
    ...config,
    openapi: config.openapi === undefined ? undefined : true,
    root,
    log,
    run: async (settings) => void (await buildApplication({ ...settings, log })),
  });
}
