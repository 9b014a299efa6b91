import { describe, expect, it } from "vitest";

import { emptyContext } from "../../src/base/context.ts";
import { createLocalNode } from "../../src/runtime/dispatch.ts";
import type { ObservedCall, Remote, SendCall } from "../../src/types/outgoing-call.ts";
import type { Manifest } from "../../src/base/manifest.ts";
import type { ProcedureFunction } from "../../src/runtime/procedure-function.ts";
import { createGraph, type Graph } from "../../src/runtime/seam.ts";
import { createCarrier } from "../../server/host/carrier.ts";
import { TestClock } from "../_cluster.ts";

const carrier = createCarrier();

/** A manifest with one procedure in each of the modules, all in segment `here`. */
function manifestOf(...names: string[]): Manifest {
  return {
    format: 1,
    revision: "1",
    procedures: names.map((name) => ({
      fqn: name,
      version: "0.0.0",
      module: name,
      export: "run",
      parameters: [],
    })),
    segments: { here: names.map((_, procedure) => ({ procedure, access: "public" as const })) },
    classes: [],
    modules: Object.fromEntries(
      names.map((name) => [name, { file: `${name}.js`, body: `${name}~body.js` }]),
    ),
    files: {},
  };
}

function seamOf(graph: Graph, fqn: string): (...args: unknown[]) => Promise<unknown> {
  const seam = graph.seam({
    fqn,
    version: "0.0.0",
    parameters: [{ kind: "plain", name: "value" }],
  });
  return (...args) => seam.run.apply(undefined, args as never[]);
}

/** Other nodes that have no streams. */
function remoteOf(call: SendCall): Remote {
  return {
    call,
    stream() {
      throw new Error("no streams here");
    },
  };
}

function deferred<T>(): { promise: Promise<T>; resolve(value: T): void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((done) => (resolve = done));
  return { promise, resolve };
}

describe("a seam", () => {
  it("called before its node was started rejects at once and says so", async () => {
    await expect(seamOf(createGraph(), "a")()).rejects.toThrow("Seamline isn't started");
  });

  it("called while the manifest is on its way waits for it, then runs here or there", async () => {
    const graph = createGraph();
    const remote = async ({ fqn }: { fqn: string }) => ({ value: `remote ${fqn}` });
    const node = createLocalNode({
      loader: {
        manifest: () => manifest.promise,
        import: async () => ({ run: async () => "local" }),
      },
      carrier,
      clock: new TestClock(),
      remote: remoteOf(remote),
    });
    const manifest = deferred<Manifest>();
    graph.bind(node);
    const loading = node.load(manifest.promise, ["here"]);
    const calls = [seamOf(graph, "a")(), seamOf(graph, "elsewhere")()];
    manifest.resolve(manifestOf("a"));
    await loading;
    expect(await Promise.all(calls)).toEqual(["local", "remote elsewhere"]);
  });

  it("to a body that is still loading waits for that body only", async () => {
    const graph = createGraph();
    const bodies = {
      "slow~body.js": deferred<{ run: ProcedureFunction }>(),
      "quick~body.js": deferred<{ run: ProcedureFunction }>(),
    };
    const node = createLocalNode({
      loader: {
        manifest: async () => manifestOf(),
        import: (file) => bodies[file as keyof typeof bodies].promise,
      },
      carrier,
      clock: new TestClock(),
      remote: remoteOf(async () => ({ value: "remote" })),
    });
    graph.bind(node);
    const loading = node.load(manifestOf("slow", "quick"), ["here"]);
    const slow = seamOf(graph, "slow")();
    bodies["quick~body.js"].resolve({ run: async () => "quick" });
    expect(await seamOf(graph, "quick")()).toBe("quick");
    expect(await seamOf(graph, "elsewhere")()).toBe("remote");
    bodies["slow~body.js"].resolve({ run: async () => "slow" });
    expect(await slow).toBe("slow");
    await loading;
  });

  it("rejects with the reason when what it waits for can't be loaded", async () => {
    const graph = createGraph();
    const node = createLocalNode({
      loader: {
        manifest: async () => manifestOf(),
        import: async () => Promise.reject(new Error("broken body")),
      },
      carrier,
      clock: new TestClock(),
    });
    graph.bind(node);
    const loading = node.load(manifestOf("a"), ["here"]);
    await expect(loading).rejects.toThrow("broken body");
    await expect(seamOf(graph, "a")()).rejects.toThrow("broken body");
  });

  it("in a body whose top level awaits itself is an error that names both", async () => {
    const graph = createGraph();
    const node = createLocalNode({
      loader: {
        manifest: async () => manifestOf(),
        // Two bodies, each of which calls the other's procedure while it loads.
        import: async (file) => {
          await seamOf(graph, file === "a~body.js" ? "b" : "a")();
          return { run: async () => file };
        },
      },
      carrier,
      clock: new TestClock(),
    });
    graph.bind(node);
    await expect(node.load(manifestOf("a", "b"), ["here"])).rejects.toThrow(
      /top level of (a|b)~body\.js waits for (a|b)@0\.0\.0 in (a|b)~body\.js/,
    );
  });
});

