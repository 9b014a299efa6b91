import { setTimeout } from "node:timers/promises";

import { describe, expect, it, onTestFinished } from "vitest";

import { nodeHost } from "../../server/host.ts";
import { listen } from "../../server/http.ts";
import type { Host } from "../../src/ports.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import { createProxy } from "../../src/roles/proxy.ts";
import type { Role } from "../../src/roles/role.ts";
import { defaultLimits } from "../../src/serializer/limits.ts";
import { TestLog, testModules, type TestProcedure } from "../_cluster.ts";
import { key } from "../_deployment.ts";
import { body, call } from "./_shop.ts";

interface Signals {
  /** Resolve when the procedure has begun, with its signal. */
  readonly outer: Promise<AbortSignal>;
  readonly inner: Promise<AbortSignal>;
}

/** proxy → gateway → node of `outer`, which calls `inner` on another node, where nothing ever ends. `time` bounds a call in ms. */
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
  const common = { trustKey: key, limits: { ...defaultLimits, time } };
  const start = async (create: (host: Host) => Role): Promise<string> => {
    const host = nodeHost({ log });
    const role = create(host);
    const server = await listen((request) => role.handle(request), { host: "127.0.0.1", port: 0 });
    await role.start(server.url);
    onTestFinished(async () => {
      await server.close(0);
      await host.transport.close();
    });
    return server.url;
  };
  const gateway = await start((host) =>
    createGateway(host, {
      ...common,
      monitor: 60_000,
      lease: 60_000,
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

/** Ways in which what runs for a caller ends when the caller leaves. */
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
    "a call that ends because its caller left, %s, is no error in any log (D5.this-2)",
    async (_, ending) => {
      const { proxy, outer, inner, log } = await deployment(30_000, ending);
      const caller = new AbortController();
      const asked = fetch(`${proxy}/rpc/outer`, { signal: caller.signal }).catch(() => undefined);
      const signals = [await outer, await inner];
      caller.abort();
      await asked;
      for (const signal of signals) await aborted(signal);
      // Each service on the way has its turn to answer nobody.
      await setTimeout(100);
      expect(log.lines.filter((line) => /^(error|warning)/.test(line))).toEqual([]);
    },
  );

  it("a mistake after the caller left still is one (D5.this-2)", async () => {
    const { proxy, inner, log } = await deployment(30_000, async (signal) => {
      await aborted(signal);
      throw new Error("broken");
    });
    const caller = new AbortController();
    const asked = fetch(`${proxy}/rpc/outer`, { signal: caller.signal }).catch(() => undefined);
    const signal = await inner;
    caller.abort();
    await asked;
    await aborted(signal);
    await expect
      .poll(() => log.lines.filter((line) => line.startsWith("error")))
      .toEqual(["error: POST /rpc/inner failed (broken)"]);
  });

  it("D5.this-2 the signal of a context aborts when the caller goes away, on every node of the call", async () => {
    const { proxy, outer, inner } = await deployment(30_000);
    const caller = new AbortController();
    const asked = fetch(`${proxy}/rpc/outer`, { signal: caller.signal }).catch(
      (error: unknown) => (error as Error).name,
    );
    const signals = [await outer, await inner];
    expect(signals.map((signal) => signal.aborted)).toEqual([false, false]);
    caller.abort();
    expect(await asked).toBe("AbortError");
    const reasons = await Promise.all(signals.map(aborted));
    expect(reasons).toEqual([expect.any(Error), expect.any(Error)]);
  });

  it("aborts on every node of a call when its time is over, which the caller is told as 504 (D5.this-3)", async () => {
    const { proxy, outer, inner } = await deployment(300);
    const answer = await fetch(`${proxy}/rpc/outer`);
    expect([answer.status, answer.headers.get("x-svc-error")]).toEqual([504, "DeadlineExceeded"]);
    await Promise.all([outer, inner].map(async (signal) => await aborted(await signal)));
  });
});
