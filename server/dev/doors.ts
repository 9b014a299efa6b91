// The doors of the runtime on Vite's own server: the page's origin takes its calls, as a service's does.

import type { ViteDevServer } from "vite";

import type { HttpRequest, HttpResponse } from "../../src/ports.ts";
import { NodeRequest, writeAnswer } from "../http-message.ts";

/** Gives `answer` what belongs to the runtime; all else is Vite's. */
export function mountDoors(server: ViteDevServer, answer: (request: HttpRequest) => Promise<HttpResponse | undefined>): void {
  const { logger } = server.config;
  server.middlewares.use((message, response, next) => {
    const path = (message.url ?? "/").replace(/\?.*$/, "");
    if (!/^\/(?:rpc|svc|health)(?:\/|$)/.test(path)) return next();
    const connection = { open: 1, aborts: new Set<() => void>() };
    const request = new NodeRequest(message, connection, undefined);
    response.once("close", () => {
      if (!response.writableFinished) for (const abort of connection.aborts) abort();
    });
    void (async () => {
      try {
        const answered = await answer(request);
        if (answered === undefined) return next();
        await writeAnswer(message, response, answered, { closing: false, takeTime: 60_000 });
      } catch (fault) {
        logger.error(`a request could not be answered: ${String(fault)}`);
        if (response.headersSent) response.destroy();
        else response.writeHead(500, { "content-length": 0 }).end();
      } finally {
        request.finished();
      }
    })();
  });
}
