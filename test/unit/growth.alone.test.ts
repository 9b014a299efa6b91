// The cost of one procedure, of which an application may have a hundred thousand: bytes in the build's
// manifest, and in a node's memory. Neither depends on what else the machine does.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { describe, expect, it } from "vitest";

import type { Parameter, ServerManifest } from "../../src/base/manifest.ts";
import { fromStored, readStored, writeStored } from "../../src/codec/stored-manifest.ts";
import { createLocalNode, type LocalNode } from "../../src/runtime/dispatch.ts";
import { TestClock, testHost, TestNetwork } from "../_cluster.ts";

const count = 20_000;

const number = (name: string): Parameter => ({ kind: "plain", name, type: "number" });

/** Modules of a hundred procedures, all in one segment. */
function manyProcedures(): ServerManifest {
  const procedures = Array.from({ length: count }, (_, at) => ({
    fqn: `parts/add${at}`,
    version: "0.0.0",
    module: `parts/part${Math.floor(at / 100)}`,
    export: `add${at}`,
    parameters: [number("a"), number("b")],
  }));
  const modules = [...new Set(procedures.map(({ module }) => module))];
  return {
    format: 1,
    revision: "r",
    sources: "s",
    outside: {},
    pages: {},
    browserSegments: [],
    graph: "_seam.js",
    classes: [],
    imports: {},
    files: {},
    modules: Object.fromEntries(
      modules.map((module) => [module, { file: `${module}.js`, body: `${module}~body.js` }]),
    ),
    procedures,
    segments: {
      parts: procedures.map((_, procedure) => ({ procedure, access: "public" as const })),
    },
  };
}

describe("a stored manifest", () => {
  const special: ServerManifest = {
    ...manyProcedures(),
    procedures: [
      { fqn: "a", version: "1.2.0", module: "a", export: "a", parameters: [] },
      { fqn: "x/other", version: "0.0.0", module: "y/b", export: "b", parameters: [number("n")] },
      { fqn: "y/c", version: "0.0.0", module: "y/b", export: "c", parameters: [number("n")] },
      { fqn: "y/d", version: "0.0.0", module: "y/b", export: "d", parameters: [], stream: true },
    ],
    segments: {
      empty: [],
      ui: [
        { procedure: 0, access: "public", safe: true, idempotent: true, timeoutMs: 500 },
        { procedure: 2, access: "private" },
      ],
      office: [{ procedure: 2, access: "protected", idempotent: true }],
    },
    singlePage: true,
    routes: {},
  };

  it("is read as it was written: versions, other names, streams, segments without procedures", () => {
    const text = writeStored(special);
    expect(fromStored(JSON.parse(text) as object)).toEqual(special);
    const { procedures } = readStored(JSON.parse(text) as never);
    expect(procedures[1]?.parameters).toBe(procedures[2]?.parameters);
  });

  it("takes at most 30 bytes for a procedure beside its module", () => {
    const { length } = writeStored(manyProcedures());
    expect(length / count).toBeLessThan(30);
  });

  it.each([
    ["no list of procedures", { procedures: {} }, "it lists no procedures"],
    [
      "parameters that it doesn't have",
      { procedures: [{ module: "a", exports: [["b", 7, 0]] }] },
      "the procedure b has no parameters or places",
    ],
    ["a segment that it doesn't have", { segments: [] }, "it lists no segment 'ui'"],
  ])("with %s is refused", (_, change, message) => {
    const stored = { ...(JSON.parse(writeStored(special)) as object), ...change };
    expect(() => fromStored(stored as never)).toThrow(new TypeError(message));
  });
});

it("a node holds at most 550 bytes for a procedure, its entry in the manifest included", async () => {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  const heap = (): number => {
    gc();
    return process.memoryUsage().heapUsed;
  };
  const text = writeStored(manyProcedures());
  const run = async (): Promise<number> => 1;
  const body = new Proxy({}, { get: (_, name) => (name === "then" ? undefined : run) });
  const { carrier, clock } = testHost(new TestNetwork(), new TestClock());
  const before = heap();
  const load = async (): Promise<LocalNode> => {
    const manifest = readStored(JSON.parse(text) as never);
    const loader = { manifest: async () => manifest, import: async () => body };
    const node = createLocalNode({ loader, carrier, clock });
    await node.load(manifest, ["parts"]);
    return node;
  };
  const node = await load();
  expect(node.registry.size).toBe(count);
  const bytes = (heap() - before) / count;
  expect(bytes).toBeLessThan(550);
  // It is still there.
  expect(node.registry.find("parts/add7", "0.0.0")?.access).toBe("public");
});
