// Members over HTTP that accept no connection.

import { describe, expect, it } from "vitest";

import { DeadlineExceeded } from "../../src/base/errors.ts";
import { UnsentError } from "../../src/base/ports.ts";
import { deploy, urls } from "../_deployment.ts";
import { ask, key } from "../_cluster.ts";
import { outOf } from "./_http-way-members.ts";

const stock = "/rpc/shop/stock?sku=tweed";

type Deployed = Awaited<ReturnType<typeof deploy>>;

/** Requests to `url` wait for a connection that is never accepted, and fail like the transport. */
function unaccepting({ network, clock }: Deployed, url: string): void {
  const send = network.send.bind(network);
  network.send = async (request) => {
    if (!request.url.startsWith(url)) return await send(request);
    const { signal } = request;
    return await new Promise((_, reject) => {
      const fail = (cause?: unknown): void =>
        reject(
          new UnsentError(`${url} did not accept the connection in time`, "silent", { cause }),
        );
      signal?.addEventListener("abort", () =>
        signal.reason instanceof DeadlineExceeded ? fail(signal.reason) : reject(signal.reason),
      );
      clock.after(1_250, fail);
    });
  };
}

/** A deployment whose second segment two nodes have, the first of which accepts no connection. */
async function halfAccepting(): Promise<Deployed> {
  const deployed = await deploy();
  const second = deployed.node(["b"], "second");
  deployed.network.roles.set("http://second", second);
  await second.start("http://second");
  unaccepting(deployed, urls.b);
  return deployed;
}

describe("a member that accepts no connection", () => {
  it("again-8: a call that waits for a connection goes to the next member when that fails, and is 504 if its own time ends first", async () => {
    const { gateway, clock } = await halfAccepting();
    const answer = ask(gateway, "GET", stock);
    await clock.pass(1_300);
    expect(await answer).toMatchObject({ status: 200, headers: { "x-svc-node": "second" } });
    const late = await halfAccepting();
    const short = ask(late.gateway, "GET", stock, {
      "x-svc-trust-key": key,
      "x-svc-deadline": "1000",
    });
    await late.clock.pass(1_010);
    expect(await short).toMatchObject({
      status: 504,
      headers: { "x-svc-error": "DeadlineExceeded" },
    });
  });

  it("times of calls that are shorter than a connection may take don't take it out of rotation (again-8)", async () => {
    const { gateway, clock, log } = await halfAccepting();
    for (let calls = 0; calls < 8; calls++) {
      const answer = ask(gateway, "GET", stock, {
        "x-svc-trust-key": key,
        "x-svc-deadline": "100",
      });
      await clock.pass(110);
      expect([200, 504]).toContain((await answer).status);
    }
    expect(outOf(log.lines, urls.b)).toBe(0);
  });
});
