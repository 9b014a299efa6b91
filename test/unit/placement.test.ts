import { afterEach, describe, expect, it, vi } from "vitest";

import { NodeNotAvailable, SegmentNotFound } from "../../src/base/errors.ts";
import type { Manifest } from "../../src/base/manifest.ts";
import {
  bodiesOf,
  createPlacement,
  type Placement,
  type PlacementParts,
} from "../../src/runtime/placement.ts";
import type { ObservedCall } from "../../src/types/outgoing-call.ts";
import type { Clock } from "../../src/base/ports.ts";
import type { Seam } from "../../src/runtime/seam.ts";

afterEach(() => void vi.unstubAllGlobals());

const record = (name: string, module = name) => ({
  fqn: `shop/${name}`,
  version: "1.0.0",
  module: `shop/${module}`,
  export: name,
  parameters: [],
});

// `quote` and `order` share a module; so their body comes for both at once.
const manifest: Manifest = {
  format: 1,
  revision: "first",
  procedures: [record("quote"), record("order", "quote"), record("stock")],
  segments: {
    shop: [
      { procedure: 0, access: "public" },
      { procedure: 1, access: "private" },
    ],
    store: [{ procedure: 2, access: "public" }],
    both: [
      { procedure: 0, access: "public" },
      { procedure: 2, access: "public" },
    ],
    broken: [{ procedure: 7, access: "public" }],
  },
  classes: [],
  modules: {
    "shop/quote": { file: "quote.js", body: "quote~body.js" },
    "shop/stock": { file: "stock.js", body: "stock~body.js" },
  },
  files: {},
};

interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
}

function defer<T>(): Deferred<T> {
  let settle: Omit<Deferred<T>, "promise"> | undefined;
  const promise = new Promise<T>((resolve, reject) => (settle = { resolve, reject }));
  // A test decides when it looks at the rejection.
  promise.catch(() => undefined);
  return { promise, ...(settle as unknown as Omit<Deferred<T>, "promise">) };
}

/** A node in memory: each body is one more promise, calls that leave say so. */
function setUp(parts: Partial<PlacementParts> = {}) {
  const bodies = new Map<string, Deferred<Record<string, unknown>>>();
  const bodyOf = (file: string): Deferred<Record<string, unknown>> => {
    const body = bodies.get(file) ?? defer();
    bodies.set(file, body);
    return body;
  };
  let now = 0;
  const placement = createPlacement({
    loader: { import: (file: string) => bodyOf(file).promise },
    clock: { now: () => now } as Clock,
    away: (seam) => async () => `${seam.fqn} away`,
    ...parts,
  });
  return {
    placement,
    bodyOf,
    /** Lets time pass. */
    pass: (ms: number) => void (now += ms),
    load: (...segments: string[]) => placement.load(Promise.resolve(manifest), segments),
    arrive(...names: string[]) {
      for (const name of names)
        bodyOf(`${name}~body.js`).resolve({
          quote: async () => "quote here",
          order: async () => "order here",
          stock: async () => "stock here",
        });
    },
  };
}

function seamOf(placement: Placement, name: string, version = "1.0.0"): Seam {
  const seam = { fqn: `shop/${name}`, version, parameters: [], run: undefined as never };
  placement.attach(seam);
  return seam;
}

const call = (seam: Seam, ...args: unknown[]): Promise<unknown> =>
  seam.run.apply(undefined, args as never[]);

