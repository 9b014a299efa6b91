// Requests between services that fail: whose fault it is, and who pays for it.

import { describe, expect, it } from "vitest";

import { createRepository, type RepositoryFiles } from "../../../src/roles/repository.ts";
import { ask } from "../../_cluster.ts";
import { deploy, urls } from "../../_deployment.ts";

const stock = "/rpc/shop/stock?sku=1";

/** `urls.b` and one more node with the same procedures. */
async function twoHolders() {
  const all = await deploy();
  const second = all.node(["b"], "second");
  all.network.roles.set("http://second", second);
  await second.start("http://second");
  return all;
}

describe("a member that leaves health checks unanswered", () => {
  /** It answers calls, but no question about its health. */
  async function deaf(holders: typeof deploy | typeof twoHolders) {
    const all = await holders();
    all.network.roles.set(urls.b, {
      ...all.b,
      handle: (request) =>
        request.target.startsWith("/health/")
          ? new Promise((_, reject) =>
              request.signal.addEventListener("abort", () =>
                reject(request.signal.reason as Error),
              ),
            )
          : all.b.handle(request),
    });
    return all;
  }

  it("stays in rotation while it answers calls", async () => {
    const { gateway, clock, log } = await deaf(deploy);
    log.lines.length = 0;
    for (let seconds = 0; seconds < 60; seconds++) {
      expect((await ask(gateway, "GET", stock)).status).toBe(200);
      await clock.pass(1000);
    }
    expect(log.lines.filter((line) => line.startsWith("warning:"))).toEqual([]);
  });
});

describe("a repository that doesn't answer", () => {
  it("makes a page request through the proxy fail after the call timeout, with the reason in the log", async () => {
    const { local, proxy, clock, log } = await deploy();
    const hangs: RepositoryFiles["publicFile"] = ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", reject));
    const none = async (): Promise<undefined> => undefined;
    const files = { publicFile: hangs, component: none, serverFile: none };
    await local
      .add("repository", (host, common) => createRepository(host, { ...common, files }))
      .start();
    await clock.pass(2_000);
    log.lines.length = 0;
    const pages = ["/", "/other.html"].map(async (path) => await ask(proxy, "GET", path));
    await clock.pass(29_999);
    expect(log.lines.filter((line) => line.startsWith("warning:"))).toEqual([]);
    await clock.pass(1);
    for (const page of await Promise.all(pages))
      expect(page).toMatchObject({
        status: 504,
        text: "The repository did not answer in time",
        headers: { "x-svc-error": "DeadlineExceeded" },
      });
    expect(log.lines.filter((line) => line.startsWith("warning:"))).toEqual([
      "warning: http://repository can't be reached: it gave no answer in 30 s",
    ]);
  });
});
