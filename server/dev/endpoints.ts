// The runtime's endpoints on Vite's own server: as in production, a page calls its own origin.

import type { ViteDevServer } from "vite";

import { type HttpRequest, type HttpResponse, TransportError } from "../../src/base/ports.ts";
import { answerHeaders, browserManifestPath, mediaTypes } from "../../src/base/protocol.ts";
import { stackOf } from "../base/stacks.ts";
import { connectEndpoints } from "../http/mounted/connect.ts";
import type { Deployment } from "./deployment.ts";
import { pageFile } from "./pages/page-files.ts";
import type { PageManifest } from "./pages/page-manifest.ts";

export interface EndpointParts {
  readonly pageManifest: PageManifest;
  readonly deployment: Deployment;
  /** The application has been read. */
  readonly read: Promise<void>;
  /** The nodes have started. */
  readonly started: Promise<void>;
}

/** Answers requests for the runtime's paths. Vite answers all others. */
export function mountEndpoints(server: ViteDevServer, parts: EndpointParts): void {
  const { base, logger } = server.config;
  if (base.startsWith("/") && base !== "/") redirectModules(server, base);
  connectEndpoints(
    server.middlewares,
    async (request) => await answer(request, parts, `${base}@vite/client`),
    (fault) => logger.error(`a request could not be answered: ${stackOf(causeOf(fault))}`),
    { isRoute: (target) => parts.deployment.isRoute(target), known: parts.read },
  );
}

/** The node's error, if it broke off its answer: only that says which route it is. */
function causeOf(fault: unknown): unknown {
  return fault instanceof TransportError ? (fault.cause ?? fault) : fault;
}

/**
 * Vite puts its base before every address that a module imports. Re-exporting from the address
 * without it keeps one runtime in the page.
 */
function redirectModules({ middlewares }: ViteDevServer, base: string): void {
  middlewares.use((message, response, next) => {
    const [path = ""] = (message.url ?? "").split("?");
    if (!path.startsWith(`${base}svc/`) || !path.endsWith(".js")) return next();
    response.setHeader("content-type", mediaTypes.script);
    response.setHeader("cache-control", "no-store");
    response.end(`export * from ${JSON.stringify(path.slice(base.length - 1))};\n`);
  });
}

async function answer(
  request: HttpRequest,
  { pageManifest, deployment, read, started }: EndpointParts,
  hotPath: string,
): Promise<HttpResponse> {
  const { target } = request;
  await read;
  if (target.startsWith(browserManifestPath)) {
    const body = JSON.stringify(await pageManifest.current());
    return { status: 200, headers: { "content-type": mediaTypes.json, ...answerHeaders }, body };
  }
  const file = await pageFile(target, hotPath);
  if (file !== undefined) return file;
  await started;
  return await deployment.handle(request);
}