/** Whether a promise has settled once everything that is ready has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const settle = (): void => void (settled = true);
  promise.then(settle, settle);
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

describe("a seam before anything is loaded", () => {
  it("A call before the first load rejects with NodeNotAvailable", async () => {
    const { placement } = setUp();
    const seam = seamOf(placement, "quote");
    await expect(call(seam)).rejects.toThrow(new NodeNotAvailable("No segment loaded"));
    await expect(placement.find("shop/quote", "1.0.0")).rejects.toThrow(NodeNotAvailable);
  });

  it("A call made while the manifest is loading waits for it, then runs locally or remotely", async () => {
    const { placement, arrive } = setUp();
    const known = defer<Manifest>();
    const [quote, stock] = [seamOf(placement, "quote"), seamOf(placement, "stock")];
    const loaded = placement.load(known.promise, ["shop"]);
    const calls = [call(quote), call(stock)];
    expect(await isSettled(Promise.race(calls))).toBe(false);
    known.resolve(manifest);
    expect(await calls[1]).toBe("shop/stock away");
    expect(await isSettled(calls[0]!)).toBe(false);
    arrive("quote");
    expect(await calls[0]).toBe("quote here");
    await loaded;
  });

  it("If the manifest can't be loaded, calls reject with its error until a later load succeeds", async () => {
    const { placement, load, arrive } = setUp();
    const seam = seamOf(placement, "quote");
    const reason = new Error("The repository is silent");
    await expect(placement.load(Promise.reject(reason), ["shop"])).rejects.toBe(reason);
    await expect(call(seam)).rejects.toBe(reason);
    arrive("quote");
    await load("shop");
    expect(await call(seam)).toBe("quote here");
  });

  it("A load that fails after one that succeeded leaves everything callable", async () => {
    const { placement, load, arrive } = setUp();
    const [quote, stock] = [seamOf(placement, "quote"), seamOf(placement, "stock")];
    arrive("quote");
    await load("shop");
    await expect(placement.load(Promise.reject(new Error("no")), ["store"])).rejects.toThrow("no");
    expect(await call(quote)).toBe("quote here");
    expect(await call(stock)).toBe("shop/stock away");
    expect(await placement.find("shop/stock", "1.0.0")).toBeUndefined();
  });
});

describe("a seam while bodies load", () => {
  it("A call waits for the body of its own procedure and not for another one", async () => {
    const { placement, load, arrive } = setUp();
    const [quote, stock] = [seamOf(placement, "quote"), seamOf(placement, "stock")];
    const loaded = load("both");
    arrive("stock");
    expect(await call(stock)).toBe("stock here");
    const waiting = call(quote);
    expect(await isSettled(waiting)).toBe(false);
    expect(await isSettled(loaded)).toBe(false);
    arrive("quote");
    expect(await waiting).toBe("quote here");
    await loaded;
  });

  it("Loading resolves once every body has been imported, each only once", async () => {
    const imported: string[] = [];
    const { placement, load } = setUp({
      loader: {
        import: async (file) => {
          imported.push(file);
          return { quote: async () => 1, order: async () => 2, stock: async () => 3 };
        },
      },
    });
    await load("shop", "both");
    expect(imported.toSorted()).toEqual(["quote~body.js", "stock~body.js"]);
    for (const name of ["quote", "order", "stock"])
      expect((await placement.find(`shop/${name}`, "1.0.0"))?.record).toEqual(
        manifest.procedures.find((one) => one.export === name),
      );
  });

  it("find waits until the procedure's body is loaded", async () => {
    const { placement, load, arrive } = setUp();
    const loaded = load("shop");
    const finding = placement.find("shop/quote", "1.0.0");
    expect(await isSettled(Promise.resolve(finding))).toBe(false);
    arrive("quote");
    expect(await (await finding)?.run()).toBe("quote here");
    await loaded;
  });

  it("If a body fails to load, calls to its procedures reject with its error", async () => {
    const { placement, load, bodyOf, arrive } = setUp();
    const [quote, stock] = [seamOf(placement, "quote"), seamOf(placement, "stock")];
    const reason = new Error("no database");
    bodyOf("quote~body.js").reject(reason);
    arrive("stock");
    await expect(load("both")).rejects.toBe(reason);
    await expect(call(quote)).rejects.toBe(reason);
    await expect(placement.find("shop/quote", "1.0.0")).rejects.toBe(reason);
    expect(await call(stock)).toBe("stock here");
  });

  it("A body that lacks the manifest's export is refused with a hint to build again", async () => {
    const { load, bodyOf } = setUp();
    bodyOf("quote~body.js").resolve({ quote: async () => 1, order: 2 });
    await expect(load("shop")).rejects.toThrow(
      new TypeError("quote~body.js has no function 'order': build again"),
    );
  });

  it("A local procedure keeps answering while a second segment loads its module again", async () => {
    let imports = 0;
    const second = defer<Record<string, unknown>>();
    const { placement, load } = setUp({
      loader: {
        import: async () =>
          ++imports === 1 ? { quote: async () => "old", order: async () => 1 } : second.promise,
      },
    });
    const seam = seamOf(placement, "quote");
    await load("shop");
    const again = load("shop");
    await isSettled(again);
    expect(await call(seam)).toBe("old");
    expect(await (await placement.find("shop/quote", "1.0.0"))?.run()).toBe("old");
    second.resolve({ quote: async () => "new", order: async () => 1 });
    await again;
    expect(await call(seam)).toBe("new");
  });

  it("A call that would wait for a loading body is checked for circles first", async () => {
    const checked: string[] = [];
    const { placement, load, arrive } = setUp({
      checkWait: (file, key) => void checked.push(`${file} ${key}`),
    });
    const seam = seamOf(placement, "quote");
    const loaded = load("shop");
    const waiting = call(seam);
    await isSettled(waiting);
    expect(checked).toEqual(["quote~body.js shop/quote@1.0.0"]);
    arrive("quote");
    await Promise.all([waiting, loaded]);
    await call(seam);
    expect(checked).toHaveLength(1);
  });
});

describe("a seam after a load", () => {
  it("A seam of a version that is not local calls another node", async () => {
    const { placement, load, arrive } = setUp();
    arrive("quote");
    await load("shop");
    expect(await call(seamOf(placement, "quote", "2.0.0"))).toBe("shop/quote away");
    expect(await call(seamOf(placement, "quote"))).toBe("quote here");
  });

  it("A call keeps its context and arguments, even if it waits for a body", async () => {
    const { placement, load, bodyOf } = setUp();
    const seam = seamOf(placement, "quote");
    const context = { user: "ada" };
    const loaded = load("shop");
    const waiting = seam.run.apply(context, [1, 2] as never[]);
    bodyOf("quote~body.js").resolve({
      async quote(this: unknown, ...args: unknown[]) {
        return [this, ...args];
      },
      order: async () => 1,
    });
    expect(await waiting).toEqual([context, 1, 2]);
    await loaded;
    expect(await seam.run.apply(context, [3] as never[])).toEqual([context, 3]);
    placement.observe(() => undefined);
    expect(await seam.run.apply(context, [4] as never[])).toEqual([context, 4]);
  });

  it("A seam runs what the node returns for a loaded procedure", async () => {
    const added: string[] = [];
    const { placement, load, arrive } = setUp({
      add(segment, record, entry, run) {
        added.push(`${segment} ${record.fqn} ${entry.access}`);
        return { record, run: async () => ["added", await run()] };
      },
      beside:
        ({ run }) =>
        async () => ["by a seam", await run()],
    });
    const seam = seamOf(placement, "quote");
    arrive("quote", "stock");
    await load("shop");
    expect(added).toEqual(["shop shop/quote public", "shop shop/order private"]);
    expect(await call(seam)).toEqual(["by a seam", ["added", "quote here"]]);
    expect(await (await placement.find("shop/quote", "1.0.0"))?.run()).toEqual([
      "added",
      "quote here",
    ]);
  });

  it("A segment that the manifest doesn't have loads nothing", async () => {
    const { placement, load } = setUp();
    await load("constructor");
    expect(await call(seamOf(placement, "quote"))).toBe("shop/quote away");
  });

  it("A segment whose procedure has no module in the build is refused by name", async () => {
    const { placement, load } = setUp();
    const message = "Segment 'broken' lacks a module: build again";
    await expect(load("broken")).rejects.toThrow(new SegmentNotFound(message));
    await expect(call(seamOf(placement, "quote"))).rejects.toThrow(message);
    const { body: _, ...withoutBody } = manifest.modules["shop/stock"]!;
    expect(() =>
      bodiesOf({ ...manifest, modules: { "shop/stock": withoutBody } }, ["store"]),
    ).toThrow("Segment 'store' lacks a module: build again");
  });
});

describe("a procedure that moves away", () => {
  it("New calls to a moved procedure are remote, and running ones finish", async () => {
    const { placement, load, bodyOf, arrive } = setUp();
    const [quote, order] = [seamOf(placement, "quote"), seamOf(placement, "order")];
    const running = defer<string>();
    bodyOf("quote~body.js").resolve({ quote: () => running.promise, order: async () => "order" });
    arrive("stock");
    await load("shop", "store");
    const before = call(quote);
    placement.drop(["shop/quote@1.0.0", "shop/none@1.0.0"]);
    expect(await call(quote)).toBe("shop/quote away");
    expect(await placement.find("shop/quote", "1.0.0")).toBeUndefined();
    expect(await call(order)).toBe("order");
    running.resolve("ended here");
    expect(await before).toBe("ended here");
  });

  it("A procedure that moves back runs locally again", async () => {
    const { placement, load, arrive } = setUp();
    const seam = seamOf(placement, "quote");
    arrive("quote");
    await load("shop");
    placement.drop(["shop/quote@1.0.0"]);
    await load("shop");
    expect(await call(seam)).toBe("quote here");
  });
});

describe("observing calls", () => {
  const observing = async () => {
    const parts = setUp();
    const seam = seamOf(parts.placement, "quote");
    const answer = { run: async (): Promise<unknown> => "quote here" };
    parts.bodyOf("quote~body.js").resolve({ quote: () => answer.run(), order: async () => 1 });
    await parts.load("shop");
    return { ...parts, seam, answer };
  };

  it("Each call through a seam is reported with its duration once it has ended", async () => {
    const { placement, seam, answer, pass } = await observing();
    const calls: ObservedCall[] = [];
    const stop = placement.observe((one) => calls.push(one));
    pass(100);
    answer.run = async () => {
      pass(30);
      return 7;
    };
    expect(await call(seam)).toBe(7);
    const error = new Error("sold out");
    answer.run = async () => {
      pass(5);
      throw error;
    };
    await expect(call(seam)).rejects.toBe(error);
    const common = { fqn: "shop/quote", version: "1.0.0", where: "local" };
    expect(calls).toEqual([
      { ...common, ms: 30 },
      { ...common, ms: 5, error },
    ]);
    stop();
    await expect(call(seam)).rejects.toBe(error);
    expect(calls).toHaveLength(2);
  });

  it("Seams that nobody observes run the procedure itself, before and after", async () => {
    const { placement, seam } = await observing();
    const { run } = (await placement.find("shop/quote", "1.0.0"))!;
    expect(seam.run).toBe(run);
    const [first, second] = [
      placement.observe(() => undefined),
      placement.observe(() => undefined),
    ];
    first();
    expect(seam.run).not.toBe(run);
    second();
    expect(seam.run).toBe(run);
  });

  it("A listener that throws disturbs neither the call nor other listeners, and is reported", async () => {
    const reported: unknown[] = [];
    vi.stubGlobal("reportError", (error: unknown) => reported.push(error));
    const { placement, seam } = await observing();
    const thrown = new Error("broken overlay");
    const heard: string[] = [];
    placement.observe(() => {
      throw thrown;
    });
    placement.observe(({ fqn }) => heard.push(fqn));
    expect(await call(seam)).toBe("quote here");
    expect([heard, reported]).toEqual([["shop/quote"], [thrown]]);
    // Node has no such function.
    vi.stubGlobal("reportError", undefined);
    expect(await call(seam)).toBe("quote here");
    expect(heard).toHaveLength(2);
  });

  it("A call reported from elsewhere reaches all listeners unchanged", async () => {
    const { placement } = await observing();
    const calls: ObservedCall[] = [];
    placement.observe((one) => calls.push(one));
    const one = { fqn: "shop/stock", version: "1.0.0", where: "remote", node: "b", ms: 3 } as const;
    placement.report(one);
    expect(calls).toEqual([one]);
  });
});
