// createTestCluster: runs an application as a gateway, nodes and a page inside one test.

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import type { ProceduresOf } from "../../src/types/fake.ts";
import type { ModuleNamespace } from "../../src/base/ports.ts";
import type { FakeProcedure } from "../../src/roles/application/fake-modules.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { type Config, readConfig } from "../config/config.ts";
import { configuredModules } from "../modules/configured-modules.ts";
import { definedOf } from "../base/defined.ts";
import { realPath } from "../files/sources.ts";
import { openApplication } from "./application.ts";
import { Cluster } from "./cluster.ts";
import { checkSegments } from "./segments.ts";
import type { TestCluster, TestClusterOptions } from "./test-cluster.ts";
import { TestClock } from "./test-clock.ts";
import { testImporter } from "./test-importer.ts";
import { TestLog } from "./test-log.ts";

/**
 * Starts an application in memory. Calls take the same path as over a network, but no port is
 * opened.
 */
export async function createTestCluster<Procedures = ProceduresOf>(
  options: TestClusterOptions<NoInfer<Procedures>> = {},
): Promise<TestCluster<Procedures>> {
  const root = realPath(options.root ?? ".");
  const { source, browserSegments, viteConfig } = options;
  const config =
    options.config === undefined
      ? undefined
      : await readConfig(completeConfig(options.config), { root });
  const application = await openApplication({
    root,
    source,
    browserSegments,
    validate: config?.validate,
    viteConfig,
  });
  const segments = checkSegments(application.read, options.nodes, options.page ?? []);
  const cluster = new Cluster({
    application,
    clock: options.clock ?? new TestClock(),
    log: options.log ?? new TestLog(),
    limits: { ...defaultLimits, ...definedOf(config?.limits ?? {}) },
    errors: config?.errors,
    ...segments,
    own: options.importer ?? (await testImporter(root)),
  });
  for (const [fqn, fake] of Object.entries(options.fakes ?? {}))
    cluster.fake(fqn, fake as FakeProcedure);
  try {
    await cluster.start();
    if (config !== undefined) await configure(cluster, config, root);
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}

/** Adds what a configuration requires but a cluster doesn't need. */
function completeConfig(config: string | object): string | object {
  return typeof config === "string"
    ? config
    : { mode: "standalone", url: "http://127.0.0.1:0", ...config };
}

/** Adds the configured middleware and health checks to the gateway. */
async function configure(cluster: Cluster, config: Config, root: string): Promise<void> {
  const modules = cluster.gatewayModules;
  const require = createRequire(join(root, "package.json"));
  const moduleImporter = async (specifier: string): Promise<ModuleNamespace> =>
    specifier.startsWith("file:")
      ? await modules.import(specifier)
      : ((await import(pathToFileURL(require.resolve(specifier)).href)) as ModuleNamespace);
  const { middleware, healthChecks } = await configuredModules(config, {
    root,
    modules,
    moduleImporter,
  });
  for (const entry of middleware) cluster.gateway.addMiddleware(entry);
  for (const [name, check] of healthChecks) cluster.gateway.addHealthCheck(name, check);
}
