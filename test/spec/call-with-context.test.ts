// `quote.call(context, …)`: the procedure has the context that is passed, not the one of the call in
// which it is called. So do the calls that it makes, whether it mentions `this` or not.

import { describe, expect, it } from "vitest";

import type { Context } from "../../src/base/context.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import type { Graph } from "../../src/runtime/seam.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import type { TestClock } from "../_cluster.ts";
import { fromField, ask, settle, testModules, type TestProcedure } from "../_cluster.ts";
import { deploy } from "../_deployment.ts";
import { body, call, names } from "./_shop.ts";

type Seen = Record<
  string,
  {
    authorization: string | undefined;
    endsAt: number | undefined;
    signal: AbortSignal;
    trace: readonly string[];
  }
>;

const seam = (graph: Graph, fqn: string) => graph.seam({ fqn, version: "0.0.0", parameters: [] });

interface Pair {
  readonly first: Role;
  readonly clock: TestClock;
  readonly seen: Seen;
  /** Calls `t/keep` with this header and keeps the call's context; `leave` ends the connection. */
  keep(authorization: string): Promise<{ context: Context; leave: () => void }>;
  /** Calls `t/outer` for another caller; it calls `t/<name>` with the kept context. */
  callKept(name: string): Promise<number>;
}

/** Node `one` calls procedures of its own and of node `two`, which record the context they see. */
async function pair(): Promise<Pair> {
  const seen: Seen = {};
  let keptContext: Context | undefined;
  const note = (name: string, { headers, endsAt, signal, trace }: Context): void =>
    void (seen[name] = { authorization: headers.get("authorization"), endsAt, signal, trace });
  const noting = (
    name: string,
    segment: string,
    then?: (graph: Graph) => Promise<unknown>,
  ): TestProcedure => ({
    fqn: `t/${name}`,
    in: { [segment]: "public" },
    body: body(`t/${name}`, async (context, graph) => {
      note(name, context);
      await then?.(graph);
    }),
  });
  const silent = (name: string, then: (graph: Graph) => Promise<unknown>): TestProcedure => ({
    fqn: `t/${name}`,
    in: { one: "public" },
    body: (graph) => async () => await then(graph),
  });
  const procedures: TestProcedure[] = [
    {
      fqn: "t/keep",
      in: { one: "public" },
      body: body("t/keep", (context) => ((keptContext = context), new Promise(() => {}))),
    },
    {
      fqn: "t/outer",
      parameters: names("name"),
      in: { one: "public" },
      body: body("t/outer", async (context, graph, name: string) => {
        note("outer", context);
        await seam(graph, `t/${name}`).run.call(keptContext);
        // The caller's later calls have its own context again.
        await call(graph, "t/after", []);
      }),
    },
    {
      fqn: "t/itself",
      in: { one: "public" },
      // As the build writes it: a function that calls itself runs locally.
      body: (graph) =>
        async function itself(this: unknown, again?: boolean): Promise<void> {
          const context = graph.context(this, "[t/itself | v0.0.0]");
          if (again === true) note("itself", context);
          else await itself.call(keptContext, true);
        },
    },
    silent("named", async (graph) => {
      await graph.runProcedure("t/beside", "", {}, keptContext);
      await graph.runProcedure("t/away", "", {}, keptContext);
    }),
    noting("away", "two"),
    noting("beside", "one"),
    noting("after", "one"),
    noting("mentions", "one", (graph) => call(graph, "t/away", [])),
    noting("waits", "one", async (graph) => {
      await settle();
      await call(graph, "t/away", []);
    }),
    silent("silent", (graph) => call(graph, "t/away", [])),
    silent("silentBeside", (graph) => call(graph, "t/beside", [])),
    silent("twice", (graph) => call(graph, "t/silent", [])),
    silent("byName", (graph) => graph.runProcedure("t/away")),
    silent("byNameBeside", (graph) => graph.runProcedure("t/beside")),
  ];
  const { local, clock } = await deploy();
  const start = async (name: string): Promise<Role> =>
    await local.node(name, { modules: testModules(procedures), segments: [name], name: undefined });
  const [first] = await Promise.all(["one", "two"].map(start));
  return {
    first: first!,
    clock,
    seen,
    async keep(authorization) {
      const caller = new AbortController();
      const fields = {
        authorization,
        [fromField]: "service",
        "x-svc-deadline": "700",
      };
      const left = ask(first!, "GET", "/rpc/t/keep", fields, "", caller.signal);
      // A caller that leaves gets its own reason instead of an answer.
      left.catch(() => {});
      await settle();
      return {
        context: keptContext!,
        leave: () => caller.abort(new Error(`${authorization} left`)),
      };
    },
    callKept: async (name) =>
      (await ask(first!, "GET", `/rpc/t/outer?name=${name}`, { authorization: "another" })).status,
  };
}