describe("load", () => {
  it("refuses a segment that isn't there, with the nearest one", async () => {
    const node = createLocalNode({
      loader: { manifest: async () => manifestOf(), import: async () => ({}) },
      carrier,
      clock: new TestClock(),
    });
    await expect(node.load(manifestOf("a"), ["her"])).rejects.toThrow(
      "Segment 'her' not found; did you mean 'here'?",
    );
    await expect(node.load(manifestOf("a"), ["constructor"])).rejects.toMatchObject({
      name: "SegmentNotFound",
    });
  });

  it("says what to do when a body lacks its export", async () => {
    const node = createLocalNode({
      loader: { manifest: async () => manifestOf(), import: async () => ({}) },
      carrier,
      clock: new TestClock(),
    });
    await expect(node.load(manifestOf("a"), ["here"])).rejects.toThrow(
      "a~body.js has no function 'run': build again",
    );
  });
});

describe("observe", () => {
  it("reports every call through a seam, here and away, and nothing after it ended", async () => {
    const graph = createGraph();
    const clock = new TestClock();
    const node = createLocalNode({
      loader: {
        manifest: async () => manifestOf(),
        import: async () => ({ run: () => clock.pass(3) }),
      },
      carrier,
      clock,
      remote: remoteOf(async ({ fqn }) => {
        await clock.pass(7);
        if (fqn === "broken") throw new Error("remote failure");
        return { value: 1, node: "node a" };
      }),
    });
    graph.bind(node);
    await node.load(manifestOf("a"), ["here"]);
    const seen: ObservedCall[] = [];
    const [here, away, broken] = [
      seamOf(graph, "a"),
      seamOf(graph, "elsewhere"),
      seamOf(graph, "broken"),
    ];
    const end = node.observe((call) => seen.push(call));
    await here();
    await away();
    await broken().catch(() => {});
    end();
    await here();
    expect(seen).toMatchObject([
      { fqn: "a", where: "local", ms: 3 },
      { fqn: "elsewhere", where: "remote", node: "node a", ms: 7 },
      { fqn: "broken", where: "remote", ms: 7, error: { message: "remote failure" } },
    ]);
  });
});

describe("runProcedure", () => {
  it("takes headers from anything that has them, with lower-case names", async () => {
    let seen: unknown;
    const node = createLocalNode({
      loader: { manifest: async () => manifestOf(), import: async () => ({}) },
      carrier,
      clock: new TestClock(),
      remote: remoteOf(async ({ context }) => ({
        value: (seen = context.headers.get("authorization")),
      })),
    });
    await node.load(manifestOf(), ["here"]);
    await node.runProcedure("x", "", {}, { headers: { Authorization: "Bearer 1" } });
    expect(seen).toBe("Bearer 1");
    await node.runProcedure("x", "", {}, { headers: new Headers({ Authorization: "Bearer 2" }) });
    expect(seen).toBe("Bearer 2");
    await node.runProcedure("x", "", {}, emptyContext());
    expect(seen).toBeUndefined();
  });

  it("is ProcedureNotFound where nothing is away", async () => {
    const node = createLocalNode({
      loader: { manifest: async () => manifestOf(), import: async () => ({}) },
      carrier,
      clock: new TestClock(),
    });
    await node.load(manifestOf(), ["here"]);
    await expect(node.runProcedure("x")).rejects.toMatchObject({ name: "ProcedureNotFound" });
  });
});

describe("a procedure's context", () => {
  it("is inherited by the calls made inside, where the platform carries it", async () => {
    const graph = createGraph();
    const seen: unknown[] = [];
    const node = createLocalNode({
      loader: {
        manifest: async () => manifestOf(),
        import: async () => ({
          run: async function (this: unknown) {
            await new Promise((resolve) => setImmediate(resolve));
            seen.push(graph.context(undefined, "[a | v0.0.0]").headers.get("authorization"));
            await seamOf(graph, "elsewhere")();
          },
        }),
      },
      carrier,
      clock: new TestClock(),
      remote: remoteOf(async ({ context }) => ({
        value: seen.push(context.headers.get("authorization"), context.trace),
      })),
    });
    graph.bind(node);
    await node.load(manifestOf("a"), ["here"]);
    await node.runProcedure("a", "", {}, { headers: new Map([["authorization", "me"]]) });
    expect(seen).toEqual(["me", "me", ["[a | v0.0.0]"]]);
  });
});
