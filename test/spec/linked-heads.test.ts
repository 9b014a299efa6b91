// Heads of requests and answers that are larger than what a link carries.

import { expect, it } from "vitest";

import { defaultLimits } from "../../src/base/limits.ts";
import { ask, TestDeployment } from "../_cluster.ts";
import { routeModules } from "../_routes.ts";

const large = "x".repeat(70_000);

it("links-26: a request whose headers are larger than a link carries is 431, an answer with such headers is 502 and logged, and both services go on", async () => {
  const local = new TestDeployment({ limits: { ...defaultLimits, headerBytes: 100_000 } });
  const gateway = await local.gateway();
  const modules = routeModules([
    { route: "GET /large", run: async () => new Response("", { headers: { "x-large": large } }) },
    { route: "GET /small", run: async () => new Response("small") },
  ]);
  await local.node("a", { modules, segments: ["site"] });
  const answer = await ask(gateway, "GET", "/large");
  const request = await ask(gateway, "GET", "/small", { "x-large": large });
  expect(answer.status).toBe(502);
  expect(local.log.lines.join("\n")).toMatch(
    /a request could not be answered.*An answer's headers have 70063 characters/s,
  );
  expect([request.status, request.headers["x-svc-error"]]).toEqual([
    431,
    "RequestHeaderFieldsTooLarge",
  ]);
  expect((await ask(gateway, "GET", "/small")).text).toBe("small");
});
