import { describe, expect, it } from "vitest";

import { type Context, isContext } from "../../src/base/context.ts";
import { createNode } from "../../src/roles/node.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import {
  fromField,
  ask,
  settle,
  TestClock,
  testHost,
  testModules,
  TestNetwork,
  type TestProcedure,
} from "../_cluster.ts";
import { deploy, key } from "../_deployment.ts";
import { body, call, names } from "./_shop.ts";

/** The context of each procedure, by name. */
type Seen = Record<
  string,
  {
    headers: Record<string, string>;
    trace: readonly string[];
    endsAt: number | undefined;
    deadline: Date | undefined;
    timeLeft: number;
    signal: AbortSignal;
  }
>;

const outer = {
  authorization: "Bearer 1",
  "accept-language": "de",
  cookie: "a=b",
  traceparent: "00-1-2-01",
  origin: "http://localhost",
  referer: "http://localhost/1",
  "if-none-match": "1",
  "if-modified-since": "yesterday",
  range: "bytes=0-1",
  "content-language": "de",
  accept: "text/html",
  "accept-encoding": "br",
  "user-agent": "curl",
  "sec-fetch-mode": "cors",
  "access-control-request-method": "POST",
  host: "localhost",
  connection: "x-named",
  "x-named": "1",
  "x-svc-data-encoding": "serialized",
};

/** Two procedures on one node, or on a node each. The call says how one calls the other. */
async function pair(together: boolean): Promise<{ node: Role; clock: TestClock; seen: Seen }> {
  const seen: Seen = {};
  const note = (name: string, context: Context): void => {
    const { headers, trace, endsAt, deadline, signal } = context;
    seen[name] = {
      headers: Object.fromEntries(headers),
      trace,
      endsAt,
      deadline,
      timeLeft: context.timeLeft(),
      signal,
    };
  };
  const procedures: TestProcedure[] = [
    {
      fqn: "a/outer",
      parameters: names("how"),
      in: { one: "public" },
      body: (graph) =>
        body("a/outer", async function (context, _, how: string) {
          note("outer", context);
          if (how === "by this")
            await graph
              .seam({ fqn: "a/inner", version: "0.0.0", parameters: [] })
              .run.call(context);
          else if (how === "by name") await graph.runProcedure("a/inner");
          else if (how === "by name with this")
            await graph.runProcedure("a/inner", "", {}, context);
          else await call(graph, "a/inner", []);
          return "done";
        })(graph),
    },
    // A body reads its context only if the procedure mentions `this`.
    {
      fqn: "a/silent",
      in: { one: "public" },
      body: (graph) => async () => await call(graph, "a/inner", []),
    },
    {
      fqn: "a/inner",
      in: { [together ? "one" : "two"]: "public" },
      body: body("a/inner", (context) => note("inner", context)),
    },
  ];
  const { local, clock } = await deploy();
  const start = async (name: string): Promise<Role> =>
    await local.node(name, { modules: testModules(procedures), segments: [name], name: undefined });
  const node = await start("one");
  if (!together) await start("two");
  return { node, clock, seen };
}

