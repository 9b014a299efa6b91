// The doors of the runtime on Vite's own server: the page's origin takes its calls, as a service's does.

import type { ViteDevServer } from "vite";

import type { HttpRequest, HttpResponse } from "../../src/ports.ts";
import { mediaTypes } from "../../src/protocol.ts";
import { connectDoors } from "../connect.ts";

/** Gives `answer` what belongs to the runtime; all else is Vite's. */
export function mountDoors(
  server: ViteDevServer,
  answer: (request: HttpRequest) => Promise<HttpResponse | undefined>,
): void {
  const { base, logger } = server.config;
  // Vite puts its base before every address that a module imports. A page still has one runtime: that of the one address.
  if (base.startsWith("/") && base !== "/")
    server.middlewares.use((message, response, next) => {
      const [path = ""] = (message.url ?? "").split("?");
      if (!path.startsWith(`${base}svc/`) || !path.endsWith(".js")) return next();
      response.setHeader("content-type", mediaTypes.script);
      response.setHeader("cache-control", "no-store");
      response.end(`export * from ${JSON.stringify(path.slice(base.length - 1))};\n`);
    });
  connectDoors(server.middlewares, answer, (fault) =>
    logger.error(`a request could not be answered: ${String(fault)}`),
  );
}