/** The procedure that is called with the kept context, and the one that sees it. */
const ways: readonly (readonly [string, string, string])[] = [
  ["beside its caller, mentioning `this`", "beside", "beside"],
  ["on another node", "away", "away"],
  ["beside its caller, mentioning `this`, by what it calls on another node", "mentions", "away"],
  ["beside its caller, by what it calls on another node after a wait", "waits", "away"],
  ["beside its caller, not mentioning `this`, by what it calls on another node", "silent", "away"],
  [
    "beside its caller, not mentioning `this`, by what it calls beside it",
    "silentBeside",
    "beside",
  ],
  ["beside its caller, by what is called two procedures on", "twice", "away"],
  ["beside its caller, by what it calls by name on another node", "byName", "away"],
  ["beside its caller, by what it calls by name beside it", "byNameBeside", "beside"],
];

describe.each(ways)(
  "context-7: a procedure called with a context has it, and so has what it calls: %s",
  (_, name, sees) => {
    it("a procedure called with a context has its headers, deadline and signal", async () => {
      const { clock, seen, keep, callKept } = await pair();
      const { context, leave } = await keep("kept");
      expect(await callKept(name)).toBe(204);
      expect(seen[sees]).toMatchObject({
        authorization: "kept",
        endsAt: clock.now() + 700,
        trace: [`[t/${sees} | v0.0.0]`],
      });
      expect(context.signal.aborted).toBe(false);
      expect(seen[sees]?.signal.aborted).toBe(false);
      if (sees === "beside") {
        leave();
        await settle();
        expect(seen[sees]?.signal.aborted).toBe(true);
      }
    });

    it("the caller keeps its own context when it passes another one on", async () => {
      const { clock, seen, keep, callKept } = await pair();
      const { leave } = await keep("kept");
      expect(await callKept(name)).toBe(204);
      leave();
      await settle();
      for (const own of ["outer", "after"]) {
        expect(seen[own], own).toMatchObject({
          authorization: "another",
          endsAt: clock.now() + defaultLimits.callTimeoutMs,
        });
        expect(seen[own]?.signal.aborted, own).toBe(false);
      }
    });
  },
);

describe("a call under a context that was given", () => {
  it("a procedure may call itself under a context", async () => {
    const { first, seen, keep } = await pair();
    await keep("kept");
    expect((await ask(first, "GET", "/rpc/t/itself", { authorization: "another" })).status).toBe(
      204,
    );
    expect(seen["itself"]?.authorization).toBe("kept");
  });

  it("runProcedure may call under a context", async () => {
    const { first, seen, keep } = await pair();
    await keep("kept");
    expect((await ask(first, "GET", "/rpc/t/named", { authorization: "another" })).status).toBe(
      204,
    );
    expect([seen["beside"]?.authorization, seen["away"]?.authorization]).toEqual(["kept", "kept"]);
  });

  it("a call under a context ends when that context's caller disconnects, on another node too", async () => {
    const { first, keep } = await pair();
    const { leave } = await keep("kept");
    leave();
    const answer = await ask(first, "GET", "/rpc/t/outer?name=away", { authorization: "another" });
    expect([answer.status, answer.text]).toEqual([500, expect.stringContaining("kept left")]);
  });

  it("a call under a context fails when that context's deadline passes", async () => {
    const { first, clock, keep } = await pair();
    await keep("kept");
    await clock.pass(701);
    const answer = await ask(first, "GET", "/rpc/t/outer?name=silent", {
      authorization: "another",
    });
    expect(answer.status).toBe(504);
  });
});
