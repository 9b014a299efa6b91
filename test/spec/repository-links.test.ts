// Links to a repository: the requests that travel over them, those that don't, and files while it is away.

import { setTimeout as pause } from "node:timers/promises";

import { describe, expect, it, vi } from "vitest";

import { createProxy } from "../../src/roles/proxy.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import { createRepository, type RepositoryFiles } from "../../src/roles/repository.ts";
import { createStandalone } from "../../src/roles/standalone.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { key, testModules } from "../_cluster.ts";
import {
  behindSocket,
  keepCalling,
  routeModules,
  type Running,
  wireTo,
} from "./_behind-sockets.ts";

const common = { trustKey: key, limits: defaultLimits };
const encoder = new TextEncoder();
const megabyte = new Uint8Array(1_048_576).fill(7);

/** The result of a request for a body. */
interface Sent {
  megabytes: number;
  isOver: boolean;
}

function filesOf(sent: Sent[] = []): RepositoryFiles {
  return {
    async publicFile({ target, headers }) {
      if (target === "/a.txt") {
        const fields = { "content-type": "text/plain", etag: '"1"' };
        if (headers["if-none-match"] === '"1"') return { status: 304, headers: fields };
        if (headers["range"] !== "bytes=1-2") return { status: 200, headers: fields, body: "abcd" };
        const range = { ...fields, "content-range": "bytes 1-2/4" };
        return { status: 206, headers: range, body: "bc" };
      }
      if (target !== "/large.bin") return undefined;
      const one: Sent = { megabytes: 0, isOver: false };
      sent.push(one);
      const body = (async function* () {
        try {
          for (; one.megabytes < 100; one.megabytes++) yield megabyte;
        } finally {
          one.isOver = true;
        }
      })();
      const length = String(100 * megabyte.length);
      return { status: 200, headers: { "content-length": length }, body };
    },
    component: async () => undefined,
    serverFile: async (file) => (file === "manifest.json" ? encoder.encode("{}") : undefined),
  };
}

const repositoryAt = (port = 0, sent?: Sent[]): Promise<Running> =>
  behindSocket((host) => createRepository(host, { ...common, files: filesOf(sent) }), { port });
const proxyTo = (repository: string, calls = "http://127.0.0.1:9"): Promise<Running> =>
  behindSocket((host) => createProxy(host, { ...common, calls, repository }));
const gatewayAt = (port = 0): Promise<Running> => {
  let members = 0;
  const newId = (): string => `m${++members}`;
  return behindSocket((host) => createGateway(host, { ...common, newId, gatheringMs: 0 }), {
    port,
  });
};

const statusOf = async (url: string): Promise<number> => {
  const answer = await fetch(url);
  await answer.arrayBuffer();
  return answer.status;
};

