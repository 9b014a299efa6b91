import { describe, expect, it, onTestFinished } from "vitest";

import { listen } from "../../server/http/http.ts";
import { ask, settle, TestDeployment } from "../_cluster.ts";
import { routeModules } from "../_routes.ts";
import { body } from "./_shop.ts";

/** A standalone with a procedure and a route that wait for `finish`, and what aborted them. */
async function standalone() {
  const aborted: string[] = [];
  const waiting: (() => void)[] = [];
  const wait = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      signal.addEventListener("abort", () => aborted.push((signal.reason as Error).message));
    });
  const modules = routeModules(
    [
      { route: "GET /quick", run: () => new Response("quick") },
      { route: "GET /wait", run: async ({ signal }) => (await wait(signal), new Response("done")) },
    ],
    [
      { fqn: "shop/quick", in: { all: "public" }, body: body("shop/quick", () => "quick") },
      {
        fqn: "shop/wait",
        in: { all: "public" },
        body: body("shop/wait", async ({ signal }) => (await wait(signal), "done")),
      },
    ],
  );
  const role = await new TestDeployment().standalone({ modules, segments: ["all", "site"] });
  return { role, aborted, finish: () => waiting.splice(0).forEach((resolve) => resolve()) };
}

const refused = {
  status: 503,
  headers: {
    "retry-after": "1",
    "x-svc-error": "NodeNotAvailable",
    "x-svc-not-started": "leaving",
  },
  text: "This service is stopping; try again",
};

describe("a service that stops", () => {
  it("stopping-1: a service that leaves isn't ready, and goes on answering calls", async () => {
    const { role } = await standalone();
    const leaving = role.leave();
    expect((await ask(role, "GET", "/health/ready")).status).toBe(503);
    await leaving;
    expect(await ask(role, "GET", "/rpc/shop/quick")).toMatchObject({ status: 200, text: "quick" });
    expect(await ask(role, "GET", "/quick")).toMatchObject({ status: 200, text: "quick" });
  });

  it("stopping-2: a service that has left refuses calls with 503, retry-after and x-svc-not-started: leaving", async () => {
    const { role } = await standalone();
    await role.leave();
    role.refuseCalls();
    for (const target of ["/rpc/shop/quick", "/rpc/shop/unknown", "/quick"])
      expect(await ask(role, "GET", target), target).toMatchObject(refused);
    expect((await ask(role, "GET", "/health/live")).status).toBe(200);
  });

  it("stopping-3: calls that run when a service begins to refuse them are finished", async () => {
    const { role, finish } = await standalone();
    const running = [ask(role, "GET", "/rpc/shop/wait"), ask(role, "GET", "/wait")];
    await settle();
    await role.leave();
    role.refuseCalls();
    expect((await ask(role, "GET", "/rpc/shop/wait")).status).toBe(503);
    finish();
    for (const answer of running) expect(await answer).toMatchObject({ status: 200, text: "done" });
  });

  it("stopping-4: a request that runs when the time to stop is over ends with 503, and its signal is aborted", async () => {
    const { role, aborted } = await standalone();
    const cut: number[] = [];
    const server = await listen((request) => role.handle(request), {
      host: "127.0.0.1",
      port: 0,
      onCut: (count) => cut.push(count),
    });
    onTestFinished(() => server.close(0));
    const running = ["/rpc/shop/wait", "/wait"].map((target) => fetch(server.url + target));
    await fetch(`${server.url}/health/live`);
    await settle();
    await server.close(20);
    for (const answer of await Promise.all(running)) {
      expect([answer.status, answer.headers.get("x-svc-error")]).toEqual([503, "NodeNotAvailable"]);
      expect(answer.headers.get("x-svc-not-started")).toBeNull();
      expect(await answer.text()).toBe("This service stopped before the request ended");
    }
    expect(aborted).toEqual(Array(2).fill("This service stopped before the request ended"));
    expect(cut).toEqual([2]);
  });
});
