import { describe, expect, it } from "vitest";

import type { HttpRequest } from "../../../src/base/ports.ts";
import { TestDeployment, testModules } from "../../_cluster.ts";
import { body } from "../../spec/_shop.ts";

describe("a request that may have waited before it was read", () => {
  it.each([
    [0, 1_000],
    [200, 900],
    [60_000, 500],
  ])(
    "for %i ms at most, has %i of its 1000 ms left: it came at some time while its caller waited",
    async (waitedMs, left) => {
      const modules = testModules([
        {
          fqn: "shop/wait",
          in: { all: "public" },
          body: body("shop/wait", () => new Promise<void>(() => {})),
        },
      ]);
      const local = new TestDeployment();
      const role = await local.standalone({ modules, segments: ["all"] });
      let status: number | undefined;
      const request: HttpRequest = {
        method: "GET",
        target: "/rpc/shop/wait",
        scheme: "http",
        headers: { "x-svc-deadline": "1000" },
        from: "service",
        body: (async function* () {})(),
        readBody: async () => new Uint8Array(),
        signal: new AbortController().signal,
        waitedMs,
      };
      void role.handle(request).then((answer) => (status = answer.status));
      await local.clock.pass(left - 1);
      expect(status).toBeUndefined();
      await local.clock.pass(1);
      expect(status).toBe(504);
    },
  );
});
