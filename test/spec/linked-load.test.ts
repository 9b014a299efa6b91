// Services that link to each other while callers keep them busy: kills, ways that open late, and releases
// that differ.

import { setTimeout as pause } from "node:timers/promises";

import { describe, expect, it, onTestFinished } from "vitest";

import { defaultLimits } from "../../src/base/limits.ts";
import { ask } from "../../src/roles/memory-network.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import {
  type Behind,
  behindSocket,
  body,
  keepCalling,
  names,
  proxyBetween,
  routeModules,
  type Running,
} from "./_behind-sockets.ts";

const trustKey = "the-trust-key-of-the-load";
const common = { trustKey, limits: defaultLimits };

let members = 0;
const gatewayOf = async ({ gatheringMs = 0, ...behind }: Behind & { gatheringMs?: number } = {}) =>
  await behindSocket(
    (host) =>
      createGateway(host, {
        ...common,
        newId: () => `m${++members}`,
        gatheringMs,
        healthIntervalMs: 1_000,
      }),
    behind,
  );

/** Orders that ran, by id: an order may not run twice. */
type Ledger = Map<string, number>;

function shopOf(ledger: Ledger) {
  return routeModules(
    [
      {
        route: "POST /measure",
        segment: "shop",
        async run(request) {
          let bytes = 0;
          for await (const chunk of request.body ?? []) bytes += chunk.length;
          return new Response(String(bytes));
        },
      },
    ],
    [
      {
        fqn: "shop/order",
        parameters: names("id"),
        in: { shop: "public" },
        body: body("shop/order", async (_context, _graph, id: string) => {
          ledger.set(id, (ledger.get(id) ?? 0) + 1);
          await pause(5);
          return id;
        }),
      },
      {
        fqn: "shop/stock",
        parameters: names("sku"),
        in: { shop: { access: "public", idempotent: true } },
        body: body("shop/stock", async (_context, _graph, sku: string) => {
          await pause(5);
          return sku;
        }),
      },
      {
        fqn: "shop/length",
        parameters: names("text"),
        in: { shop: "public" },
        body: body("shop/length", async (_context, _graph, text: string) => text.length),
      },
    ],
  );
}

const nodeOf = async (
  gateway: string,
  name: string,
  { ledger = new Map(), ...behind }: Behind & { ledger?: Ledger } = {},
) =>
  await behindSocket(
    (host) =>
      createNode(host, {
        ...common,
        gateway,
        modules: shopOf(ledger),
        segments: ["shop"],
        name,
      }),
    behind,
  );

/** `200 a`: the node that answered, or the status and the runtime's error. */
async function post(gateway: Running, path: string, content: object): Promise<string> {
  const json = { "content-type": "application/json" };
  const { status, headers } = await ask(gateway.role, "POST", path, json, JSON.stringify(content));
  return `${status} ${String(headers[status === 200 ? "x-svc-node" : "x-svc-error"])}`;
}

const byOthers = (outcomes: ReadonlyMap<string, number>): readonly string[] =>
  [...outcomes.keys()].filter((outcome) => !outcome.startsWith("200 "));

describe("a gateway under load", () => {
  it("links-20: a member that is killed fails no idempotent call, no call runs twice, and the other members take the rest", async () => {
    const gateway = await gatewayOf();
    const ledger: Ledger = new Map();
    const [first, second] = [
      await nodeOf(gateway.url, "a", { ledger }),
      await nodeOf(gateway.url, "b", { ledger }),
      await nodeOf(gateway.url, "c", { ledger }),
      await nodeOf(gateway.url, "d", { ledger }),
    ];
    const orders = keepCalling(
      8,
      async (number) => await post(gateway, "/rpc/shop/order", { id: `order ${number}` }),
    );
    const stocks = keepCalling(8, async () => await post(gateway, "/rpc/shop/stock", { sku: "a" }));
    await Promise.all([orders.more(100), stocks.more(100)]);
    await first.kill();
    await Promise.all([orders.more(100), stocks.more(100)]);
    await second.kill();
    await Promise.all([orders.more(100), stocks.more(100)]);
    await Promise.all([orders.end(), stocks.end()]);
    expect(byOthers(stocks.outcomes)).toEqual([]);
    expect(byOthers(orders.outcomes).filter((outcome) => outcome !== "502 BadGateway")).toEqual([]);
    // At most those that the killed ones had.
    expect(orders.outcomes.get("502 BadGateway") ?? 0).toBeLessThanOrEqual(8);
    expect([...ledger.values()].filter((runs) => runs > 1)).toEqual([]);
    for (const name of ["c", "d"]) expect(orders.outcomes.get(`200 ${name}`)).toBeGreaterThan(100);
  });
});