describe("the context of a procedure", () => {
  it("context-1: `this` is a context with the headers of the call", async () => {
    const { node, seen } = await pair(true);
    expect((await ask(node, "GET", "/rpc/a/outer?how=", outer)).status).toBe(200);
    expect(seen["outer"]?.headers).toMatchObject({ authorization: "Bearer 1", cookie: "a=b" });
  });

  it.each(["beside it", "on another node"])(
    "the signal of a context aborts when the caller disconnects, also for an inner procedure: %s (context-2)",
    async (place) => {
      const { node, seen } = await pair(place === "beside it");
      const caller = new AbortController();
      await ask(node, "GET", "/rpc/a/outer?how=", outer, "", caller.signal);
      expect(seen["outer"]?.signal.aborted).toBe(false);
      caller.abort(new Error("gone"));
      await settle();
      expect(seen["outer"]?.signal).toMatchObject({ aborted: true, reason: { message: "gone" } });
      if (place === "beside it") expect(seen["inner"]?.signal.aborted).toBe(true);
    },
  );

  it("context-3: the signal of a context aborts when the deadline passes", async () => {
    const clock = new TestClock();
    let signal: AbortSignal | undefined;
    const modules = testModules([
      {
        fqn: "slow",
        in: { a: "public" },
        body: body("slow", (context) => ((signal = context.signal), new Promise(() => {}))),
      },
    ]);
    const node = createNode(testHost(new TestNetwork(), clock), {
      trustKey: key,
      limits: { ...defaultLimits, callTimeoutMs: 1000 },
      gateway: undefined,
      modules,
      segments: ["a"],
      name: undefined,
    });
    await node.start("http://a");
    const pending = ask(node, "GET", "/rpc/slow");
    await clock.pass(999);
    expect(signal?.aborted).toBe(false);
    await clock.pass(1);
    expect(signal).toMatchObject({ aborted: true, reason: { name: "DeadlineExceeded" } });
    expect((await pending).status).toBe(504);
  });

  it("context-4: a context has the deadline: the configured time from now, or the rest of it that a member sends", async () => {
    const { node, clock, seen } = await pair(true);
    await ask(node, "GET", "/rpc/a/outer?how=", {});
    const outer = seen["outer"]!;
    expect(outer.endsAt).toBe(clock.now() + defaultLimits.callTimeoutMs);
    expect(outer.timeLeft).toBe(defaultLimits.callTimeoutMs);
    expect(Math.abs(outer.deadline!.getTime() - Date.now() - outer.timeLeft)).toBeLessThan(5_000);
    await ask(node, "GET", "/rpc/a/outer?how=", {
      [fromField]: "service",
      "x-svc-deadline": "500",
    });
    expect(seen["outer"]?.endsAt).toBe(clock.now() + 500);
    expect(seen["inner"]?.endsAt).toBe(clock.now() + 500);
  });

  it.each(["beside it", "on another node"])(
    "context-5: a context has the trace line of its procedure, also in inner calls (%s)",
    async (place) => {
      const { node, seen } = await pair(place === "beside it");
      for (const how of ["", "by this", "by name", "by name with this"]) {
        await ask(node, "GET", `/rpc/a/outer?how=${encodeURIComponent(how)}`, outer);
        expect([seen["outer"]?.trace, seen["inner"]?.trace], how).toEqual([
          ["[a/outer | v0.0.0]"],
          ["[a/inner | v0.0.0]"],
        ]);
      }
    },
  );

  it.each(["", "by this", "by name", "by name with this"])(
    "context-6: a call made inside inherits the context without passing `this`, beside it and on another node (by '%s')",
    async (how) => {
      const keptContext = {
        authorization: "Bearer 1",
        "accept-language": "de",
        cookie: "a=b",
        traceparent: "00-1-2-01",
      };
      for (const together of [true, false]) {
        const { node, seen } = await pair(together);
        expect(
          (await ask(node, "GET", `/rpc/a/outer?how=${encodeURIComponent(how)}`, outer)).status,
        ).toBe(200);
        // Headers of the message to the other node itself aren't inherited.
        const {
          "content-type": _type,
          "x-svc-data-encoding": _encoding,
          // A socket's request has it, and one in memory doesn't.
          "content-length": _length,
          ...inherited
        } = seen["inner"]?.headers ?? {};
        expect(inherited, together ? "together" : "apart").toEqual(keptContext);
        expect(seen["outer"]?.headers).toMatchObject({
          ...keptContext,
          origin: "http://localhost",
          range: "bytes=0-1",
        });
        expect(seen["outer"]?.headers).not.toHaveProperty("x-named");
      }
    },
  );

  it.each(["beside it", "on another node"])(
    "a procedure called inside %s has its own trace line and inherits the rest, even from one that doesn't mention `this` (context-5, context-6)",
    async (place) => {
      const { node, seen } = await pair(place === "beside it");
      for (const time of ["first", "second"]) {
        expect((await ask(node, "GET", "/rpc/a/silent", outer)).status).toBe(204);
        expect(seen["inner"]?.trace, time).toEqual(["[a/inner | v0.0.0]"]);
        expect(seen["inner"]?.headers, time).toMatchObject({ authorization: "Bearer 1" });
        expect(seen["inner"]?.headers, time).not.toHaveProperty("origin");
      }
    },
  );

  it("a namespace object that a caller has as `this` is not taken for a context (context-1)", async () => {
    expect(isContext({ headers: new Map() })).toBe(false);
  });
});
