// Vite's servers answer deep links by `appType`. If the configuration has `fallback`, they answer
// as the service will.

import { existsSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";

import type { PreviewServer, ViteDevServer } from "vite";

import { pathOf } from "../../src/http/router.ts";
import { asksForPage, assetsFolderOf, decodedPath, isPagePath } from "../files/pages.ts";

export interface DeepLinks {
  /** The key of the configuration. `undefined` leaves everything to Vite. */
  readonly fallback: () => Promise<boolean | string | undefined>;
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
  ): Promise<void> => {
    const fallback = await links.fallback();
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
    if (page !== undefined) message.url = page;
    else if (isRewritten) message.url = requested;
  };
  const handle = async (message: IncomingMessage, next: (error?: unknown) => void) => {
    try {
      await rewrite(message);
    } catch (error) {
      return next(error);
    }
    next();
  };
  server.middlewares.use((message, _, next) => void handle(message, next));
}

function below(base: string, path: string): string {
  return base.startsWith("/") && path.startsWith(base) ? `/${path.slice(base.length)}` : path;
}