describe("files that a proxy fetches", () => {
  it("repository-1: travel over the proxy's link, with ranges, conditions and methods as they came", async () => {
    const repository = await repositoryAt();
    const { url } = await proxyTo(repository.url);
    const ask = async (init: RequestInit = {}, path = "/a.txt") => {
      const answer = await fetch(url + path, init);
      return [answer.status, await answer.text()];
    };
    expect(await ask()).toEqual([200, "abcd"]);
    expect(await ask({ headers: { range: "bytes=1-2" } })).toEqual([206, "bc"]);
    expect(await ask({ headers: { "if-none-match": '"1"' } })).toEqual([304, ""]);
    expect(await ask({ method: "HEAD" })).toEqual([200, ""]);
    expect((await ask({ method: "POST", body: "a" }))[0]).toBe(405);
    expect((await ask({}, "/none.txt"))[0]).toBe(404);
  });

  it("repository-2: stream with back-pressure, and end at the repository when the caller leaves", async () => {
    const sent: Sent[] = [];
    const repository = await repositoryAt(0, sent);
    const { url, memory } = await proxyTo(repository.url);
    const whole = await (await fetch(`${url}/large.bin`)).arrayBuffer();
    expect([whole.byteLength, sent[0]]).toEqual([104_857_600, { megabytes: 100, isOver: true }]);
    const caller = new AbortController();
    const answer = await fetch(`${url}/large.bin`, { signal: caller.signal });
    await answer.body!.getReader().read();
    await pause(300);
    // The bytes that the sockets and the link's window take.
    expect(sent[1]!.megabytes).toBeLessThan(40);
    expect(sent[1]!.isOver).toBe(false);
    caller.abort();
    await vi.waitFor(() => expect(sent[1]!.isOver).toBe(true), 5_000);
    await vi.waitFor(() => expect(memory.bytes).toBe(0), 5_000);
  });

  it("repository-3: the trust key at a proxy opens no manifest and no module, whoever shows it", async () => {
    const repository = await repositoryAt();
    const { url } = await proxyTo(repository.url);
    const headers = { "x-svc-trust-key": key };
    const paths = [
      "/svc/modules/manifest.json",
      "/svc/modules/shop.js",
      "/svc/%6dodules/manifest.json",
    ];
    for (const path of paths) {
      expect((await fetch(url + path, { headers })).status).toBe(404);
      expect((await fetch(url + path, { headers, method: "HEAD" })).status).toBe(404);
    }
    expect((await fetch(repository.url + paths[0]!, { headers })).status).toBe(200);
  });

  it("repository-4: a proxy's node may be a standalone that is its repository, too", async () => {
    const modules = testModules([{ fqn: "one", in: { a: "public" }, body: () => async () => 1 }]);
    const standalone = await behindSocket((host) =>
      createStandalone(host, {
        ...common,
        files: filesOf(),
        modules,
        segments: undefined,
        name: undefined,
      }),
    );
    const to = { calls: standalone.url, repository: standalone.url, behind: "node" } as const;
    const proxy = await behindSocket((host) => createProxy(host, { ...common, ...to }));
    expect(await (await fetch(`${proxy.url}/rpc/one`)).text()).toBe("1");
    expect(await (await fetch(`${proxy.url}/a.txt`)).text()).toBe("abcd");
    const headers = { "x-svc-trust-key": key };
    const manifest = await fetch(`${proxy.url}/svc/modules/manifest.json`, { headers });
    expect(manifest.status).toBe(404);
  });
});

describe("a repository that is away", () => {
  const isReady = async ({ url }: Running): Promise<boolean> =>
    (await fetch(`${url}/health/ready`)).status === 200;

  it("repository-5: killed: files are 503 with retry-after until it is back, the proxy stays ready and calls go on", async () => {
    const repository = await repositoryAt();
    const gateway = await gatewayAt();
    const proxy = await proxyTo(repository.url, gateway.url);
    expect(await statusOf(`${proxy.url}/a.txt`)).toBe(200);
    await repository.kill();
    await vi.waitFor(async () => expect(await statusOf(`${proxy.url}/a.txt`)).toBe(503), 5_000);
    const answer = await fetch(`${proxy.url}/a.txt`);
    expect([answer.headers.get("retry-after"), await answer.text()]).toEqual([
      "1",
      "The repository can't be reached",
    ]);
    expect(await isReady(proxy)).toBe(true);
    // The gateway's own answer.
    expect(await statusOf(`${proxy.url}/rpc/none`)).toBe(404);
    await repositoryAt(Number(new URL(repository.url).port));
    await vi.waitFor(async () => expect(await statusOf(`${proxy.url}/a.txt`)).toBe(200), 8_000);
  });

  it("repository-6: hung or cut off: files that wait fail within 3 s, later ones within a second, and it serves on when it is heard again", async () => {
    const sent: Sent[] = [];
    const repository = await repositoryAt(0, sent);
    const wire = await wireTo(repository.url);
    const proxy = await proxyTo(wire.url);
    expect(await statusOf(`${proxy.url}/a.txt`)).toBe(200);
    wire.isHeld = true;
    const since = performance.now();
    expect(await statusOf(`${proxy.url}/a.txt`)).toBe(502);
    expect(performance.now() - since).toBeLessThan(3_500);
    const later = performance.now();
    expect(await statusOf(`${proxy.url}/a.txt`)).toBe(503);
    expect(performance.now() - later).toBeLessThan(1_500);
    expect(await isReady(proxy)).toBe(true);
    wire.isHeld = false;
    await vi.waitFor(async () => expect(await statusOf(`${proxy.url}/a.txt`)).toBe(200), 12_000);
  }, 30_000);

  it("a proxy that starts meanwhile is ready, and serves files once it is there (repository-5)", async () => {
    const gone = await repositoryAt();
    await gone.kill();
    const proxy = await proxyTo(gone.url);
    expect(await isReady(proxy)).toBe(true);
    expect(await statusOf(`${proxy.url}/a.txt`)).toBe(503);
    await repositoryAt(Number(new URL(gone.url).port));
    await vi.waitFor(async () => expect(await statusOf(`${proxy.url}/a.txt`)).toBe(200), 8_000);
  });

  it("a file that breaks off at the repository breaks off at the caller (repository-5)", async () => {
    const repository = await repositoryAt();
    const proxy = await proxyTo(repository.url);
    const answer = await fetch(`${proxy.url}/large.bin`);
    const reader = answer.body!.getReader();
    await reader.read();
    await repository.kill();
    await expect(
      (async () => {
        while (!(await reader.read()).done);
      })(),
    ).rejects.toThrow();
  });
});

