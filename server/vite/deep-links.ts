// Vite's servers answer deep links by `appType`. If the configuration has `fallback`, they answer
// as the service will.

import { existsSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";

import type { PreviewServer, ViteDevServer } from "vite";

import { pathOf } from "../../src/http/router.ts";
import type { ApplicationConfig } from "../config/config-types.ts";
import {
  asksForPage,
  assetsFolderOf,
  decodedPath,
  fallbackPage,
  isPagePath,
} from "../files/pages.ts";

export interface DeepLinks {
  /** The key of the configuration. `undefined` leaves everything to Vite. */
  readonly fallback: () => Promise<ApplicationConfig["fallback"]>;
  /** URL path below Vite's base of the page that the key names, if there is one. */
  readonly pageOf: (fallback: true | string) => string | undefined;
  /** The folder of the pages that Vite serves. */
  readonly folder: string;
}

type Server = Pick<ViteDevServer | PreviewServer, "middlewares" | "config">;

/**
 * Adds a middleware to `server`. It must run after Vite's own fallback, which rewrites the URL, and
 * before Vite reads the page.
 */
export function answerDeepLinks(server: Server, links: DeepLinks): void {
  const { appType, base, build, logger } = server.config;
  // A server of the application's own answers then.
  if (appType === "custom") return;
  const assetsFolder = assetsFolderOf(build.assetsDir);
  const warned = new Set<true | string>();
  const pageOf = (fallback: true | string): string | undefined => {
    const page = links.pageOf(fallback);
    if (page === undefined && !warned.has(fallback))
      logger.warn(
        `warning: 'fallback': there is no page "${fallback === true ? "index.html" : fallback}", so deep links answer 404`,
      );
    if (page === undefined) warned.add(fallback);
    return page;
  };
  const rewrite = async (
    message: IncomingMessage & { originalUrl?: string | undefined },
    response: ServerResponse,
  ): Promise<void> => {
    const configured = await links.fallback();
    const fallback = fallbackPage(configured);
    if (fallback === undefined) return;
    const requested = below(base, pathOf(message.originalUrl ?? message.url ?? "/"));
    const current = pathOf(message.url ?? "/");
    const path = decodedPath(requested);
    const isRewritten =
      current === "/index.html" && !/^\/(?:index(?:\.html)?)?$/.test(path ?? requested);
    if (!isRewritten && current.endsWith(".html") && existsSync(join(links.folder, current)))
      return;
    const isDeepLink =
      path !== undefined &&
      asksForPage({ method: message.method ?? "GET", headers: message.headers }) &&
      isPagePath(path, assetsFolder);
    const page = fallback !== false && isDeepLink ? pageOf(fallback) : undefined;
    if (page !== undefined) {
      message.url = page;
      if (typeof configured === "object") answerWith(response, configured.status);
    } else if (isRewritten) message.url = requested;
  };
  const handle = async (
    message: IncomingMessage,
    response: ServerResponse,
    next: (error?: unknown) => void,
  ) => {
    try {
      await rewrite(message, response);
    } catch (error) {
      return next(error);
    }
    next();
  };
  server.middlewares.use((message, response, next) => void handle(message, response, next));
}

/** Makes the answer have a status where Vite, which only knows pages that exist, sets 200. */
function answerWith(response: ServerResponse, status: number): void {
  let current = status;
  // That of HTTP/2 is an accessor.
  const inherited = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(response), "statusCode");
  inherited?.set?.call(response, status);
  Object.defineProperty(response, "statusCode", {
    configurable: true,
    enumerable: true,
    get: () => current,
    set(next: number) {
      current = next === 200 ? status : next;
      inherited?.set?.call(response, current);
    },
  });
}

function below(base: string, path: string): string {
  return base.startsWith("/") && path.startsWith(base) ? `/${path.slice(base.length)}` : path;
}
