// Hundreds of calls to one slow procedure, over real sockets, must not affect other requests.

import { Agent, request } from "node:http";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { nodeHost } from "../../../server/http/host.ts";
import { listen } from "../../../server/http/http.ts";
import { createLinkHost } from "../../../server/http/links/dial.ts";
import type { Host } from "../../../src/base/ports.ts";
import { createGateway } from "../../../src/roles/gateway.ts";
import { createNode } from "../../../src/roles/node.ts";
import { createProxy } from "../../../src/roles/proxy.ts";
import type { Role } from "../../../src/roles/pipeline/role.ts";
import { defaultLimits } from "../../../src/base/limits.ts";
import { TestLog, testModules, type TestProcedure } from "../../_cluster.ts";
import { body, call } from "../../spec/_shop.ts";

const trustKey = "the-trust-key-of-many-calls";
const closing: (() => Promise<void>)[] = [];
const log = new TestLog();
let held = 0;
let release = (): void => {};

beforeEach(() => {
  held = 0;
  const released = new Promise<void>((resolve) => (release = resolve));
  wait = async () => {
    held++;
    await released;
    return "slow";
  };
});
let wait: () => Promise<string>;

afterEach(async () => {
  release();
  for (const close of closing.splice(0).toReversed()) await close();
});

const procedures: TestProcedure[] = [
  { fqn: "shop/slow", in: { all: "public" }, body: body("shop/slow", () => wait()) },
  { fqn: "shop/quick", in: { all: "public" }, body: body("shop/quick", () => "quick") },
  { fqn: "shop/other", in: { other: "public" }, body: body("shop/other", () => "other") },
  {
    fqn: "shop/fanOut",
    in: { other: "public" },
    body: body("shop/fanOut", async (_, graph) => {
      const all = await Promise.all(
        Array.from({ length: 400 }, () => call(graph, "shop/slow", [])),
      );
      return all.length;
    }),
  },
];

/** Method and target of each answered control request. */
const answered: string[] = [];

async function start(create: (host: Host) => Role): Promise<string> {
  const around = (handle: Role["handle"]): Role["handle"] => {
    return async (request) => {
      const answer = await handle(request);
      answered.push(`${request.method} ${request.target}`);
      return answer;
    };
  };
  const host: Host = { ...nodeHost({ log }), links: { ...createLinkHost(), around } };
  const role = create(host);
  const own = { host: "127.0.0.1", port: 0 };
  const server = await listen(role.handle, { ...own, acceptLink: role.accept });
  await role.start(server.url);
  closing.push(async () => {
    await role.stop();
    await server.close(0);
  });
  return server.url;
}

/** proxy → gateway → a node with the slow and the quick procedure, and a node with `other`. */
async function deployment(): Promise<{ proxy: string; gateway: string }> {
  log.lines.length = 0;
  const common = { trustKey, limits: defaultLimits };
  let ids = 0;
  const gateway = await start((host) =>
    createGateway(host, { ...common, healthIntervalMs: 200, newId: () => `m${++ids}` }),
  );
  for (const segment of ["all", "other"])
    await start((host) =>
      createNode(host, {
        ...common,
        gateway,
        modules: testModules(procedures),
        segments: [segment],
        name: segment,
      }),
    );
  const proxy = await start((host) =>
    createProxy(host, { ...common, calls: gateway, repository: "http://127.0.0.1:9" }),
  );
  return { proxy, gateway };
}

const agent = new Agent({ keepAlive: true, maxSockets: Infinity });

function get(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(
      url,
      { agent },
      (answer) => void answer.resume().once("end", () => resolve(answer.statusCode)),
    )
      .once("error", reject)
      .end();
  });
}

// No test measures time, since the machine may be busy. Slow calls are held until the rest is done.
const failAfter = { timeout: 40_000 };

/** Waits until a control request has been answered `times` more times. */
async function untilAnswered(what: RegExp, times: number): Promise<void> {
  answered.length = 0;
  await vi.waitFor(
    () =>
      expect(answered.filter((request) => what.test(request)).length).toBeGreaterThanOrEqual(times),
    failAfter,
  );
}

describe("hundreds of calls to one slow procedure", { timeout: 120_000 }, () => {
  it.each(["gateway", "proxy"] as const)(
    "through the %s run concurrently, block no other calls and leave no node marked unhealthy",
    async (role) => {
      const urls = await deployment();
      const base = urls[role];
      const slow = Array.from({ length: 400 }, () => get(`${base}/rpc/shop/slow`));
      await vi.waitFor(() => expect(held).toBe(400), failAfter);
      // A few health checks of both nodes.
      await untilAnswered(/^GET \/health\/status$/, 6);
      for (let calls = 0; calls < 5; calls++)
        expect(
          await Promise.all(["quick", "other"].map((name) => get(`${base}/rpc/shop/${name}`))),
        ).toEqual([200, 200]);
      release();
      expect(new Set(await Promise.all(slow))).toEqual(new Set([200]));
      expect(log.lines.filter((line) => /unhealthy|reached|lost/.test(line))).toEqual([]);
    },
  );
});

describe("hundreds of calls that one procedure makes at once", { timeout: 120_000 }, () => {
  it("don't prevent its node from saying how it is, and from staying a member", async () => {
    const { gateway } = await deployment();
    const joins = (): number =>
      log.lines.filter((line) => line.startsWith("joined the gateway")).length;
    const fanOut = get(`${gateway}/rpc/shop/fanOut`);
    await vi.waitFor(() => expect(held).toBe(400), failAfter);
    // Both nodes, at least once.
    await untilAnswered(/^GET \/health\/status$/, 3);
    release();
    expect(await fanOut).toBe(200);
    expect(joins()).toBe(2);
  });
});
