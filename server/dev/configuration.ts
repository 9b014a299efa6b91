// The configuration that development goes by: that of the service as it will be started, as far as it says something of the application.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

import type { PublicOriginOptions } from "../../src/public-origin.ts";
import type { Host } from "../../src/ports.ts";
import { Problems } from "../../src/problem.ts";
import type { createGateway } from "../../src/roles/gateway.ts";
import type { Role } from "../../src/roles/role.ts";
import { defaultLimits, type Limits } from "../../src/serializer/limits.ts";
import type { Console } from "../../src/console/console.ts";
import { type RepositoryConfig, type StandaloneConfig, readConfig } from "../config.ts";
import { applicationImporter } from "../application-importer.ts";
import { configuredModules } from "../configured-modules.ts";
import { bindGatewayCalls, type GatewayCalls } from "./gateway-calls.ts";
import type { NodeModules } from "./runner.ts";

export interface DevConfiguration {
  /** Absolute, when it is a file. */
  readonly file: string | undefined;
  /** `undefined` where there is none: everything has its default. */
  readonly config: StandaloneConfig | RepositoryConfig | undefined;
  readonly limits: Limits;
}

/** `given` is a path, else SVC_CONFIG, else ./seamline.json when there is one. Throws {@link Problems}. */
export async function readConfiguration(
  root: string,
  given: string | undefined,
): Promise<DevConfiguration> {
  const file = configurationFile(root, given);
  if (file === undefined) return { file, config: undefined, limits: defaultLimits };
  const config = await readConfig(file, { root });
  if (config.mode !== "standalone" && config.mode !== "repository")
    throw new Problems([
      {
        file: given ?? "seamline.json",
        path: "mode",
        message: `development starts from what holds the application: a 'standalone' or a 'repository', and this is a ${config.mode}`,
        hint: "Name another configuration with --config, or leave it out.",
      },
    ]);
  const limits = Object.fromEntries(
    Object.entries(config.limits ?? {}).filter(([, value]) => value !== undefined),
  ) as Partial<Limits>;
  return { file, config, limits: { ...defaultLimits, ...limits } };
}

/** The file that would be read, whether it can be or not. */
export function configurationFile(root: string, given: string | undefined): string | undefined {
  const named = given ?? process.env["SVC_CONFIG"];
  if (named !== undefined && named !== "") return resolve(root, named);
  const usual = resolve(root, "seamline.json");
  return existsSync(usual) ? usual : undefined;
}

/** Whom requests may be for is Vite's business here (`server.allowedHosts`), and the page's origin is that of its server. */
const ofVite: PublicOriginOptions = { hosts: ["*"] };

/** Makes the gateway ready: with the layers and checks of the configuration, and a console. */
export async function makeGateway(
  host: Host,
  create: typeof createGateway,
  parts: {
    readonly root: string;
    readonly trustKey: string;
    readonly configuration: DevConfiguration;
    readonly modules: NodeModules;
    readonly newId: () => string;
    readonly console: Console;
    readonly has: (fqn: string) => boolean;
    readonly holder: GatewayCalls["holder"];
  },
): Promise<Role> {
  const { root, trustKey, configuration, modules, newId, console, has, holder } = parts;
  const role = create(host, {
    trustKey,
    web: ofVite,
    limits: configuration.limits,
    monitor,
    lease,
    newId,
    modules,
    console,
    has,
  });
  const { config, limits } = configuration;
  if (config?.middleware === undefined && config?.healthChecks === undefined) return role;
  await bindGatewayCalls(host, { modules, trustKey, limits, holder });
  const ofPackages = applicationImporter(root);
  const { middleware, healthChecks } = await configuredModules(config, {
    root,
    modules,
    // A file outside of the source folder is a module like any other; a package is Node's to find, from the application.
    moduleImporter: async (specifier) =>
      await (specifier.startsWith("file:")
        ? modules.import(fileURLToPath(specifier))
        : ofPackages(specifier)),
  });
  for (const one of middleware) role.addMiddleware(one);
  for (const [name, check] of healthChecks) role.addHealthCheck(name, check);
  return role;
}

/** Ms between two looks at a node, and that it is known without a word of it: nothing but memory lies between. */
const monitor = 5_000;
const lease = 15_000;