describe("a node whose upgrades get lost on their way", () => {
  it("links-21: a node whose upgrades something takes away is no member, and joins once nothing does, without a failed call, and never twice", async () => {
    const gateway = await gatewayOf();
    await nodeOf(gateway.url, "there");
    const between = await proxyBetween(gateway.url);
    const node = await nodeOf(between.url, "late");
    const load = keepCalling(
      8,
      async (number) => await post(gateway, "/rpc/shop/order", { id: `order ${number}` }),
    );
    onTestFinished(() => load.end());
    const counts = new Set<number>();
    const seen = setInterval(() => counts.add(gateway.role.describe().members?.length ?? 0), 1);
    await load.more(100);
    await pause(500);
    expect(node.log.lines.filter((line) => line.includes("can't link to"))).toHaveLength(1);
    expect(counts).toEqual(new Set([1]));
    between.strips = false;
    const lines = (): string => node.log.lines.join("\n");
    await expect.poll(lines, { timeout: 4_000 }).toContain("joined the gateway at");
    await load.more(200);
    clearInterval(seen);
    await load.end();
    expect(counts).toEqual(new Set([1, 2]));
    expect([...load.outcomes.keys()].toSorted()).toEqual(["200 late", "200 there"]);
  });
});

const large = "x".repeat(300_000);
const text = JSON.stringify({ text: large });

/** Sends 300 KB in parts that come one after the other. */
function slowly(): ReadableStream<Uint8Array> {
  let parts = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        await pause(2);
        controller.enqueue(new Uint8Array(50_000));
        if (++parts === 6) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** A short call, one with a large body, or an upload to a route, and its result. */
async function request(url: string, number: number): Promise<string> {
  const post = { method: "POST", headers: { "content-type": "application/json" } };
  const [path, init, expected] = (
    [
      ["/rpc/shop/stock", { ...post, body: '{"sku":"a"}' }, "a"],
      ["/rpc/shop/length", { ...post, body: text }, "300000"],
      ["/rpc/shop/order", { ...post, body: JSON.stringify({ id: `order ${number}` }) }, "order"],
      [
        "/measure",
        {
          method: "POST",
          headers: { "content-type": "application/octet-stream" },
          body: slowly(),
          duplex: "half",
        },
        "300000",
      ],
    ] as const
  )[number % 4]!;
  const answer = await fetch(url + path, init as RequestInit);
  const got = await answer.text();
  if (answer.status === 200) return got.startsWith(expected) ? "200" : `200 with ${got}`;
  return `${answer.status} ${answer.headers.get("x-svc-error")} ${answer.headers.get("retry-after")}`;
}

/** Tries that found no gateway, or one without its nodes: nothing of their calls had begun. */
interface Repeated {
  refused: number;
  unavailable: number;
}

/** As what is in front of a gateway does: while that is away, or has no nodes yet, a call waits. */
async function untilTaken(url: string, number: number, repeated: Repeated): Promise<string> {
  for (;;) {
    const outcome = await request(url, number).catch((error: unknown) => {
      const { cause } = error as { cause?: { syscall?: string } };
      if (cause?.syscall === "connect") return "refused";
      throw cause ?? error;
    });
    if (outcome === "refused") repeated.refused++;
    else if (outcome === "503 NodeNotAvailable 1") repeated.unavailable++;
    else return outcome;
    await pause(20);
  }
}

describe("two releases that speak different versions of the link", () => {
  it.each(["the gateway first", "the nodes first"])(
    "links-22: services of two releases, which speak different versions of the link, follow each other under load: no call fails; none is refused while nodes follow, and those that come while the gateway does are refused with 503 and retry-after, or can't connect: %s",
    async (order) => {
      const [before, after] = [{ versions: [1, 1] }, { versions: [1, 2] }] as const;
      const ledger: Ledger = new Map();
      let gateway = await gatewayOf({ gatheringMs: 3_000, ...before });
      const { url } = gateway;
      const nodes = [
        await nodeOf(url, "a", { ledger, ...before }),
        await nodeOf(url, "b", { ledger, ...before }),
      ];
      const repeated: Repeated = { refused: 0, unavailable: 0 };
      const load = keepCalling(16, async (number) => await untilTaken(url, number, repeated));
      await load.more(100);
      const gatewayFollows = async (): Promise<void> => {
        await gateway.stop();
        const port = Number(new URL(url).port);
        gateway = await gatewayOf({ gatheringMs: 3_000, port, ...after });
        await load.more(100);
        await expect.poll(() => gateway.role.describe().members).toHaveLength(2);
        expect(repeated.refused + repeated.unavailable).toBeGreaterThan(0);
        Object.assign(repeated, { refused: 0, unavailable: 0 });
      };
      if (order === "the gateway first") await gatewayFollows();
      for (const [index, name] of ["a", "b"].entries()) {
        await nodes[index]!.stop();
        nodes[index] = await nodeOf(url, name, { ledger, ...after });
        await load.more(100);
        await expect.poll(() => gateway.role.describe().members).toHaveLength(2);
        expect(repeated).toEqual({ refused: 0, unavailable: 0 });
      }
      if (order === "the nodes first") await gatewayFollows();
      await load.end();
      expect([...load.outcomes.keys()]).toEqual(["200"]);
      expect([...ledger.values()].filter((runs) => runs > 1)).toEqual([]);
    },
  );
});
