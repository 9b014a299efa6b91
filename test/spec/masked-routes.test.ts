// A route's errors towards callers from outside.

import { describe, expect, it } from "vitest";

import { NotFound } from "../../src/base/errors.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { ask, key, TestDeployment } from "../_cluster.ts";
import { routeModules } from "../_routes.ts";

const secret = "s3cret";
const masked = /^Internal error \([0-9a-f]{16}\)$/;

const modules = () =>
  routeModules([
    {
      route: "GET /fail",
      run: async () => {
        throw new Error(secret, { cause: new Error(secret) });
      },
    },
    {
      route: "GET /missing",
      run: async () => {
        throw new NotFound("No such felt", { cause: new Error(secret) });
      },
    },
  ]);

async function deploy(place: string): Promise<{ local: TestDeployment; role: Role }> {
  const local = new TestDeployment();
  const errors = (name: string): { errors?: "masked" } =>
    name === place ? { errors: "masked" } : {};
  if (place === "standalone")
    return { local, role: await local.standalone({ ...errors(place), modules: modules() }) };
  await local.gateway(errors("gateway"));
  const segments = Object.keys((await modules().manifest()).segments);
  await local.node("a", { ...errors("node"), modules: modules(), segments });
  return { local, role: await local.proxy(errors("proxy")) };
}

describe("masked errors of routes", () => {
  it.each(["standalone", "proxy", "gateway", "node"])(
    "an error of a route is masked like one of a procedure, by the %s alone (masked-1)",
    async (place) => {
      const { local, role } = await deploy(place);
      const failed = await ask(role, "GET", "/fail");
      expect([failed.status, failed.text]).toEqual([500, expect.stringMatching(masked)]);
      expect(JSON.stringify(failed.headers)).not.toContain(secret);
      expect(local.log.lines.filter((line) => line.includes(failed.text))).toHaveLength(1);
      const missing = await ask(role, "GET", "/missing");
      expect([missing.status, missing.text]).toEqual([404, "No such felt"]);
      const trusted = await ask(role, "GET", "/fail", { "x-svc-trust-key": key });
      expect(trusted.text).toContain(secret);
    },
  );
});
