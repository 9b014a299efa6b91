// Many large bodies over one link at once.

import { expect, it } from "vitest";

import { defaultLimits } from "../../src/base/limits.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import { behindSocket, body, routeModules } from "./_behind-sockets.ts";

const trustKey = "the-trust-key-of-the-streams";
const common = { trustKey, limits: defaultLimits };
const partBytes = 50_000;
const parts = 20;
const streams = 50;

/** Counts what comes. After the first part it waits until `go`. */
async function counted(source: ReadableStream<Uint8Array>, go?: Promise<void>): Promise<number> {
  let bytes = 0;
  for await (const chunk of source) {
    if (bytes === 0) await go;
    bytes += chunk.length;
  }
  return bytes;
}

function source(): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(partBytes));
      if (++sent === parts) controller.close();
    },
  });
}

it("links-27: 50 uploads and 50 downloads share a link, and readers that wait hold up none of the others, nor a call", async () => {
  let go = (): void => {};
  const slow = new Promise<void>((resolve) => (go = resolve));
  const modules = routeModules(
    [
      {
        route: "POST /up/:speed",
        segment: "all",
        run: async (request) => {
          const isSlow = new URL(request.url).pathname.endsWith("slow");
          return new Response(String(await counted(request.body!, isSlow ? slow : undefined)));
        },
      },
      { route: "GET /down", segment: "all", run: async () => new Response(source()) },
    ],
    [{ fqn: "small", in: { all: "public" }, body: body("small", async () => "small") }],
  );
  const gateway = await behindSocket((host) =>
    createGateway(host, { ...common, newId: () => "m1", gatheringMs: 0 }),
  );
  const node = await behindSocket((host) =>
    createNode(host, {
      ...common,
      gateway: gateway.url,
      modules,
      segments: ["all"],
      name: "a",
    }),
  );
  const up = async (speed: string): Promise<number> => {
    const init = { method: "POST", body: source(), duplex: "half" } as RequestInit;
    const headers = { "content-type": "application/octet-stream" };
    return Number(await (await fetch(`${gateway.url}/up/${speed}`, { ...init, headers })).text());
  };
  const down = async (until?: Promise<void>): Promise<number> =>
    await counted((await fetch(`${gateway.url}/down`)).body!, until);
  const slowOnes = [up("slow"), down(slow), up("slow"), down(slow)];
  let most = 0;
  const seen = setInterval(() => {
    most = Math.max(most, gateway.memory.bytes, node.memory.bytes);
  }, 1);
  const others = Array.from({ length: streams - 2 }, () => [up("fast"), down()]).flat();
  const small = await fetch(`${gateway.url}/rpc/small`);
  expect(await small.text()).toBe("small");
  // They end although four of those that share their link stand still.
  expect(new Set(await Promise.all(others))).toEqual(new Set([parts * partBytes]));
  expect(await Promise.race([...slowOnes, Promise.resolve("waits")])).toBe("waits");
  clearInterval(seen);
  go();
  expect(await Promise.all(slowOnes)).toEqual(slowOnes.map(() => parts * partBytes));
  // A window of each stream, in each of the two places where it may wait.
  expect(most).toBeLessThan(2 * 2 * streams * 256 * 1024);
  await expect.poll(() => [gateway.memory.bytes, node.memory.bytes]).toEqual([0, 0]);
});
