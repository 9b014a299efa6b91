import { setTimeout } from "node:timers/promises";

import { describe, expect, it, onTestFinished } from "vitest";

import { nodeHost } from "../../server/http/host.ts";
import { listen } from "../../server/http/http.ts";
import type { Host } from "../../src/base/ports.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import { createProxy } from "../../src/roles/proxy.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { TestLog, testModules, type TestProcedure } from "../_cluster.ts";
import { key } from "../_deployment.ts";
import { linkHost, takingLinks } from "../_linking.ts";
import { body, call } from "./_shop.ts";

interface Signals {
  /** Each resolves when its procedure has begun, with the signal. */
  readonly outer: Promise<AbortSignal>;
  readonly inner: Promise<AbortSignal>;
}

/**
 * proxy → gateway → node of `outer`, which calls `inner` on another node, which never ends.
 * `time` bounds a call in ms.
 */
async function deployment(
  time: number,
  waiting: (signal: AbortSignal) => Promise<unknown> = () => new Promise(() => {}),
): Promise<Signals & { readonly proxy: string; readonly log: TestLog }> {
  const log = new TestLog();
  const begun: Record<string, (signal: AbortSignal) => void> = {};
  const begins = (name: string): Promise<AbortSignal> =>
    new Promise((resolve) => (begun[name] = resolve));
  const [outer, inner] = [begins("outer"), begins("inner")];
  const procedures: TestProcedure[] = [
    {
      fqn: "outer",
      in: { one: "public" },
      body: body("outer", async (context, graph) => {
        begun["outer"]?.(context.signal);
        return await call(graph, "inner", []);
      }),
    },
    {
      fqn: "inner",
      in: { two: "public" },
      body: body("inner", async (context) => {
        begun["inner"]?.(context.signal);
        return await waiting(context.signal);
      }),
    },
  ];
  const common = { trustKey: key, limits: { ...defaultLimits, callTimeoutMs: time } };
  const start = async (create: (host: Host) => Role): Promise<string> => {
    const host = nodeHost({ log, links: linkHost() });
    const role = create(host);
    const server = await listen((request) => role.handle(request), {
      host: "127.0.0.1",
      port: 0,
      ...takingLinks(role),
    });
    await role.start(server.url);
    onTestFinished(async () => {
      await role.stop();
      await server.close(0);
    });
    return server.url;
  };
  const gateway = await start((host) =>
    createGateway(host, {
      ...common,
      healthIntervalMs: 60_000,
      newId: () => crypto.randomUUID(),
    }),
  );
  for (const segment of ["one", "two"])
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
  return { proxy, outer, inner, log };
}

/** How a procedure may end when its caller disconnects. */
const endings: Readonly<Record<string, (signal: AbortSignal) => Promise<unknown>>> = {
  "with the signal's reason": async (signal) => {
    await aborted(signal);
    signal.throwIfAborted();
  },
  "with an AbortError of the platform": async (signal) =>
    await setTimeout(60_000, undefined, { signal }),
};

const aborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) =>
    signal.aborted
      ? resolve(signal.reason)
      : signal.addEventListener("abort", () => resolve(signal.reason)),
  );

describe("the signal of a context, over sockets", () => {
  it.each(Object.entries(endings))(
    "a call that ends because its caller disconnected, %s, is not logged as an error (context-2)",
    async (_, ending) => {
      const { proxy, outer, inner, log } = await deployment(30_000, ending);
      const caller = new AbortController();
      const pending = fetch(`${proxy}/rpc/outer`, { signal: caller.signal }).catch(() => undefined);
      const signals = [await outer, await inner];
      caller.abort();
      await pending;
      for (const signal of signals) await aborted(signal);
      // Any service in between would answer a closed connection.
      await setTimeout(100);
      const problems = log.lines.filter((line) => /^(error|warning)/.test(line));
      // The proxy's repository isn't there.
      expect(problems.filter((line) => !line.includes("http://127.0.0.1:9 "))).toEqual([]);
    },
  );

  it("an error after the caller disconnected is still logged (context-2)", async () => {
    const { proxy, inner, log } = await deployment(30_000, async (signal) => {
      await aborted(signal);
      throw new Error("broken");
    });
    const caller = new AbortController();
    const pending = fetch(`${proxy}/rpc/outer`, { signal: caller.signal }).catch(() => undefined);
    const signal = await inner;
    caller.abort();
    await pending;
    await aborted(signal);
    await expect
      .poll(() => log.lines.filter((line) => line.startsWith("error")))
      .toEqual(["error: POST /rpc/inner failed (broken)"]);
  });

  it("context-2: the signal of a context aborts when the caller disconnects, on every node of the call", async () => {
    const { proxy, outer, inner } = await deployment(30_000);
    const caller = new AbortController();
    const pending = fetch(`${proxy}/rpc/outer`, { signal: caller.signal }).catch(
      (error: unknown) => (error as Error).name,
    );
    const signals = [await outer, await inner];
    expect(signals.map((signal) => signal.aborted)).toEqual([false, false]);
    caller.abort();
    expect(await pending).toBe("AbortError");
    const reasons = await Promise.all(signals.map(aborted));
    expect(reasons).toEqual([expect.any(Error), expect.any(Error)]);
  });

  it("the signal aborts on every node of a call when its deadline passes, and the caller gets a 504 (context-3)", async () => {
    const { proxy, outer, inner } = await deployment(300);
    const answer = await fetch(`${proxy}/rpc/outer`);
    expect([answer.status, answer.headers.get("x-svc-error")]).toEqual([504, "DeadlineExceeded"]);
    await Promise.all([outer, inner].map(async (signal) => await aborted(await signal)));
  });
});
