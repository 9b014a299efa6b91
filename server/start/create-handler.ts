// createHandler: a service inside of a server that isn't ours, which has the socket.

import type { IncomingMessage, ServerResponse } from "node:http";

import type { Config } from "../config/config.ts";
import type { MountedService } from "../http/mounted/mounted-service.ts";
import { answerNode } from "../http/mounted/node-handler.ts";
import { upgradesOf } from "../http/mounted/node-upgrade.ts";
import { OpenMountedRequests } from "../http/mounted/open-requests.ts";
import { answerWeb, type CallerInfo } from "../http/mounted/web-handler.ts";
import type { ModuleImporter } from "../modules/module-importer.ts";
import { pageLinksOf } from "./page-links-of.ts";
import { prepareService } from "./prepare-service.ts";
import { cutWarning, logFault, runService } from "./running-service.ts";
import type { Handler, HandlerOptions } from "./server.ts";

/**
 * Starts a standalone or a node inside of another server, and resolves when it answers requests of that server.
 * Like `startServer`, without a socket, signals and a limit of connections.
 */
export async function createHandler(
  moduleImporter?: ModuleImporter,
  options: HandlerOptions = {},
): Promise<Handler> {
  const prepared = await prepareService("createHandler", moduleImporter, options, { adapt });
  const { role, config, log, memory, limits } = prepared;
  const requests = new OpenMountedRequests(cutWarning(prepared));
  const pageLinks = pageLinksOf(prepared);
  const { server, start } = runService(prepared, config.url, {
    drain() {
      requests.drain();
      pageLinks?.drain();
    },
    async close(graceMs) {
      await Promise.all([requests.close(graceMs), pageLinks?.close(graceMs)]);
    },
  });
  await start();
  const mistakes = new Set<string>();
  const service: MountedService = {
    role,
    memory,
    limits,
    requests,
    onFault: logFault(prepared),
    onMistake(message) {
      if (mistakes.has(message) || mistakes.size >= maxLoggedMistakes) return;
      mistakes.add(message);
      log.error(message);
    },
  };
  const { mode, runProcedure } = server;
  return {
    mode,
    get info() {
      return server.info;
    },
    fetch: (request: Request, info?: CallerInfo) => answerWeb(service, request, info),
    node: (message: IncomingMessage, response: ServerResponse, next?: () => void) =>
      answerNode(service, message, response, next),
    upgrade: upgradesOf(role, memory, () => requests.isDraining, pageLinks),
    addHealthCheck: (name, check) => server.addHealthCheck(name, check),
    addMiddleware: (middleware) => server.addMiddleware(middleware),
    runProcedure,
    consoleLink: () => server.consoleLink(),
    close: () => server.stop(),
  };
}

/** Callers can make prefixes up. */
const maxLoggedMistakes = 16;

function adapt(config: Config): Config {
  const { mode, url } = config;
  if (mode !== "standalone" && mode !== "node")
    throw new Error(
      `createHandler runs a standalone or a node, not a ${mode}: start that with 'seamline start' or startServer`,
    );
  if (mode === "node") {
    if (config.gateway !== undefined && new URL(url).port === "0")
      throw new Error(
        `'url': others reach this node at the address of the server that it is mounted in, so the port can't be 0`,
      );
    return config;
  }
  // Pages of the other server would get ours instead of its 404.
  return { ...config, fallback: config.fallback ?? false };
}
