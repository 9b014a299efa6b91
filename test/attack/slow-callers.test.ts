import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { besiege } from "../fuzz/services/siege.ts";
import { routeModules } from "../_routes.ts";
import { application } from "./_application.ts";
import { callServices } from "./_attack.ts";
import { openSockets, type Sockets } from "./_sockets.ts";

let sockets: Sockets;
const limits = { maxCalls: 4, headerTimeoutMs: 1_000, requestTimeoutMs: 2_000 };
const hook = {
  route: "POST /hooks/:id",
  segment: "main",
  run: async (request: Request) => new Response(await request.text()),
};
beforeAll(async () => {
  sockets = await openSockets({ limits, modules: routeModules([hook], application) });
});
afterAll(() => sockets.close());

const crowd = { idle: 100, slowHeads: 40, slowBodies: 40, unread: 0, dripMs: 100 };

describe("idle connections, and heads and bodies that come byte by byte,", () => {
  it("take no call's place (overload-5), and are cut in time", async () => {
    const sieges = callServices.map((service) => besiege(sockets.ports[service], crowd, 3_500));
    for (const { refused, calls, cuts } of await Promise.all(sieges)) {
      expect(refused).toEqual([]);
      expect(calls).toBeGreaterThan(3);
      expect(cuts["slowHeads"]?.[0]).toBe(40);
      expect(cuts["slowBodies"]?.[0]).toBe(40);
    }
  });

  it("take no call's place if they are for a route (overload-5)", async () => {
    const uploads = { ...crowd, slowHeads: 0, bodyPath: "/hooks/1" };
    const sieges = callServices.map((service) => besiege(sockets.ports[service], uploads, 1_000));
    for (const { refused, calls } of await Promise.all(sieges)) {
      expect(refused).toEqual([]);
      expect(calls).toBeGreaterThan(1);
    }
  });
});
