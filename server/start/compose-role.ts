// Creates the role that a checked configuration names.

import type { Host } from "../../src/base/ports.ts";
import { fixedBase } from "../../src/http/base-path.ts";
import type { PublicOriginOptions } from "../../src/http/public-origin.ts";
import { createNode } from "../../src/roles/node.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { createProxy } from "../../src/roles/proxy.ts";
import { createRepository } from "../../src/roles/repository.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { createStandalone } from "../../src/roles/standalone.ts";
import type { Limits } from "../../src/base/limits.ts";
import type {
  ApplicationConfig,
  Config,
  GatewayConfig,
  NodeConfig,
  ProxyConfig,
  RepositoryConfig,
  StandaloneConfig,
} from "../config/config.ts";
import type { Console } from "../console/console-port.ts";
import type { PublicFiles } from "../files/files.ts";
import type { ModuleImporter } from "../modules/module-importer.ts";
import {
  createModuleStore,
  type ModuleStore,
  type ModuleStoreOptions,
} from "../modules/module-store.ts";
import type { OpenedDirectory } from "../directory/open-directory.ts";
import { checkSegments, filesOf } from "./application-files.ts";
import { ensureBuild, type EnsuredBuild } from "./ensure-build.ts";
import { webOf } from "./web-of.ts";
import type { TrustKey } from "../../src/http/trust.ts";
import { ModuleLink } from "../../src/roles/links/module-link.ts";

export interface ComposeOptions {
  readonly root: string;
  readonly limits: Limits;
  readonly trustKey: TrustKey;
  readonly moduleImporter: ModuleImporter;
  /** As in `ServerOptions.build`. */
  readonly build: boolean | undefined;
  readonly newId: () => string;
  /** The configuration's file. It may hold the trust key, so no glob makes it public. */
  readonly configFile: string | undefined;
}

export interface Composed {
  readonly role: Role;
  /** The application's built modules, if the role uses them. Closed when the role has stopped. */
  readonly modules?: ModuleStore | undefined;
  readonly console?: Console | undefined;
  /** The addresses of the servers of its directory. */
  readonly directory?: readonly string[] | undefined;
  /** The public files, if the role serves them. */
  readonly publicFiles?: PublicFiles;
}

/** The same for a service that has the build, which knows its base. */
function builtWebOf(config: Config, { built }: EnsuredBuild): PublicOriginOptions {
  return { ...webOf(config), base: fixedBase(built.manifest.base ?? "/") };
}

export async function composeRole(
  host: Host,
  config: Config,
  options: ComposeOptions,
): Promise<Composed> {
  return await composers[config.mode](host, config as never, options);
}

type Composer<RoleConfig> = (
  host: Host,
  config: RoleConfig,
  options: ComposeOptions,
) => Promise<Composed>;

