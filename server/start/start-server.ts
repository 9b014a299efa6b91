// startServer: a service with a socket of its own.

import { definedOf } from "../base/defined.ts";
import { type HttpServer, listen } from "../http/http.ts";
import type { ModuleImporter } from "../modules/module-importer.ts";
import { prepareService, type PreparedService } from "./prepare-service.ts";
import { pageLinksOf } from "./page-links-of.ts";
import { listenToProcess } from "./process-events.ts";
import { cutWarning, logFault, runService } from "./running-service.ts";
import type { Server, ServerOptions } from "./server.ts";

/**
 * Starts the service that the configuration names, and resolves when it answers. `moduleImporter`
 * imports modules and packages as the application would; the default does so from its folder.
 */
export async function startServer(
  moduleImporter?: ModuleImporter,
  options: ServerOptions = {},
): Promise<Server> {
  const prepared = await prepareService("startServer", moduleImporter, options);
  const { config, log } = prepared;
  // Listen first: health probes must see that it is alive while it waits for its repository, and
  // a port that is taken must be reported before a gateway hears of this node.
  const http = await open(prepared).catch(async (error: unknown) => {
    await prepared.release();
    throw error;
  });
  const url = new URL(config.url).port === "0" ? http.url : config.url;
  let unlisten = (): void => {};
  const service = runService(prepared, url, http, () => unlisten());
  const { server, stopWithin, drainMs } = service;
  if (options.signals !== false) unlisten = listenToProcess({ stopWithin, drainMs, log });
  await service.start();
  return server;
}

function open(prepared: PreparedService): Promise<HttpServer> {
  const { role, config, tls, memory, heartbeat } = prepared;
  const address = new URL(config.url);
  const defaultPort = tls === undefined ? 80 : 443;
  return listen((request) => role.handle(request), {
    host: address.hostname.replace(/^\[|\]$/g, ""),
    port: address.port === "" ? defaultPort : Number(address.port),
    tls,
    memory,
    heartbeat,
    limits: definedOf(config.limits ?? {}),
    compression:
      "compression" in config ? config.compression !== false : config.mode !== "repository",
    acceptLink: role.accept,
    pageLinks: pageLinksOf(prepared),
    onFault: logFault(prepared),
    onCut: cutWarning(prepared),
  });
}