describe("a path that is a route and a file", () => {
  it("repository-9: a gateway that restarts, or is away, turns a route into no file", async () => {
    const run = (): Response => new Response("a route");
    const repository = await repositoryAt();
    let gateway = await gatewayAt();
    const port = Number(new URL(gateway.url).port);
    const nodeAt = (): Promise<Running> =>
      behindSocket((host) =>
        createNode(host, {
          ...common,
          gateway: gateway.url,
          modules: routeModules([{ route: "GET /a.txt", run }]),
          segments: ["site"],
          name: "a",
        }),
      );
    let node = await nodeAt();
    const proxy = await proxyTo(repository.url, gateway.url);
    const load = keepCalling(4, async () => {
      const answer = await fetch(`${proxy.url}/a.txt`);
      return `${answer.status} ${await answer.text()}`;
    });
    const isBack = async (): Promise<void> => {
      load.outcomes.clear();
      await vi.waitFor(() => expect(load.outcomes.get("200 a route")).toBeGreaterThan(100), 8_000);
    };
    const others: string[] = [];
    await isBack();
    for (const end of ["kill", "stop"] as const) {
      load.outcomes.clear();
      await gateway[end]();
      await node.kill();
      await load.more(100);
      gateway = await gatewayAt(port);
      // It has told its list, which is empty.
      await vi.waitFor(() => expect(proxy.role.describe().ways?.[0]?.isLinked).toBe(true), 5_000);
      await load.more(100);
      node = await nodeAt();
      others.push(...[...load.outcomes.keys()].filter((outcome) => outcome !== "200 a route"));
      await isBack();
    }
    await load.end();
    expect(others.length).toBeGreaterThan(0);
    // A kill also cuts an answer that is on its way.
    for (const outcome of others) expect(outcome).toMatch(/^50[23] |^TypeError: terminated$/);
    // Without its node, too.
    await node.kill();
    await vi.waitFor(async () => {
      const answer = await fetch(`${proxy.url}/a.txt`);
      expect(await answer.text()).not.toBe("abcd");
      expect(answer.status).toBe(503);
    }, 5_000);
  }, 40_000);
});

describe("who may be a repository", () => {
  it("repository-7: one with another trust key, and a service that is none, end the start of a proxy with what to set", async () => {
    const other = await behindSocket((host) =>
      createRepository(host, { ...common, trustKey: "another-key", files: filesOf() }),
    );
    await expect(proxyTo(other.url)).rejects.toThrow(
      `${other.url} has another trust key: both must have the same trustKey`,
    );
    const gateway = await gatewayAt();
    await expect(proxyTo(gateway.url)).rejects.toThrow(
      `${gateway.url} is a gateway, not a repository or standalone: set 'repository' to the address of one`,
    );
    const proxy = await proxyTo("http://127.0.0.1:9");
    await expect(proxyTo(proxy.url)).rejects.toThrow(
      `${proxy.url} is a proxy, not a repository or standalone: set 'repository' to the address of one`,
    );
  });
});
