// Creates the role that a checked configuration names. A role's code is only loaded where it runs.

import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import type { Host } from "../../src/base/ports.ts";
import { Problems } from "../../src/base/problem.ts";
import type { RepositoryFiles } from "../../src/roles/repository.ts";
import type { PublicOriginOptions } from "../../src/http/public-origin.ts";
import type { Console } from "../console/console.ts";
import type { Role } from "../../src/roles/role.ts";
import type { Limits } from "../../src/codec/values/limits.ts";
import type {
  ApplicationConfig,
  Config,
  GatewayConfig,
  NodeConfig,
  ProxyConfig,
  RepositoryConfig,
  StandaloneConfig,
} from "../config/config.ts";
import type { PublicFiles } from "../files/files.ts";
import type { ModuleImporter } from "../modules/module-importer.ts";
import { lazyModuleStore } from "../modules/lazy-module-store.ts";
import type { ModuleStore, ModuleStoreOptions } from "../modules/module-store.ts";
import { slashed } from "../files/sources.ts";
import type { EnsuredBuild } from "./ensure-build.ts";

export interface ComposeOptions {
  readonly root: string;
  readonly limits: Limits;
  readonly trustKey: string;
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
  /** The public files, if the role serves them. */
  readonly publicFiles?: PublicFiles;
}

/** The addresses under which browsers reach the service. */
function webOf({ origin, hosts, forwarded }: Config): PublicOriginOptions {
  return {
    ...(origin !== undefined && { origins: [origin].flat() }),
    ...(hosts !== undefined && { hosts }),
    ...(forwarded !== undefined && { forwarded }),
  };
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
    const { createGateway } = await import("../../src/roles/relay/gateway.ts");
    const modules =
      config.repository === undefined
        ? undefined
        : modulesOf(host, { repository: config.repository }, undefined, options);
    const { limits, trustKey, newId } = options;
    const console = await consoleOf(host, config, options);
    const { healthIntervalMs, url, members, repository } = config;
    const web = webOf(config);
    const role = createGateway(host, {
      limits,
      web,
      errors: config.errors,
      trustKey,
      healthIntervalMs,
      newId,
      modules,
      observer: console,
      url,
      members,
      repository,
    });
    return { role, modules, console };
  }) satisfies Composer<GatewayConfig>,

  proxy: (async (host, config, options) => {
    const { createProxy } = await import("../../src/roles/relay/proxy.ts");
    const modules = modulesOf(host, { repository: config.repository }, undefined, options);
    const { limits, trustKey } = options;
    // The configuration's check requires one of the two.
    const calls = config.gateway ?? config.node ?? "";
    const console = await consoleOf(host, config, options);
    return {
      role: createProxy(host, {
        limits,
        web: webOf(config),
        errors: config.errors,
        trustKey,
        calls,
        repository: config.repository,
        modules,
        observer: console,
      }),
      modules,
      console,
    };
  }) satisfies Composer<ProxyConfig>,

  repository: (async (host, config, options) => {
    const { createRepository } = await import("../../src/roles/repository.ts");
    const build = await outputOf(host, config, options);
    const { files, publicFiles } = await filesOf(host, config, options, build);
    // A repository runs no procedures, but its health checks may be modules of the application.
    // The store reads nothing until one is imported.
    const modules = modulesOf(host, { folder: build.output.server }, undefined, options);
    return {
      role: createRepository(host, {
        limits: options.limits,
        web: webOf(config),
        errors: config.errors,
        trustKey: options.trustKey,
        files,
      }),
      modules,
      publicFiles,
    };
  }) satisfies Composer<RepositoryConfig>,

  standalone: (async (host, config, options) => {
    const { createStandalone } = await import("../../src/roles/standalone.ts");
    const build = await outputOf(host, config, options);
    const { files, publicFiles } = await filesOf(host, config, options, build);
    const from = { folder: build.output.server, manifest: build.built.manifest };
    const modules = modulesOf(host, from, config.cache, options);
    const { limits, trustKey } = options;
    const console = await consoleOf(host, config, options);
    const { segments, name } = config;
    const role = createStandalone(host, {
      limits,
      web: webOf(config),
      errors: config.errors,
      trustKey,
      files,
      modules,
      segments,
      name,
      observer: console,
    });
    return { role, modules, console, publicFiles };
  }) satisfies Composer<StandaloneConfig>,

  node: (async (host, config, options) => {
    const { createNode } = await import("../../src/roles/node.ts");
    const modules = modulesOf(host, { repository: config.repository }, config.cache, options);
    const { limits, trustKey } = options;
    const { gateway, segments, name } = config;
    return {
      role: createNode(host, {
        limits,
        web: webOf(config),
        errors: config.errors,
        trustKey,
        gateway,
        modules,
        segments,
        name,
      }),
      modules,
    };
  }) satisfies Composer<NodeConfig>,
};

