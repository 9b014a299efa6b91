// What calls that stay in their process cost in figures that no other work on the machine changes.
// They may only become fewer: whoever makes them fewer lowers the numbers here.

import { createHook } from "node:async_hooks";
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

/** What the procedure with `this` reads. */
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

it.each([
  ["seam", 0],
  ["procedure with this", 0],
  ["call by name", 4],
  ["call with options", 6],
])("a %s makes at most %d promises besides those of the function itself", async (name, most) => {
  const calls = await ways();
  let made = 0;
  const hook = createHook({
    init: (_, type) => {
      if (type === "PROMISE") made++;
    },
  });
  const plain = async (): Promise<number> => 3;
  const count = async (call: () => Promise<unknown>): Promise<number> => {
    await call();
    made = 0;
    for (let at = 0; at < 100; at++) await call();
    return made / 100;
  };
  hook.enable();
  onTestFinished(() => void hook.disable());
  const limit = await count(plain);
  expect((await count(calls[name]!)) - limit).toBeLessThanOrEqual(most);
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
