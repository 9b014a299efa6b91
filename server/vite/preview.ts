// `vite preview`: Vite serves the built pages, and a standalone in this process answers their
// calls.

import { randomUUID } from "node:crypto";

import type { Logger, PreviewServer } from "vite";

import type { Log } from "../../src/base/ports.ts";
import { applicationImporter } from "../modules/module-importer.ts";
import { composeRole } from "../start/compose-role.ts";
import { readConfig, type StandaloneConfig } from "../config/config.ts";
import { configuredModules } from "../modules/configured-modules.ts";
import { connectEndpoints, connectPageLinks } from "../http/mounted/connect.ts";
import { keepServiceFiles } from "../compile/plugin/closed-files.ts";
import { readConfiguration } from "../dev/configuration.ts";
import { Heartbeat, logComputations } from "../host/event-loop.ts";
import { nodeHost } from "../http/host.ts";
import { answerDeepLinks } from "./deep-links.ts";
import { readTrustKey } from "../config/key.ts";
import { findOutput } from "../files/sources.ts";

export interface PreviewOptions {
  /** Both absolute. */
  readonly root: string;
  readonly source: string;
  /** Where Vite writes pages, absolute. */
  readonly output: string;
}

/**
 * Answers `/rpc`, `/svc` and `/health` in a preview, from the latest build. The application's
 * configuration decides about segments, middleware, health checks, limits, assets and the fallback;
 * Vite's about pages and folders. Vite calls what it returns after it has added its own handlers.
 */
export async function openPreview(
  server: PreviewServer,
  options: PreviewOptions,
): Promise<() => void> {
  const { root, source, output } = options;
  if ((await findOutput(root, output)) === undefined)
    throw new Error(
      "There is nothing to preview yet: the modules of the server aren't built\n  → Run 'vite build' first",
    );
  // Stacks in the log lead to the application's TypeScript.
  process.setSourceMapsEnabled(true);
  const log = logOf(server.config.logger);
  const { file, config: settings, limits } = await readConfiguration(root, undefined);
  const base = (await readConfig(
    { mode: "standalone", url: "http://127.0.0.1:0" },
    { root },
  )) as StandaloneConfig;
  // Vite checks hosts (`preview.allowedHosts`), and the pages have its server's origin.
  const web = { origin: undefined, hosts: ["*"], forwarded: undefined };
  const config: StandaloneConfig = {
    ...base,
    ...settings,
    mode: "standalone",
    source,
    output,
    ...web,
  };
  const trustKey = await readTrustKey(root, config.trustKey);
  const host = nodeHost({ log });
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
  for (const handler of middleware) role.addMiddleware(handler);
  for (const [name, check] of healthChecks) role.addHealthCheck(name, check);
  await role.start(config.url);
  const heartbeat = new Heartbeat(logComputations(log));
  const fault = (error: unknown): void => log.error("a request could not be answered", error);
  keepServiceFiles(server);
  // Before Vite's own middleware, which answers unknown paths with the page when a browser opens an
  // image.
  const isFile = (path: string): boolean => publicFiles?.isAsset(path) === true;
  connectEndpoints(server.middlewares, async (request) => await role.handle(request), fault, {
    isFile,
    isRoute: (target) => role.isTaken(target),
    base: role.base ?? "",
  });
  connectPageLinks(server.httpServer, server.middlewares, {
    role,
    handle: async (request) => await role.handle(request),
    settings: () => ({ limits, streamHeaders: config.streamHeaders }),
    log,
    onFault: fault,
  });
  server.httpServer.once("close", () => {
    heartbeat.stop();
    void role.stop().finally(async () => await modules?.close());
  });
  return () =>
    answerDeepLinks(server, {
      fallback: async () => config.fallback,
      pageOf: () => publicFiles?.fallback,
      folder: output,
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