/** Loads the console's code only if the configuration turns it on. */
async function consoleOf(
  host: Host,
  config: Pick<GatewayConfig, "console" | "tls">,
  { trustKey }: ComposeOptions,
): Promise<Console | undefined> {
  if (!config.console) return undefined;
  const [{ createConsole }, { createConsoleFiles }] = await Promise.all([
    import("../console/console.ts"),
    import("../console/console-files.ts"),
  ]);
  return createConsole(host, {
    trustKey,
    secure: config.tls !== undefined,
    file: createConsoleFiles(),
  });
}

async function outputOf(
  host: Host,
  config: ApplicationConfig,
  options: ComposeOptions,
): Promise<EnsuredBuild> {
  const { ensureBuild } = await import("./ensure-build.ts");
  return await ensureBuild({ ...config, root: options.root, build: options.build, log: host.log });
}

async function filesOf(
  host: Host,
  config: ApplicationConfig,
  options: ComposeOptions,
  { output, built }: EnsuredBuild,
): Promise<{ files: RepositoryFiles; publicFiles: PublicFiles }> {
  const [{ createPublicFiles }, { createRepositoryFiles }] = await Promise.all([
    import("../files/files.ts"),
    import("../files/repository-files.ts"),
  ]);
  const { modules, imports, pages, singlePage, assetsFolder } = built.manifest;
  const publicFiles = await createPublicFiles({
    rootFolder: options.root,
    sourceFolder: config.source,
    browserFolder: output.browser,
    assets: config.assets,
    index: config.index,
    pages,
    fallback: config.fallback ?? singlePage,
    assetsFolder,
    modules: [...Object.keys(modules), ...Object.entries(imports).flat(2)],
    except: [
      config.output,
      output.server,
      join(options.root, ".seamline"),
      ...(options.configFile === undefined ? [] : [options.configFile]),
    ],
  });
  const source = slashed(relative(options.root, config.source));
  for (const glob of publicFiles.idle)
    host.log.warn(`'assets': "${glob}" makes no file public. Globs are relative to ./${source}`);
  if (![...publicFiles.paths()].includes("/")) warnOfIndex(config, options.root, host.log);
  if (config.fallback && publicFiles.fallback === undefined) throw missingFallback(config, options);
  return { files: await createRepositoryFiles(output, built, publicFiles), publicFiles };
}

/** Applications without pages leave the key out, so a missing default page is no reason to warn. */
function warnOfIndex({ index, source }: ApplicationConfig, root: string, log: Host["log"]): void {
  if ([source, root].some((folder) => existsSync(join(folder, index))))
    log.warn(
      `'index': the build has no page "${index}", so / answers 404. Run 'seamline build', or start with --build`,
    );
  else if (index !== "index.html")
    log.warn(
      `'index': there is no "${index}", in ./${slashed(relative(root, source))} or in the application folder: / answers 404`,
    );
}

/** Somebody who sets the key counts on it, so the service doesn't start. */
function missingFallback(
  { fallback, index }: ApplicationConfig,
  { configFile, root }: ComposeOptions,
): Problems {
  const file = configFile === undefined ? "configuration" : slashed(relative(root, configFile));
  const [message, hint] =
    typeof fallback === "string"
      ? [
          `the build has no page "${fallback}"`,
          "Name a page in the source folder or the application folder, add it to the inputs in the Vite configuration, and build again",
        ]
      : [
          `there is no page at / to answer with: the build has no "${index}"`,
          "Set 'index' to a page and build again, or remove 'fallback'",
        ];
  return new Problems([{ file, path: "fallback", message, hint }]);
}

function modulesOf(
  host: Host,
  from: ModuleStoreOptions["from"],
  cache: string | undefined,
  { root, trustKey, moduleImporter }: ComposeOptions,
): ModuleStore {
  const { transport, clock, log } = host;
  return lazyModuleStore({
    from,
    cache,
    root,
    trustKey,
    moduleImporter,
    transport,
    clock,
    log,
  });
}
