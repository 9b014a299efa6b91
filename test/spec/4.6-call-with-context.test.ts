// `quote.call(context, …)`: the procedure has the context that it is given, and not the one of the call in which it is called. So do the calls
// that it makes, whether it mentions `this` or not.

import { describe, expect, it } from "vitest";

import type { Context } from "../../src/context.ts";
import { createNode } from "../../src/roles/node.ts";
import type { Role } from "../../src/roles/role.ts";
import type { Graph } from "../../src/seam.ts";
import { defaultLimits } from "../../src/serializer/limits.ts";
import { ask, settle, TestClock, testHost, testModules, type TestProcedure } from "../_cluster.ts";
import { deploy, key, urls } from "../_deployment.ts";
import { body, call, names } from "./_shop.ts";

type Seen = Record<
  string,
  {
    authorization: string | undefined;
    deadline: number | undefined;
    signal: AbortSignal;
    trace: readonly string[];
  }
>;

const seam = (graph: Graph, fqn: string) => graph.seam({ fqn, version: "0.0.0", parameters: [] });

interface Pair {
  readonly one: Role;
  readonly clock: TestClock;
  readonly seen: Seen;
  /** Calls `t/keep` for `who`, whose context stays as it was; ends that caller's connection. */
  keep(who: string): Promise<{ context: Context; leave: () => void }>;
  /** Calls `t/outer` for somebody else, which calls `t/<name>` with the context that was kept. */
  callKept(name: string): Promise<number>;
}

/** Node `one` calls what is beside it and on node `two`; what those see, they note. */
async function pair(): Promise<Pair> {
  const seen: Seen = {};
  let kept: Context | undefined;
  const note = (name: string, { headers, deadline, signal, trace }: Context): void =>
    void (seen[name] = { authorization: headers.get("authorization"), deadline, signal, trace });
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
      body: body("t/keep", (context) => ((kept = context), new Promise(() => {}))),
    },
    {
      fqn: "t/outer",
      parameters: names("name"),
      in: { one: "public" },
      body: body("t/outer", async (context, graph, name: string) => {
        note("outer", context);
        await seam(graph, `t/${name}`).run.call(kept);
        // What the caller makes afterwards is its own again.
        await call(graph, "t/after", []);
      }),
    },
    {
      fqn: "t/itself",
      in: { one: "public" },
      // As a build writes it: a function that calls itself stays where it is.
      body: (graph) =>
        async function itself(this: unknown, again?: boolean): Promise<void> {
          const context = graph.context(this, "[t/itself | v0.0.0]");
          if (again === true) note("itself", context);
          else await itself.call(kept, true);
        },
    },
    silent("named", async (graph) => {
      await graph.runProcedure("t/beside", "", {}, kept);
      await graph.runProcedure("t/away", "", {}, kept);
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
  const { network } = await deploy();
  const clock = new TestClock();
  const start = async (segment: string): Promise<Role> => {
    const modules = testModules(procedures);
    const common = { trustKey: key, limits: defaultLimits, gateway: urls.gateway, name: undefined };
    const node = createNode(testHost(network, clock), { ...common, modules, segments: [segment] });
    network.roles.set(`http://${segment}`, node);
    await node.start(`http://${segment}`);
    return node;
  };
  const [one] = await Promise.all(["one", "two"].map(start));
  return {
    one: one!,
    clock,
    seen,
    async keep(who) {
      const gone = new AbortController();
      const fields = { authorization: who, "x-svc-trust-key": key, "x-svc-deadline": "700" };
      void ask(one!, "GET", "/rpc/t/keep", fields, "", gone.signal);
      await settle();
      return { context: kept!, leave: () => gone.abort(new Error(`${who} left`)) };
    },
    callKept: async (name) =>
      (await ask(one!, "GET", `/rpc/t/outer?name=${name}`, { authorization: "another" })).status,
  };
}

/** What is called with the kept context, and who sees it. */
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
  "D5.this-7 a procedure called with a context has it, and so has what it calls: %s",
  (_, name, sees) => {
    it("headers, deadline and signal", async () => {
      const { clock, seen, keep, callKept } = await pair();
      const { context, leave } = await keep("kept");
      expect(await callKept(name)).toBe(204);
      expect(seen[sees]).toMatchObject({
        authorization: "kept",
        deadline: clock.now() + 700,
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

    it("the caller keeps its own", async () => {
      const { clock, seen, keep, callKept } = await pair();
      const { leave } = await keep("kept");
      expect(await callKept(name)).toBe(204);
      leave();
      await settle();
      for (const own of ["outer", "after"]) {
        expect(seen[own], own).toMatchObject({
          authorization: "another",
          deadline: clock.now() + defaultLimits.time,
        });
        expect(seen[own]?.signal.aborted, own).toBe(false);
      }
    });
  },
);

describe("a call under a context that was given", () => {
  it("may be one of the procedure itself", async () => {
    const { one, seen, keep } = await pair();
    await keep("kept");
    expect((await ask(one, "GET", "/rpc/t/itself", { authorization: "another" })).status).toBe(204);
    expect(seen["itself"]?.authorization).toBe("kept");
  });

  it("may be made by name", async () => {
    const { one, seen, keep } = await pair();
    await keep("kept");
    expect((await ask(one, "GET", "/rpc/t/named", { authorization: "another" })).status).toBe(204);
    expect([seen["beside"]?.authorization, seen["away"]?.authorization]).toEqual(["kept", "kept"]);
  });

  it("ends when the caller whose context it is leaves, on another node too", async () => {
    const { one, keep } = await pair();
    const { leave } = await keep("kept");
    leave();
    const answer = await ask(one, "GET", "/rpc/t/outer?name=away", { authorization: "another" });
    expect([answer.status, answer.text]).toEqual([500, expect.stringContaining("kept left")]);
  });

  it("is late when that context's time is over", async () => {
    const { one, clock, keep } = await pair();
    await keep("kept");
    await clock.pass(701);
    const answer = await ask(one, "GET", "/rpc/t/outer?name=silent", { authorization: "another" });
    expect(answer.status).toBe(504);
  });
});
