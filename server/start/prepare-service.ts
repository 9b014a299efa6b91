// Reads the configuration of a service, and composes its role with the host's parts.

import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

import { Problems } from "../../src/base/problem.ts";
import type { Host, Log } from "../../src/base/ports.ts";
import { defaultLimits, type Limits } from "../../src/base/limits.ts";
import { definedOf } from "../base/defined.ts";
import { errorsWarning } from "../config/config-address.ts";
import { configVariable, defaultConfigFile } from "../config/config-file.ts";
import { type Config, configName, readConfig } from "../config/config.ts";
import { readTrustKey, shortKeyProblem, trustKeyWarning } from "../config/key.ts";
import { openFilesWarning, readOpenFilesLimit } from "../config/open-files.ts";
import type { TlsFiles } from "../config/tls.ts";
import { realPath } from "../files/sources.ts";
import { Heartbeat } from "../host/event-loop.ts";
import { HeldMemory } from "../host/held-memory.ts";
import { nodeHost } from "../http/host.ts";
import { createLinkHost } from "../http/links/dial.ts";
import { applicationImporter, type ModuleImporter } from "../modules/module-importer.ts";
import { type Composed, composeRole } from "./compose-role.ts";
import { observe, serviceLog } from "./observability.ts";
import type { ServerOptions } from "./server.ts";

/** A composed role that hasn't started, with its surroundings. */
export interface PreparedService extends Composed {
  /** The application folder. */
  readonly root: string;
  readonly config: Config;
  readonly importer: ModuleImporter;
  readonly log: Log;
  readonly limits: Limits;
  readonly memory: HeldMemory;
  readonly host: Host;
  readonly tls: TlsFiles | undefined;
  readonly heartbeat: Heartbeat;
  /** Releases its resources, except the sockets that it listens on. */
  release(): Promise<void>;
}

/** Adapts a service that starts inside of another server. */
export interface Mounting {
  /** Throws if a service with this configuration can't be mounted; returns the one to use. */
  readonly adapt: (config: Config) => Config;
}

/** `caller` is the function that takes these arguments, for its errors. */
export async function prepareService(
  caller: string,
  moduleImporter: ModuleImporter | undefined,
  options: Omit<ServerOptions, "signals">,
  mounting?: Mounting,
): Promise<PreparedService> {
  if (moduleImporter !== undefined && typeof moduleImporter !== "function")
    throw new TypeError(
      `${caller} takes a module importer: ${caller}((specifier) => import(specifier))`,
    );
  const root = realPath(options.root ?? ".");
  const importer = moduleImporter ?? applicationImporter(root);
  const source = options.config ?? configFile();
  const isMounted = mounting !== undefined;
  const written = withConsole(await readConfig(source, { root, isMounted }), options.console);
  const config = mounting?.adapt(written) ?? written;
  const log = options.log ?? serviceLog(config);
  // Imported only here: loading Node's TLS would slow down every start.
  const tls =
    config.tls === undefined
      ? undefined
      : await (
          await import("../config/tls.ts")
        ).readTls(
          config.tls,
          config.url,
          (message) => log.warn(message),
          // A proxy dials a node at its 'url'. Others may be called by a name that they share.
          config.mode === "node" ? [] : config.hosts,
        );
  const trustKey = await readTrustKey(root, config.trustKey);
  const file = typeof source === "string" ? source : undefined;
  const shortKey = shortKeyProblem(trustKey, config, configName(file, root));
  if (shortKey !== undefined) throw new Problems([shortKey]);
  const limits: Limits = { ...defaultLimits, ...definedOf(config.limits ?? {}) };
  const memory = new HeldMemory(config.limits?.heldBytes);
  const observation = await observe(config, {
    log,
    memory,
    trustKeys: [trustKey].flat(),
    root,
    file: configName(file, root),
  });
  const heartbeat = new Heartbeat((line) => log.warn(line));
  const host = nodeHost({
    log,
    memory,
    links: createLinkHost({ authorities: tls?.authorities, memory, heartbeat }),
    telemetry: observation.telemetry,
  });
  for (const warning of [
    trustKeyWarning(trustKey),
    errorsWarning(config, configName(file, root)),
    openFilesWarning(await readOpenFilesLimit(), limits.maxConnections),
  ])
    if (warning !== undefined) log.warn(warning);
  let composed: Composed | undefined;
  const release = async (): Promise<void> => {
    heartbeat.stop();
    await observation.close();
    await composed?.modules?.close();
  };
  try {
    composed = await composeRole(host, config, {
      root,
      limits,
      trustKey,
      moduleImporter: importer,
      build: options.build,
      newId: randomUUID,
      configFile: file && resolve(root, file),
    });
  } catch (error) {
    await release();
    throw error;
  }
  return {
    ...composed,
    root,
    config,
    importer,
    log,
    limits,
    memory,
    host,
    tls,
    heartbeat,
    release,
  };
}

function withConsole(config: Config, isOn: boolean | undefined): Config {
  if (isOn === undefined) return config;
  if ("console" in config) return { ...config, console: isOn };
  if (isOn)
    throw new Error(`A ${config.mode} has no console: a gateway, a proxy or a standalone has one`);
  return config;
}

function configFile(): string {
  const { values } = parseArgs({ options: { config: { type: "string" } }, strict: false });
  if (typeof values.config === "string") return values.config;
  return configVariable(process.env) ?? defaultConfigFile;
}
