// The runtime's endpoints on Vite's own server: as in production, a page calls its own origin.

import type { ViteDevServer } from "vite";

import type { Manifest } from "../../src/base/manifest.ts";
import { type HttpRequest, type HttpResponse, TransportError } from "../../src/base/ports.ts";
import { answerHeaders, browserManifestPath, mediaTypes, paths } from "../../src/base/protocol.ts";
import { below } from "../../src/http/base-path.ts";
import { pathOf } from "../../src/http/router.ts";
import { oneEntry } from "../base/printable.ts";
import { stackOf } from "../base/stacks.ts";
import { connectEndpoints, connectPageLinks } from "../http/mounted/connect.ts";
import type { Deployment } from "./deployment.ts";
import { pageFile } from "./page-files.ts";

export interface EndpointParts {
  readonly pageManifest: () => Promise<Manifest>;
  readonly deployment: Deployment;
  /** The answer for a document of the contract, if the configuration wants them served. */
  readonly contractDocument: (
    name: string,
    request: HttpRequest,
  ) => Promise<HttpResponse | undefined>;
  /** The application has been read. */
  readonly read: Promise<void>;
  /** The nodes take calls, or have failed. */
  readonly started: Promise<void>;
}

/** Answers requests for the runtime's paths. Vite answers all others. */
export function mountEndpoints(server: ViteDevServer, parts: EndpointParts): void {
  const { logger } = server.config;
  const base = server.config.base.replace(/\/$/, "");
  if (base !== "") redirectModules(server, base);
  const fault = (thrown: unknown): void => {
    // Why an answer broke off is in the log of the node that gave it.
    if (thrown instanceof TransportError) return;
    logger.error(oneEntry(`a request could not be answered: ${stackOf(thrown)}`));
  };
  connectEndpoints(
    server.middlewares,
    async (request) => await answer(request, parts, base),
    fault,
    { isRoute: (target) => parts.deployment.isRoute(target), base, known: parts.read },
  );
  const { deployment } = parts;
  connectPageLinks(server.httpServer, server.middlewares, {
    role: { base, admitPage: (handshake) => deployment.admitPage(handshake) },
    handle: async (request) => await answer(request, parts, base),
    settings: () => deployment.pageLinkSettings,
    log: { warn: (line) => logger.warn(oneEntry(`warning: ${line}`)) },
    onFault: fault,
  });
}

/**
 * Vite puts its base before every address that a module imports. A script that Vite doesn't serve may
 * leave it out: re-exporting from the address with it keeps one runtime in the page.
 */
function redirectModules({ middlewares }: ViteDevServer, base: string): void {
  middlewares.use((message, response, next) => {
    const path = pathOf(message.url ?? "");
    if (!path.startsWith(paths.components) || !path.endsWith(".js")) return next();
    response.setHeader("content-type", mediaTypes.script);
    response.setHeader("cache-control", "no-store");
    response.end(`export * from ${JSON.stringify(base + path)};\n`);
  });
}

async function answer(
  request: HttpRequest,
  { pageManifest, contractDocument, deployment, read, started }: EndpointParts,
  base: string,
): Promise<HttpResponse> {
  const target = below(base, request.target);
  await read;
  if (target.startsWith(browserManifestPath)) {
    const body = JSON.stringify(await pageManifest());
    return { status: 200, headers: { "content-type": mediaTypes.json, ...answerHeaders }, body };
  }
  const file = await pageFile(target, `${base}/@vite/client`);
  if (file !== undefined) return file;
  const name = pathOf(target).slice(paths.components.length);
  const document = target.startsWith(paths.components) && (await contractDocument(name, request));
  if (document) return document;
  await started;
  return await deployment.handle(request);
}
