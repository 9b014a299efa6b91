// The configuration of a development session: the application part of the service configuration.

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { fixedBase } from "../../src/http/base-path.ts";
import type { Host } from "../../src/base/ports.ts";
import { Problems } from "../../src/base/problem.ts";
import { createGateway, type GatewayOptions } from "../../src/roles/relay/gateway.ts";
import type { Observer } from "../../src/roles/observer.ts";
import type { Role } from "../../src/roles/role.ts";
import { defaultLimits, type Limits } from "../../src/base/limits.ts";
import { type RepositoryConfig, type StandaloneConfig, readConfig } from "../config/config.ts";
import { applicationImporter } from "../modules/module-importer.ts";
import { configuredModules } from "../modules/configured-modules.ts";
import { bindGatewayCalls, type GatewayCalls } from "../local/gateway-calls.ts";
import type { LiveModules } from "./nodes/live-modules.ts";
import { configVariable } from "../config/config-file.ts";

export interface DevConfiguration {
  /** Absolute, when it is a file. */
  readonly file: string | undefined;
  /** `undefined` if there is none: everything has its default. */
  readonly config: StandaloneConfig | RepositoryConfig | undefined;
  readonly limits: Limits;
}

/**
 * Reads `path`, else SEAMLINE_CONFIG, else ./seamline.json if it exists. Throws {@link Problems}.
 */
export async function readConfiguration(
  root: string,
  path: string | undefined,
): Promise<DevConfiguration> {
  const file = configurationFile(root, path);
  if (file === undefined) return { file, config: undefined, limits: defaultLimits };
  const config = await readConfig(file, { root });
  if (config.mode !== "standalone" && config.mode !== "repository")
    throw new Problems([
      {
        file: path ?? "seamline.json",
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

/** The file that {@link readConfiguration} would read, readable or not. */
export function configurationFile(root: string, path: string | undefined): string | undefined {
  const named = path ?? configVariable(process.env);
  if (named !== undefined && named !== "") return resolve(root, named);
  const defaultFile = resolve(root, "seamline.json");
  return existsSync(defaultFile) ? defaultFile : undefined;
}

/** Makes a gateway with the middleware and health checks of the configuration, and an observer. */
export async function makeGateway(
  host: Host,
  options: GatewayOptions,
  parts: {
    readonly root: string;
    readonly configuration: DevConfiguration;
    readonly base: string;
    readonly modules: LiveModules;
    readonly observer: Observer;
    readonly has: NonNullable<GatewayOptions["has"]>;
    readonly meant: NonNullable<GatewayOptions["meant"]>;
    readonly holder: GatewayCalls["holder"];
    readonly peer: GatewayCalls["peer"];
  },
): Promise<Role> {
  const { root, configuration, base, modules, observer, has, meant, holder, peer } = parts;
  const role = createGateway(host, {
    ...options,
    // Any host: Vite checks them already (`server.allowedHosts`).
    web: { hosts: ["*"], base: fixedBase(base) },
    newId: randomUUID,
    modules,
    observer,
    has,
    meant,
  });
  const { config, limits } = configuration;
  if (config?.middleware === undefined && config?.healthChecks === undefined) return role;
  await bindGatewayCalls(host, { modules, peer, limits, holder });
  const importPackage = applicationImporter(root);
  const { middleware, healthChecks } = await configuredModules(config, {
    root,
    modules,
    // A file outside the source folder is a module like any other. Node resolves packages, from the
    // application.
    moduleImporter: async (specifier) =>
      await (specifier.startsWith("file:")
        ? modules.import(fileURLToPath(specifier))
        : importPackage(specifier)),
  });
  for (const entry of middleware) role.addMiddleware(entry);
  for (const [name, check] of healthChecks) role.addHealthCheck(name, check);
  return role;
}
