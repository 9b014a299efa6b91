// A page reads a feed while gateways and nodes are killed and stopped under it: with "resume" no item is lost.
// lab/stream-faults.mjs runs it many times, and prints what the faults have cost.

import { expect, test } from "@playwright/test";
import { freePort } from "../test/_free-port.ts";
import {
  anyPort,
  type Application,
  buildPackage,
  createApplication,
  type Service,
} from "../test/process/_application.ts";
import { feedFiles, goesOn, seenBy } from "./_feed.ts";

const trustKey = "the-trust-key-of-the-feed";

let application: Application;
test.beforeAll(async () => {
  buildPackage();
  application = await createApplication();
  for (const [path, content] of Object.entries(feedFiles)) await application.put(path, content);
  const command = application.seamline(["build"]);
  expect(await command.ended(), command.output()).toBe(0);
});
test.afterAll(() => application.remove());

const faults = [
  { name: "gateway killed", of: "gateway", signal: "SIGKILL" },
  { name: "node killed", of: "node", signal: "SIGKILL" },
  { name: "gateway drained", of: "gateway", signal: "SIGTERM" },
  { name: "node drained", of: "node", signal: "SIGTERM" },
] as const;

test("no item of a feed with resume is lost while two gateways and two nodes are killed and stopped in turn", async ({
  page,
}) => {
  // It only bounds a failure.
  test.setTimeout(240_000);
  const started: Service[] = [];
  const service = async (name: string, config: object): Promise<Service> => {
    const one = await application.service(name, { url: anyPort, trustKey, ...config });
    started.push(one);
    return one;
  };
  try {
    const repository = await service("repository", { mode: "repository" });
    const ports = [await freePort(), await freePort()];
    const gateway = ports.map((port) => `http://127.0.0.1:${port}`);
    const behind = { gateway, repository: repository.url };
    const start = {
      gateway: async (at: number) =>
        await service(`gateway-${at}`, { mode: "gateway", url: gateway[at] }),
      node: async (at: number) =>
        await service(`node-${at}`, {
          mode: "node",
          segments: ["shop"],
          cache: `./cache-${at}`,
          ...behind,
        }),
    };
    const running = {
      gateway: [await start.gateway(0), await start.gateway(1)],
      node: [await start.node(0), await start.node(1)],
    };
    const proxy = await service("proxy", { mode: "proxy", ...behind });
    await page.goto(proxy.url);
    await goesOn(page);
    for (const { name, of, signal } of faults)
      // Both in turn: one of them has the stream.
      for (const at of [0, 1]) {
        const before = await seenBy(page);
        try {
          await running[of][at]!.command.ended(signal);
          await goesOn(page);
          running[of][at] = await start[of](at);
          await goesOn(page);
        } finally {
          const { lost, doubled, error } = await seenBy(page);
          const cost = { lost: lost - before.lost, doubled: doubled - before.doubled, error };
          test.info().annotations.push({ type: name, description: JSON.stringify(cost) });
        }
      }
    const { lost, doubled, error } = await seenBy(page);
    expect([lost, error]).toEqual([0, ""]);
    // Around a cut an item may come twice.
    expect(doubled).toBeLessThan(faults.length * 2 * 50);
  } finally {
    for (const { command } of started) await command.ended("SIGKILL");
  }
});
