// `vite preview`: the built pages are Vite's to serve, and the calls that they make are answered here, by a standalone of this process.

import { randomUUID } from "node:crypto";

import type { Logger, PreviewServer } from "vite";

import type { Log } from "../../src/ports.ts";
import { applicationImporter } from "../application-importer.ts";
import { composeRole } from "../compose-role.ts";
import { readConfig, type StandaloneConfig } from "../config.ts";
import { configuredModules } from "../configured-modules.ts";
import { connectDoors } from "../connect.ts";
import { keepServiceFiles } from "../dev/closed-files.ts";
import { readConfiguration } from "../dev/configuration.ts";
import { nodeHost } from "../host.ts";
import { readTrustKey } from "../key.ts";
import { findOutput } from "../sources.ts";
import { createTransport } from "../transport.ts";

export interface PreviewOptions {
  /** Both absolute. */
  readonly root: string;
  readonly source: string;
  /** Where Vite writes pages, absolute. */
  readonly output: string;
}

/**
 * Answers `/rpc`, `/svc` and `/health` in a preview, from the latest build. What a configuration of the application says of segments, layers,
 * checks, limits and assets holds here too; where pages and modules lie, Vite's own knows better.
 */
export async function openPreview(server: PreviewServer, options: PreviewOptions): Promise<void> {
  const { root, source, output } = options;
  if ((await findOutput(root, output)) === undefined)
    throw new Error(
      "There is nothing to preview yet: the modules of the server aren't built\n  → Run 'vite build' first",
    );
  // A stack in the log leads to the application's TypeScript.
  process.setSourceMapsEnabled(true);
  const log = logOf(server.config.logger);
  const { file, config: given, limits } = await readConfiguration(root, undefined);
  const base = (await readConfig(
    { mode: "standalone", url: "http://127.0.0.1:0" },
    { root },
  )) as StandaloneConfig;
  // Whom requests may be for is Vite's business here (`preview.allowedHosts`), and the pages' origin is that of its server.
  const web = { origin: undefined, hosts: ["*"], forwarded: undefined };
  const config: StandaloneConfig = {
    ...base,
    ...given,
    mode: "standalone",
    source,
    output,
    ...web,
  };
  const trustKey = await readTrustKey(root, config.trustKey);
  const host = nodeHost({ log, transport: createTransport({}) });
  const moduleImporter = applicationImporter(root);
  const { role, modules, publicFiles } = await composeRole(host, config, {
    root,
    limits,
    trustKey,
    moduleImporter,
    build: false,
    newId: randomUUID,
    configFile: file,
  });
  const { middleware, healthChecks } = await configuredModules(config, {
    root,
    modules,
    moduleImporter,
  });
  for (const one of middleware) role.addMiddleware(one);
  for (const [name, check] of healthChecks) role.addHealthCheck(name, check);
  await role.start(config.url);
  const fault = (error: unknown): void => log.error("a request could not be answered", error);
  keepServiceFiles(server);
  // Chosen: before Vite's own, which gives a browser that opens an image the page for all paths that it doesn't know.
  const isAsset = (path: string): boolean => publicFiles?.isAsset(path) === true;
  connectDoors(server.middlewares, async (request) => await role.handle(request), fault, isAsset);
  server.httpServer.once("close", () => {
    void role.stop().finally(async () => {
      await host.transport.close();
      await modules?.close();
    });
  });
}

function logOf(logger: Logger): Log {
  return {
    info: (line) => logger.info(line),
    warn: (line) => logger.warn(`warning: ${line}`),
    error: (line, cause) =>
      logger.error(
        `error: ${line}${cause instanceof Error ? `\n${cause.stack ?? cause.message}` : ""}`,
      ),
  };
}
