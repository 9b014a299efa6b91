// Bytes that calls within a process allocate, which no other work on the machine changes. A change that
// lowers them lowers the limits here; Node 24 allocates up to a third more than Node 20.

import { expect, it, onTestFinished, vi } from "vitest";

import { createCarrier } from "../../server/host/carrier.ts";
import { nodeClock } from "../../server/host/clock.ts";
import * as forwarded from "../../src/http/forwarded.ts";
import type { Manifest, ProcedureRecord } from "../../src/base/manifest.ts";
import { createLocalNode } from "../../src/runtime/dispatch.ts";
import { createGraph } from "../../src/runtime/seam.ts";

const record = (name: string): ProcedureRecord => ({
  fqn: name,
  version: "0.0.0",
  module: "sums",
  export: name,
  parameters: [
    { kind: "plain", name: "a" },
    { kind: "plain", name: "b" },
  ],
});

/** The header that the procedure with `this` reads. */
let headerToRead: string | undefined;

async function ways(): Promise<Record<string, () => Promise<unknown>>> {
  const graph = createGraph();
  const body = {
    add: async (a: number, b: number): Promise<number> => a + b,
    async addHere(this: unknown, a: number, b: number): Promise<number> {
      const { hops, headers } = graph.context(this, "[addHere | v0.0.0]");
      return (
        (headerToRead === undefined ? 0 : Number(headers.get(headerToRead) ?? 0)) + hops + a + b
      );
    },
  };
  const loader = { import: async () => body };
  const node = createLocalNode({ loader, carrier: createCarrier(), clock: nodeClock } as never);
  graph.bind(node);
  const manifest = {
    procedures: { add: record("add"), addHere: record("addHere") },
    modules: { sums: { body: "sums.js" } },
    segments: {
      sums: ["add", "addHere"].map((procedure) => ({ procedure, access: "public" })),
    },
  };
  await node.load(manifest as unknown as Manifest, ["sums"]);
  const add = graph.seam(record("add"));
  const addHere = graph.seam(record("addHere"));
  const face = function (this: unknown, ...args: never[]): Promise<unknown> {
    return add.run.apply(this, args);
  };
  const limited = graph.withOptions(face, { timeoutMs: 60_000 });
  return {
    seam: () => add.run(1 as never, 2 as never),
    "procedure with this": () => addHere.run(1 as never, 2 as never),
    "call by name": () => graph.runProcedure("add", "", { a: 1, b: 2 }),
    "call with options": () => limited(1 as never, 2 as never),
  };
}

/**
 * Bytes that a warm call allocates. A round with a collection in it says nothing, and on a busy machine the compiler that
 * runs beside takes a while, so the least of many counts.
 */
async function bytesOf(call: () => Promise<unknown>): Promise<number> {
  const times = 100;
  for (let at = 0; at < 2_000; at++) await call();
  let least = Infinity;
  for (let round = 0; round < 300; round++) {
    const before = process.memoryUsage().heapUsed;
    for (let at = 0; at < times; at++) await call();
    const bytes = (process.memoryUsage().heapUsed - before) / times;
    if (bytes > 0) least = Math.min(least, bytes);
  }
  return least;
}

it.each([
  ["seam", 200],
  ["procedure with this", 700],
  ["call by name", 4_500],
  ["call with options", 8_500],
])("a %s allocates at most %d bytes besides those of the function itself", async (name, most) => {
  const calls = await ways();
  const plain = async (): Promise<number> => 3;
  const own = (await bytesOf(calls[name]!)) - (await bytesOf(plain));
  expect(own).toBeLessThanOrEqual(most);
});

it("a call that stays in its process makes no signal, and looks at no headers, that nobody reads", async () => {
  const forwardedHeaders = vi.spyOn(forwarded, "forwardedHeaders");
  const controllers = vi.spyOn(globalThis, "AbortController");
  onTestFinished(() => void vi.restoreAllMocks());
  for (const call of Object.values(await ways())) expect(await call()).toBe(3);
  expect(controllers).not.toHaveBeenCalled();
  expect(forwardedHeaders).not.toHaveBeenCalled();
  headerToRead = "x-count";
  onTestFinished(() => void (headerToRead = undefined));
  expect(await (await ways())["procedure with this"]?.()).toBe(3);
  expect(forwardedHeaders).toHaveBeenCalled();
});
