// The trust key of a deployment changes while callers keep it busy: each service is restarted three
// times, with old, [old, new], [new, old] and new.

import { setTimeout as pause } from "node:timers/promises";

import { expect, it } from "vitest";

import { defaultLimits } from "../../src/base/limits.ts";
import type { TrustKey } from "../../src/http/trust.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import { testModules } from "../_cluster.ts";
import { behindSocket, body, keepCalling, names, type Running } from "./_behind-sockets.ts";

const [old, fresh] = ["the-old-key-of-the-load", "the-new-key-of-the-load"];
const rounds: readonly TrustKey[] = [[old, fresh], [fresh, old], fresh];
const limits = defaultLimits;

it("keys-6: under steady load a deployment changes its key in three rounds of restarts: no call fails, none runs twice, and none is refused while nodes restart", async () => {
  const ran = new Map<string, number>();
  const modulesOf = () =>
    testModules([
      {
        fqn: "shop/order",
        parameters: names("id"),
        in: { shop: "public" },
        body: body("shop/order", async (_context, _graph, id: string) => {
          ran.set(id, (ran.get(id) ?? 0) + 1);
          await pause(5);
          return id;
        }),
      },
    ]);
  let members = 0;
  const gatewayOf = async (trustKey: TrustKey, port = 0): Promise<Running> =>
    await behindSocket(
      (host) => createGateway(host, { trustKey, limits, newId: () => `m${++members}` }),
      { port },
    );
  let gateway = await gatewayOf(old);
  const { url } = gateway;
  const nodeOf = async (name: string, trustKey: TrustKey): Promise<Running> =>
    await behindSocket((host) =>
      createNode(host, {
        trustKey,
        limits,
        gateway: url,
        modules: modulesOf(),
        segments: ["shop"],
        name,
      }),
    );
  const nodes = [await nodeOf("a", old), await nodeOf("b", old)];
  /** Tries that found no gateway, or one that nodes still join. */
  let repeated = 0;
  const load = keepCalling(16, async (number) => {
    for (;;) {
      const init = {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ id: `order ${number}` }),
      };
      const answer = await fetch(`${url}/rpc/shop/order`, init).catch((error: unknown) => {
        const { cause } = error as { cause?: { syscall?: string } };
        if (cause?.syscall === "connect") return undefined;
        throw cause ?? error;
      });
      const text = await answer?.text();
      if (answer !== undefined && answer.headers.get("retry-after") === null)
        return answer.status === 200 ? "200" : `${answer.status} ${text}`;
      repeated++;
      await pause(20);
    }
  });
  const joined = async (): Promise<void> => {
    await expect.poll(() => gateway.role.describe().members).toHaveLength(2);
  };
  await load.more(100);
  for (const trustKey of rounds) {
    await gateway.stop();
    gateway = await gatewayOf(trustKey, Number(new URL(url).port));
    await load.more(50);
    await joined();
    repeated = 0;
    for (const [index, name] of ["a", "b"].entries()) {
      await nodes[index]!.stop();
      nodes[index] = await nodeOf(name, trustKey);
      await load.more(50);
      await joined();
    }
    expect(repeated).toBe(0);
  }
  await load.end();
  expect([...load.outcomes.keys()]).toEqual(["200"]);
  expect([...ran.values()].filter((runs) => runs > 1)).toEqual([]);
  const lines = [gateway, ...nodes].flatMap(({ log }) => log.lines).join("\n");
  expect(lines).not.toMatch(/refuses|the-(?:old|new)-key/);
});
