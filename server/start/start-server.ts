// startServer: a service with a socket of its own.

import { setFlagsFromString } from "node:v8";
import type { Mode } from "../config/config-types.ts";
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
  if (options.signals !== false) {
    unlisten = listenToProcess({ stopWithin, drainMs, log });
    collectSeldom(config.mode);
  }
  await service.start();
  return server;
}

/**
 * Lets the heap of a gateway or proxy grow tenfold before V8 looks through all of it. Bodies that pass count as growth, so
 * V8 would do so all the time and find the same few megabytes. Safe here: the process is the service's own and runs no
 * procedures, so what it keeps is small, and `limits` bound what callers make it hold. Elsewhere the
 * application decides how much stays alive, and ten times that may be more than the machine has.
 */
function collectSeldom(mode: Mode): void {
  if (mode === "gateway" || mode === "proxy") setFlagsFromString("--heap-growing-percent=1000");
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
    acceptLink: role.accept,
    pageLinks: pageLinksOf(prepared),
    onFault: logFault(prepared),
    onCut: cutWarning(prepared),
  });
}
