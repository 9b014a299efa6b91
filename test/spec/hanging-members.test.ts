// Calls of members that hang: how long their callers wait, and when another member is tried.

import { describe, expect, it } from "vitest";

import { type OutgoingRequest } from "../../src/base/ports.ts";
import { createProxy } from "../../src/roles/proxy.ts";
import { ask, TestDeployment, testModules, testHost } from "../_cluster.ts";
import { dialAsMember, memoryDial } from "../_fake-member.ts";

const isCall = ({ url }: OutgoingRequest): boolean => url.includes("/rpc/");

/** Procedures with a limit of 200 ms on two nodes. The first node is `stopped` when it likes. */
async function limited(names: readonly string[] = ["a", "b"]) {
  const local = new TestDeployment();
  const { network, clock, log } = local;
  const gateway = await local.gateway();
  const body = (name: string) => () => async () => name;
  for (const name of names)
    await local.node(name, {
      modules: testModules([
        { fqn: "order", in: { main: { access: "public", timeoutMs: 200 } }, body: body(name) },
        {
          fqn: "stock",
          in: { main: { access: "public", timeoutMs: 200, idempotent: true } },
          body: body(name),
        },
        { fqn: "report", in: { main: "public" }, body: body(name) },
      ]),
      segments: ["main"],
    });
  const stop = (name: string): void => {
    const { handle } = network.roles.get(`http://${name}`)!;
    network.roles.get(`http://${name}`)!.handle = (request) =>
      isCall({ url: request.target, method: "GET", headers: {} })
        ? new Promise(() => {})
        : handle(request);
  };
  return { local, gateway, network, clock, log, stop };
}

describe("a member that hangs with a procedure that has a time limit", () => {
  it("silent-8: half a second after the time limit of its procedure, a call that a member holds is 504", async () => {
    const { gateway, clock, stop } = await limited(["a"]);
    stop("a");
    let status = 0;
    const answer = ask(gateway, "GET", "/rpc/order").then((given) => (status = given.status));
    const unlimited = ask(gateway, "GET", "/rpc/report");
    await clock.pass(690);
    expect(status).toBe(0);
    await clock.pass(20);
    await answer;
    expect(status).toBe(504);
    await clock.pass(30_000);
    expect((await unlimited).status).toBe(504);
  });

  it("silent-9: an idempotent call then goes to another member", async () => {
    const { gateway, clock, stop } = await limited();
    stop("a");
    const answer = ask(gateway, "GET", "/rpc/stock");
    await clock.pass(710);
    expect(await answer).toMatchObject({ status: 200, text: "b" });
  });

  it("a proxy in front of a node waits no longer either (silent-8)", async () => {
    const { local, network, clock, log, stop } = await limited(["a"]);
    const proxy = createProxy(testHost(network, clock, log), {
      ...local.common,
      calls: "http://a",
      repository: "http://repository",
    });
    network.roles.set("http://proxy", proxy);
    await proxy.start("http://proxy");
    expect((await ask(proxy, "GET", "/rpc/order")).status).toBe(200);
    stop("a");
    const answer = ask(proxy, "GET", "/rpc/order");
    await clock.pass(710);
    expect((await answer).status).toBe(504);
  });

  it("a large body has time to arrive before the limit counts (silent-8)", async () => {
    const { gateway, clock, stop } = await limited(["a"]);
    stop("a");
    let status = 0;
    const json = { "content-type": "application/json" };
    const body = `{"value":"${"x".repeat(1_000_000)}"}`;
    const answer = ask(gateway, "POST", "/rpc/order", json, body).then(
      (given) => (status = given.status),
    );
    await clock.pass(1_600);
    expect(status).toBe(0);
    await clock.pass(150);
    await answer;
    expect(status).toBe(504);
  });

  it.each([{ order: 0 }, { order: "200" }, 7])(
    "a member that announces %j as its time limits is refused",
    async (timeouts) => {
      const { network } = await limited([]);
      const member = await dialAsMember({ dial: memoryDial(network) });
      expect(await member.announce({ procedures: ["order"], timeouts })).toMatchObject({
        status: 400,
        text: expect.stringContaining("'timeouts' doesn't give times in ms") as unknown,
      });
    },
  );
});
