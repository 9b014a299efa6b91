// A repository that is killed, hangs or is cut off while nodes start and a proxy serves, over real links.

import { setTimeout as pause } from "node:timers/promises";

import { describe, expect, it, vi } from "vitest";

import { keepCalling, wireTo } from "./_behind-sockets.ts";
import { anyPort, applicationOf, start } from "./_started.ts";

const common = { url: anyPort, trustKey: "the-trust-key-of-a-repository-with-faults" } as const;
const faultMs = 4_000;

const application = () =>
  applicationOf({
    "src/a.txt": "a file",
    "src/shop/stock.ts": "export async function left() { return 12; }",
    "shop.segment.json": '{ "./shop/stock": { "left": { "access": "public" } } }',
  });

async function deployed() {
  const app = application();
  const startRepository = (url: string = anyPort) =>
    start(app, { mode: "repository", ...common, url, assets: ["a.txt"] });
  const repository = await startRepository();
  const wire = await wireTo(repository.url);
  const gateway = await start(app, { mode: "gateway", ...common });
  const behind = { gateway: gateway.url, repository: wire.url };
  // In a folder of its own, as a node that has kept the modules needs no repository to start.
  const startNode = (name: string) =>
    start(application(), { mode: "node", ...common, ...behind, segments: ["shop"], name });
  await startNode("first");
  const proxy = await start(app, { mode: "proxy", ...common, ...behind });
  const get = async (path: string) => {
    const answer = await fetch(proxy.url + path);
    return `${answer.status} ${await answer.text()}`;
  };
  expect(await get("/a.txt")).toBe("200 a file");
  return { repository, startRepository, wire, startNode, get };
}

type Deployed = Awaited<ReturnType<typeof deployed>>;

/** A fault of the repository, and the function that ends it. */
const faults: Readonly<Record<string, (all: Deployed) => Promise<() => unknown>>> = {
  "stops and starts again": async ({ repository, startRepository }) => {
    const { url } = repository;
    await repository.stop();
    return () => startRepository(url);
  },
  hangs: async ({ wire }) => {
    wire.isHeld = true;
    return () => (wire.isHeld = false);
  },
  "is cut off": async ({ wire }) => {
    wire.cut();
    return () => wire.mend();
  },
};

describe("while nodes start and a proxy serves", () => {
  it.each(Object.entries(faults))(
    "repository-8: a repository with a fault fails no call, files only meanwhile, and a node that starts waits for it (one that %s)",
    async (_, fault) => {
      const all = await deployed();
      const calls = keepCalling(2, () => all.get("/rpc/shop/left"));
      const files = keepCalling(2, async () => {
        const outcome = await all.get("/a.txt");
        await pause(20);
        return outcome;
      });
      await Promise.all([calls.more(20), files.more(20)]);
      const end = await fault(all);
      const starting = all.startNode("second");
      const isReady = vi.fn();
      void starting.then(isReady);
      await pause(faultMs);
      expect(isReady).not.toHaveBeenCalled();
      await end();
      await vi.waitFor(async () => expect(await all.get("/a.txt")).toBe("200 a file"), 8_000);
      // Each of the two may have one on its way that began before.
      await files.more(4);
      files.outcomes.clear();
      await files.more(20);
      await Promise.all([calls.end(), files.end()]);
      expect([...files.outcomes.keys()]).toEqual(["200 a file"]);
      expect([...calls.outcomes.keys()]).toEqual(["200 12"]);
      const node = await starting;
      expect(await (await fetch(`${node.url}/rpc/shop/left`)).text()).toBe("12");
    },
    60_000,
  );
});
