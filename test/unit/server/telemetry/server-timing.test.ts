import { tmpdir } from "node:os";

import { expect, it } from "vitest";

import type { HttpRequest, HttpResponse } from "../../../../src/base/ports.ts";
import { applicationApi } from "../../../../server/telemetry/traces/application-api.ts";
import { serverTiming } from "../../../../server/telemetry/traces/server-timing.ts";
import { root } from "../../../_sources.ts";

it("in development each service adds its time to an answer, and none to health checks", async () => {
  let now = 0;
  const answer = async (): Promise<HttpResponse> => {
    now += 2.25;
    return { status: 200, headers: { "server-timing": "db;dur=1" } };
  };
  const request = { target: "/rpc/a" } as HttpRequest;
  const timing = serverTiming("node a", () => now);
  expect((await timing.request(request, answer)).headers).toEqual({
    "server-timing": "db;dur=1, node-a;dur=2.3",
  });
  const health = { target: "/health/live" } as HttpRequest;
  expect((await timing.request(health, answer)).headers["server-timing"]).toBe("db;dur=1");
});

it("spans are recorded with the application's own @opentelemetry/api, if it has installed it", () => {
  expect(applicationApi(root)?.trace.getTracer).toBeTypeOf("function");
  expect(applicationApi(tmpdir())).toBeUndefined();
});
