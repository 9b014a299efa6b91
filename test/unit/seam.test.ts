import { describe, expect, it } from "vitest";

import { createGraph, type Seam, type SeamHost } from "../../src/runtime/seam.ts";

const record = { fqn: "shop/quote", version: "1.0.0", parameters: [] };

/** A node that answers with its name. */
function node(name: string) {
  const attached: string[] = [];
  const host: SeamHost = {
    attach(seam) {
      attached.push(`${seam.fqn}@${seam.version}`);
      seam.run = async function (this: unknown, ...args) {
        return [name, this, ...args];
      };
    },
    runProcedure: async (...call) => [name, ...call],
    callWith: async (...call) => [name, ...call],
    contextFor: (self, line) => ({ self, line }) as never,
  };
  return { host, attached };
}

const call = (seam: Seam, self: unknown, ...args: unknown[]) =>
  seam.run.apply(self, args as never[]);

describe("a graph of modules", () => {
  it("The same procedure version gives the same seam, another version another one", () => {
    const graph = createGraph();
    expect(graph.seam({ ...record })).toBe(graph.seam(record));
    expect(graph.seam({ ...record, version: "2.0.0" })).not.toBe(graph.seam(record));
    expect(graph.seam(record)).toMatchObject(record);
  });

  it("A call before the start is refused with what to do, and works once a node is bound", async () => {
    const graph = createGraph();
    const seam = graph.seam(record);
    const message = /^Seamline isn't started: first call startClient\(…\) in a page/;
    await expect(call(seam, undefined)).rejects.toThrow(message);
    await expect(graph.runProcedure("shop/quote")).rejects.toThrow(message);
    expect(() => graph.context(undefined, "")).toThrow(message);
    graph.bind(node("a").host);
    expect(await call(seam, "self", 1, 2)).toEqual(["a", "self", 1, 2]);
  });

  it("A call through what `run` was before the start reaches the node that was bound meanwhile", async () => {
    const graph = createGraph();
    const early = graph.seam(record).run;
    graph.bind(node("a").host);
    expect(await early.apply("self", [1] as never[])).toEqual(["a", "self", 1]);
  });

  it("Binding points each seam that is there, and each one that comes later, once", () => {
    const graph = createGraph();
    const { host, attached } = node("a");
    graph.seam(record);
    graph.bind(host);
    graph.seam({ ...record, fqn: "shop/stock" });
    graph.seam(record);
    expect(attached).toEqual(["shop/quote@1.0.0", "shop/stock@1.0.0"]);
  });

  it("A graph belongs to one node", async () => {
    const graph = createGraph();
    graph.bind(node("a").host);
    expect(() => graph.bind(node("b").host)).toThrow("bound");
    expect(await call(graph.seam(record), 1)).toEqual(["a", 1]);
  });

  it("What modules ask of their node comes to it as it is", async () => {
    const graph = createGraph();
    graph.bind(node("a").host);
    expect(graph.context("self", "line")).toEqual({ self: "self", line: "line" });
    expect(await graph.runProcedure("shop/quote", "1", { sku: 1 }, "context")).toEqual([
      "a",
      "shop/quote",
      "1",
      { sku: 1 },
      "context",
    ]);
  });
});
