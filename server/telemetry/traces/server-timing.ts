// In development, answers say how long each service took: browsers show it beside the request.

import type { HttpRequest, HttpResponse, Telemetry } from "../../../src/base/ports.ts";
import { isHealth } from "../../../src/http/health.ts";

const header = "server-timing";

/** For the service with this name. Each service adds its entry to those of the services behind it. */
export function serverTiming(name: string, now: () => number = () => performance.now()): Telemetry {
  const metric = name.replaceAll(/[^\w-]/g, "-");
  return {
    attach() {},
    async request<Answer extends HttpResponse | undefined>(
      request: HttpRequest,
      answer: (request: HttpRequest) => Promise<Answer>,
    ): Promise<Answer> {
      if (isHealth(request.target)) return await answer(request);
      const started = now();
      const response = await answer(request);
      if (response === undefined) return response;
      const entry = `${metric};dur=${Math.round((now() - started) * 10) / 10}`;
      const before = [response.headers[header] ?? []].flat();
      const fields = { ...response.headers, [header]: [...before, entry].join(", ") };
      return { ...response, headers: fields };
    },
  };
}
