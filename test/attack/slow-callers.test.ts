import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { besiege } from "../../lab/fuzz/services/siege.ts";
import { routeModules } from "../_routes.ts";
import { application } from "./_application.ts";
import { callServices } from "./_attack.ts";
import { openSockets, type Sockets } from "./_sockets.ts";

let sockets: Sockets;
// Fewer than the bodies below. A part of a body that comes takes a place for a moment, so not far fewer.
const limits = { maxCalls: 16, headerTimeoutMs: 500, requestTimeoutMs: 1_000 };
const hook = {
  route: "POST /hooks/:id",
  segment: "main",
  run: async (request: Request) => new Response(await request.text()),
};
beforeAll(async () => {
  sockets = await openSockets({ limits, modules: routeModules([hook], application) });
});
afterAll(() => sockets.close());

const crowd = { idle: 40, slowHeads: 20, slowBodies: 20, unread: 0, dripMs: 100 };

describe("idle connections, and heads and bodies that come byte by byte,", () => {
  it("take no call's place (overload-5), and are cut in time", async () => {
    const sieges = callServices.map((service) =>
      besiege(
        sockets.ports[service],
        crowd,
        0,
        (_, { slowHeads, slowBodies }) => slowHeads?.length === 20 && slowBodies?.length === 20,
      ),
    );
    for (const { refused, calls, cuts } of await Promise.all(sieges)) {
      expect(refused).toEqual([]);
      expect(calls).toBeGreaterThan(0);
      expect(cuts["slowHeads"]?.[0]).toBe(20);
      expect(cuts["slowBodies"]?.[0]).toBe(20);
    }
  });

  it("take no call's place if they are for a route (overload-5)", async () => {
    const uploads = { ...crowd, slowHeads: 0, bodyPath: "/hooks/1" };
    const sieges = callServices.map((service) =>
      besiege(sockets.ports[service], uploads, 500, (calls) => calls > 20),
    );
    for (const { refused, calls } of await Promise.all(sieges)) {
      // A part that has come takes a place until the handler waits for more. After a pause of a busy
      // machine, parts of all uploads have.
      expect(refused.length).toBeLessThan(calls / 4);
    }
  });
});
