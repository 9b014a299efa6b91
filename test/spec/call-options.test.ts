// Calls with options, on Node: beside their caller, and on another node behind a gateway.

import { getEventListeners } from "node:events";

import { describe, expect, it } from "vitest";

import type { Context } from "../../src/base/context.ts";
import type { ProcedureFunction } from "../../src/runtime/procedure-function.ts";
import type { Graph } from "../../src/runtime/seam.ts";
import type { CallOptions } from "../../src/types/call-options.ts";
import { ask, settle, TestDeployment, testModules, type TestProcedure } from "../_cluster.ts";
import { body, names } from "./_shop.ts";

type Run = (name: string, options?: unknown, ...args: unknown[]) => Promise<unknown>;

interface Pair {
  /** Of node `one`. */
  readonly graph: Graph;
  readonly local: TestDeployment;
  /** Calls `t/<name>` from node `one`, with options unless they are `undefined`. */
  readonly run: Run;
  readonly runProcedure: Run;
  /** Calls `t/<name>` in a call that node `one` got with these headers. */
  readonly inside: (
    name: string,
    fields: Record<string, string>,
    options: unknown,
  ) => Promise<void>;
  /** The context that each procedure had last. */
  readonly seen: Record<string, Context>;
}

const face = (graph: Graph, name: string): ProcedureFunction =>
  function (this: unknown, ...args) {
    const seam = graph.seam({ fqn: `t/${name}`, version: "0.0.0", parameters: names("value") });
    return seam.run.apply(this, args);
  };

/** Node `one` has the procedures that end in `Beside`, node `two` those that end in `Away`. */
async function pair(): Promise<Pair> {
  const seen: Record<string, Context> = {};
  let graph = undefined as unknown as Graph;
  let options: unknown;
  const both = (
    name: string,
    run: (graph: Graph, value: unknown) => unknown,
  ): readonly TestProcedure[] =>
    (["Beside", "Away"] as const).map((where) => ({
      fqn: `t/${name}${where}`,
      parameters: [{ kind: "plain", name: "value", optional: true }],
      in: { [where === "Beside" ? "one" : "two"]: "public" },
      body: body(`t/${name}${where}`, (context, own, value: unknown) => {
        seen[`${name}${where}`] = context;
        return run(own, value);
      }),
    }));
  const procedures: TestProcedure[] = [
    ...both("echo", (_, value) => value),
    ...both("never", () => new Promise(() => {})),
    ...both("fails", () => {
      throw new TypeError("no felt");
    }),
    ...both("calls", (own) => face(own, "echoAway").call(undefined)),
    {
      fqn: "t/outer",
      parameters: names("name"),
      in: { one: "public" },
      body: (own) => {
        // Node `two` reads the module later.
        graph ??= own;
        return async (name: string) =>
          await own.withOptions(face(own, name), options as CallOptions).call(undefined);
      },
    },
  ];
  const local = new TestDeployment();
  await local.gateway();
  const start = async (segment: string): ReturnType<TestDeployment["node"]> =>
    await local.node(segment, { modules: testModules(procedures), segments: [segment] });
  const [one] = [await start("one"), await start("two")];
  return {
    graph,
    local,
    seen,
    run: async (name, given, ...args) => {
      const procedure = face(graph, name) as (...args: unknown[]) => Promise<unknown>;
      return given === undefined
        ? await procedure(...args)
        : await graph.withOptions(procedure, given as CallOptions)(...args);
    },
    runProcedure: async (name, given, value) =>
      await one.runProcedure?.(`t/${name}`, "", value === undefined ? {} : { value }, given),
    async inside(name, fields, given) {
      options = given;
      const answer = await ask(one, "GET", `/rpc/t/outer?name=${name}`, fields);
      expect(answer.text).toBe("");
    },
  };
}

const places = ["Beside", "Away"] as const;
const ways = ["run", "runProcedure"] as const;
const cases = ways.flatMap((way) => places.map((place) => [way, place] as const));

