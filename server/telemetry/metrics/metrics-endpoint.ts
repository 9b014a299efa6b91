// The endpoint for Prometheus: /metrics of the service, or a port of its own.

import type { HttpRequest, HttpResponse } from "../../../src/base/ports.ts";
import { answerHeaders, mediaTypes } from "../../../src/base/protocol.ts";
import { pathOf } from "../../../src/http/router.ts";
import { tokenRefusal } from "../../http/host.ts";
import { listen } from "../../http/http.ts";
import type { PublicOrigin } from "../../../src/http/public-origin.ts";
import { refusal } from "../../http/writing/write-answer.ts";
import { expositionType } from "./exposition.ts";
import type { Metrics } from "./metrics.ts";

const path = "/metrics";

/** Whether a request is for the metrics, and for nothing else of the service. */
export function asksForMetrics({ target }: HttpRequest): boolean {
  return target.startsWith(path) && pathOf(target) === path;
}

/** The answer to a request for metrics. If there is a token, the request needs it. */
export function answerMetrics(
  { method, headers }: HttpRequest,
  metrics: Metrics,
  token?: string,
): HttpResponse {
  if (method !== "GET" && method !== "HEAD")
    return plain(405, "Metrics are read by GET", { allow: "GET, HEAD" });
  const refused = token === undefined ? undefined : tokenRefusal(headers, token, "Metrics need");
  if (refused !== undefined) return refused;
  return {
    status: 200,
    headers: { ...answerHeaders, "content-type": expositionType },
    body: metrics.text(),
  };
}

/**
 * A listener that answers without a key, but only for a host of the service: otherwise pages of other sites could
 * reach it through a DNS name of their own. Rejects if it can't listen.
 */
export async function listenForMetrics(
  metrics: Metrics,
  { port, host = "127.0.0.1" }: { readonly port: number; readonly host?: string | undefined },
  web: Pick<PublicOrigin, "accepts" | "misdirected">,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { url, close } = await listen(
    async (request) => {
      if (!web.accepts(request)) return await refusal(web.misdirected(request), request.headers);
      return asksForMetrics(request)
        ? answerMetrics(request, metrics)
        : plain(404, `There are only metrics here, at ${path}`, {});
    },
    { host, port },
  );
  return { url: url + path, close: async () => await close(0) };
}

function plain(status: number, body: string, more: Readonly<Record<string, string>>): HttpResponse {
  return { status, headers: { "content-type": mediaTypes.text, ...answerHeaders, ...more }, body };
}
