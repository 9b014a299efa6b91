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
async function deployment(time: number): Promise<Signals & { readonly proxy: string }> {
  const begun: Record<string, (signal: AbortSignal) => void> = {};
  const begins = (name: string): Promise<AbortSignal> => new Promise((resolve) => (begun[name] = resolve));
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
        return await new Promise(() => {});
      }),
    },
  ];
  const common = { trustKey: key, limits: { ...defaultLimits, time } };
  const start = async (create: (host: Host) => Role): Promise<string> => {
    const host = nodeHost({ log: new TestLog() });
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
    createGateway(host, { ...common, monitor: 60_000, lease: 60_000, newId: () => crypto.randomUUID() }),
  );
  for (const segment of ["one", "two"])
    await start((host) => createNode(host, { ...common, gateway, modules: testModules(procedures), segments: [segment], name: segment }));
  const proxy = await start((host) => createProxy(host, { ...common, calls: gateway, repository: "http://127.0.0.1:9" }));
  return { proxy, outer, inner };
}

const aborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => (signal.aborted ? resolve(signal.reason) : signal.addEventListener("abort", () => resolve(signal.reason))));

describe("the signal of a context, over sockets", () => {
  it("D5.this-2 the signal of a context aborts when the caller goes away, on every node of the call", async () => {
    const { proxy, outer, inner } = await deployment(30_000);
    const caller = new AbortController();
    const asked = fetch(`${proxy}/rpc/outer`, { signal: caller.signal }).catch((error: unknown) => (error as Error).name);
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