const composers: Readonly<Record<Config["mode"], Composer<never>>> = {
  gateway: (async (host, config, options) => {
    const modules =
      config.repository === undefined
        ? undefined
        : fetchedModulesOf(host, { ...config, repository: config.repository }, options);
    const { limits, trustKey, newId } = options;
    const console = await consoleOf(host, config, options);
    const { healthIntervalMs, repository } = config;
    const web = webOf(config);
    const found = await directoryOf(host, config, options);
    const role = createGateway(host, {
      limits,
      web,
      errors: config.errors,
      trustKey,
      healthIntervalMs,
      endToEndTls: config.endToEndTls,
      newId,
      modules,
      observer: console,
      repository,
      directory: found?.directory,
    });
    const announce = async (address: string) => await found?.directory.announceGateway(address);
    return {
      role: found?.around(role, announce) ?? role,
      modules,
      console,
      directory: found?.servers,
    };
  }) satisfies Composer<GatewayConfig>,

  proxy: (async (host, config, options) => {
    const modules = fetchedModulesOf(host, { ...config, repository: config.repository }, options);
    const { limits, trustKey } = options;
    // The configuration's check requires one of the two.
    const found = await directoryOf(host, config, options);
    const calls = found?.directory ?? config.gateway ?? config.node ?? "";
    const console = await consoleOf(host, config, options);
    const role = createProxy(host, {
      limits,
      web: webOf(config),
      errors: config.errors,
      trustKey,
      calls,
      behind: config.node === undefined ? "gateway" : "node",
      endToEndTls: config.endToEndTls,
      repository: config.repository,
      modules,
      observer: console,
    });
    return { role: found?.around(role) ?? role, modules, console, directory: found?.servers };
  }) satisfies Composer<ProxyConfig>,

  repository: (async (host, config, options) => {
    const build = await outputOf(host, config, options);
    const { files, publicFiles } = await filesOf(host, config, options, build);
    // A repository runs no procedures, but its health checks may be modules of the application.
    // The store reads nothing until one is imported.
    const from = { folder: build.output.server, manifest: build.built.manifest };
    const modules = modulesOf(host, from, config, options);
    return {
      role: createRepository(host, {
        limits: options.limits,
        web: builtWebOf(config, build),
        errors: config.errors,
        trustKey: options.trustKey,
        endToEndTls: config.endToEndTls,
        files,
      }),
      modules,
      publicFiles,
    };
  }) satisfies Composer<RepositoryConfig>,

  standalone: (async (host, config, options) => {
    const build = await outputOf(host, config, options);
    checkSegments(config, options, build);
    const { files, publicFiles } = await filesOf(host, config, options, build);
    const from = { folder: build.output.server, manifest: build.built.manifest };
    const modules = modulesOf(host, from, config, options);
    const { limits, trustKey } = options;
    const console = await consoleOf(host, config, options);
    const { segments, name } = config;
    const role = createStandalone(host, {
      limits,
      web: builtWebOf(config, build),
      errors: config.errors,
      trustKey,
      endToEndTls: config.endToEndTls,
      files,
      modules,
      segments,
      name,
      observer: console,
    });
    return { role, modules, console, publicFiles };
  }) satisfies Composer<StandaloneConfig>,

  node: (async (host, config, options) => {
    const modules = fetchedModulesOf(host, { ...config, repository: config.repository }, options);
    const { limits, trustKey } = options;
    const found = await directoryOf(host, config, options);
    const { segments, name } = config;
    const role = createNode(host, {
      limits,
      web: webOf(config),
      errors: config.errors,
      trustKey,
      gateway: found?.directory ?? config.gateway,
      directory: found?.directory,
      endToEndTls: config.endToEndTls,
      modules,
      segments,
      name,
    });
    return { role: found?.around(role) ?? role, modules, directory: found?.servers };
  }) satisfies Composer<NodeConfig>,
};

/** Loads the console's code only if the configuration turns it on. */
async function consoleOf(
  host: Host,
  config: Pick<GatewayConfig, "console" | "errors" | "tls">,
  { trustKey }: ComposeOptions,
): Promise<Console | undefined> {
  if (!config.console) return undefined;
  const { loadConsole } = await import("../console/load-console.ts");
  const openConsole = await loadConsole(host.log);
  return openConsole?.(host, {
    trustKey,
    secure: config.tls !== undefined,
    masks: config.errors === "masked",
  });
}

/** Loads the code of directories only if the configuration names one. */
async function directoryOf(
  host: Host,
  { directory: config, mode }: GatewayConfig | NodeConfig | ProxyConfig,
  { root, trustKey, newId }: ComposeOptions,
): Promise<OpenedDirectory | undefined> {
  if (config === undefined) return undefined;
  const { openDirectory } = await import("../directory/open-directory.ts");
  return await openDirectory({ host, config, role: mode, root, trustKey, instance: newId() });
}

async function outputOf(
  host: Host,
  config: ApplicationConfig,
  options: ComposeOptions,
): Promise<EnsuredBuild> {
  return await ensureBuild({
    ...config,
    root: options.root,
    build: options.build,
    log: host.log,
  });
}

/** The modules of a service without a build. */
function fetchedModulesOf(
  host: Host,
  config: (GatewayConfig | ProxyConfig | NodeConfig) & { readonly repository: string },
  options: ComposeOptions,
): ModuleStore {
  const { repository, mode: role, endToEndTls } = config;
  const { limits, trustKey } = options;
  const parts = { host, role, trustKey, limits, endToEndTls };
  const way = new ModuleLink(repository, parts);
  return modulesOf(host, { repository, way }, config, options);
}

function modulesOf(
  host: Host,
  from: ModuleStoreOptions["from"],
  config: Config,
  { root, moduleImporter }: ComposeOptions,
): ModuleStore {
  const { clock, log } = host;
  const cache = "cache" in config ? config.cache : undefined;
  const ports = { clock, log };
  return createModuleStore({ from, cache, root, moduleImporter, config, ...ports });
}