describe.each(cases)("a call with options by %s, of a procedure that is %s", (way, place) => {
  it("options-1: a call with options has the arguments, the result and the errors of the procedure", async () => {
    const { [way]: run } = await pair();
    for (const options of [{}, { timeoutMs: 100, headers: {}, signal: undefined }]) {
      expect(await run(`echo${place}`, options, "felt")).toBe("felt");
      await expect(run(`fails${place}`, options)).rejects.toThrow("no felt");
    }
  });

  it("options-2: a call rejects at once with the reason of its signal, and the procedure's signal aborts", async () => {
    const { [way]: run, seen } = await pair();
    const controller = new AbortController();
    const call = run(`never${place}`, { signal: controller.signal });
    await settle();
    const { signal } = seen[`never${place}`]!;
    expect(signal.aborted).toBe(false);
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    await settle();
    expect(signal.aborted).toBe(true);
    // The next call works, and so does one with the same signal: it doesn't start.
    expect(await run(`echo${place}`, { timeoutMs: 10 }, 1)).toBe(1);
    await expect(run(`echo${place}`, { signal: controller.signal }, 1)).rejects.toBe(reason);
  });

  it("options-3: a call rejects with DeadlineExceeded after timeoutMs, and the procedure's signal aborts", async () => {
    const { [way]: run, seen, local } = await pair();
    const call = run(`never${place}`, { timeoutMs: 50 });
    const rejected = expect(call).rejects.toMatchObject({
      name: "DeadlineExceeded",
      message: "The call was not answered within 50 ms",
    });
    await settle();
    const { signal, endsAt } = seen[`never${place}`]!;
    expect(endsAt).toBe(local.clock.now() + 50);
    await local.clock.pass(49);
    expect(signal.aborted).toBe(false);
    await local.clock.pass(1);
    await rejected;
    await settle();
    expect(signal.aborted).toBe(true);
    expect(await run(`echo${place}`, { timeoutMs: 50 }, 1)).toBe(1);
  });

  it("options-4: timeoutMs only shortens the time that a call has", async () => {
    const { [way]: run, seen, local } = await pair();
    for (const timeoutMs of [31_000, 1e12, Infinity]) {
      await run(`echo${place}`, { timeoutMs });
      // Beside its caller, who has no limit, this is the only one.
      const limit = place === "Away" ? 30_000 : timeoutMs;
      const { endsAt = Infinity } = seen[`echo${place}`]!;
      expect(endsAt - local.clock.now()).toBe(limit);
    }
  });

  it("options-6: a call refuses options that it doesn't have or understand, with TypeError", async () => {
    const { [way]: run, local } = await pair();
    const name = way === "run" ? "withOptions" : "runProcedure";
    local.network.sent.length = 0;
    for (const [options, message] of [
      ["text", `${name} needs options, { signal, headers, timeoutMs }, not "text"`],
      [{ timeout: 1 }, `${name} has no option 'timeout'; did you mean 'timeoutMs'?`],
      [{ signal: {} }, `${name}: 'signal' must be an AbortSignal, not a object`],
      [{ timeoutMs: 0 }, `${name}: 'timeoutMs' must be a number of milliseconds above 0, not 0`],
      [{ timeoutMs: NaN }, /'timeoutMs' must be a number/],
      [{ timeoutMs: "5" }, /'timeoutMs' must be a number/],
      [
        { headers: "a: b" },
        `${name}: 'headers' must be an object with names and values, not a string`,
      ],
      [{ headers: ["ab"] }, `${name}: 'headers' must have pairs`],
      [{ headers: { a: 1 } }, "The value of the header 'a' must be a string, not number"],
      [{ headers: { "a b": "1" } }, /"a b" can't be the name of a header/],
      [{ headers: { "": "1" } }, /can't be the name of a header/],
      [{ headers: { "a\r\nb": "1" } }, /can't be the name of a header/],
      [{ headers: { a: "1\r\nx-svc-hops: 0" } }, /a character that headers can't carry/],
      [{ headers: { a: "\u{1f9f5}" } }, /a character that headers can't carry/],
    ] as const)
      await expect(run(`echo${place}`, options, 1), JSON.stringify(options)).rejects.toThrow(
        expect.objectContaining({
          name: "TypeError",
          message:
            typeof message === "string" ? message : (expect.stringMatching(message) as string),
        }),
      );
    for (const header of [
      "Host",
      "connection",
      "Keep-Alive",
      "proxy-authorization",
      "TE",
      "trailer",
      "transfer-encoding",
      "upgrade",
      "content-type",
      "Content-Length",
      "accept-encoding",
      "origin",
      "Sec-Fetch-Site",
      "x-svc-trust-key",
      "X-Svc-Locals",
    ])
      await expect(run(`echo${place}`, { headers: { [header]: "1" } })).rejects.toThrow(
        `${name} can't set the header '${header.toLowerCase()}': Seamline sets it`,
      );
    expect(local.network.sent).toEqual([]);
  });
});

describe.each(places)("headers of a call with options, of a procedure that is %s", (place) => {
  it("options-5: a call's headers are those that it inherits and, over them, its own: in any case, and undefined removes", async () => {
    const { inside, seen } = await pair();
    await inside(
      `calls${place}`,
      { authorization: "outer", "x-kept": "1", "x-gone": "1", accept: "text/plain" },
      {
        headers: { Authorization: "own", "X-GONE": undefined, Accept: "text/html", "x-none": null },
      },
    );
    const { headers } = seen[`calls${place}`]!;
    expect(Object.fromEntries(headers)).toMatchObject({
      authorization: "own",
      "x-kept": "1",
      accept: "text/html",
    });
    expect(headers.has("x-gone")).toBe(false);
    expect(headers.has("x-none")).toBe(false);
    // Its calls inherit them like any others: `accept` belongs to one request.
    const inner = seen["echoAway"]!.headers;
    expect(Object.fromEntries(inner)).toMatchObject({ authorization: "own", "x-kept": "1" });
    expect(inner.get("accept")).not.toBe("text/html");
    expect(inner.has("x-gone")).toBe(false);
  });

  it("options-7: options around options add up, and the outer ones count (headers, and the shorter time)", async () => {
    const { graph, local, seen } = await pair();
    const inner = graph.withOptions(face(graph, `echo${place}`), {
      headers: { a: "inner", b: "inner" },
      timeoutMs: 50,
    });
    await graph.withOptions(inner, { headers: { a: "outer", c: "outer" }, timeoutMs: 80 })();
    const { headers, endsAt } = seen[`echo${place}`]!;
    expect(Object.fromEntries(headers)).toMatchObject({ a: "outer", b: "inner", c: "outer" });
    expect(endsAt).toBe(local.clock.now() + 50);
  });
});

describe("what a call with options leaves", () => {
  it("nothing stays on a signal that lives long, after calls one by one and at the same time", async () => {
    const { run } = await pair();
    const { signal } = new AbortController();
    await Promise.all(
      Array.from({ length: 50 }, async () => await run("echoBeside", { signal }, 1)),
    );
    for (let call = 0; call < 10_000; call++) await run("echoBeside", { signal }, 1);
    await run("echoAway", { signal }, 1);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});
