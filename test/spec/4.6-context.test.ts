import { describe, expect, it } from "vitest";

import { type Context, isContext } from "../../src/context.ts";
import { createNode } from "../../src/roles/node.ts";
import type { Role } from "../../src/roles/role.ts";
import { defaultLimits } from "../../src/serializer/limits.ts";
import {
  ask,
  settle,
  TestClock,
  testHost,
  TestLog,
  testModules,
  TestNetwork,
  type TestProcedure,
} from "../_cluster.ts";
import { deploy, key, urls } from "../_deployment.ts";
import { body, call, names } from "./_shop.ts";

/** What a procedure saw of its context, by its name. */
type Seen = Record<
  string,
  {
    headers: Record<string, string>;
    trace: readonly string[];
    deadline: number | undefined;
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

/** Two procedures, beside each other on one node or on a node each; how the one calls the other is said by the call. */
async function pair(together: boolean): Promise<{ node: Role; clock: TestClock; seen: Seen }> {
  const seen: Seen = {};
  const note = (name: string, { headers, trace, deadline, signal }: Context): void =>
    void (seen[name] = { headers: Object.fromEntries(headers), trace, deadline, signal });
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
    // A body asks for its context only where the procedure mentions `this`.
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
  const { network, gateway } = await deploy();
  const clock = new TestClock();
  const start = async (url: string, segment: string): Promise<Role> => {
    const node = createNode(testHost(network, clock, new TestLog()), {
      trustKey: key,
      limits: defaultLimits,
      gateway: urls.gateway,
      modules: testModules(procedures),
      segments: [segment],
      name: undefined,
    });
    network.roles.set(url, node);
    await node.start(url);
    return node;
  };
  const node = await start("http://one", "one");
  if (!together) await start("http://two", "two");
  expect(gateway).toBeDefined();
  return { node, clock, seen };
}

describe("the context of a procedure", () => {
  it("D5.this-1 `this` is a context with the headers of the call", async () => {
    const { node, seen } = await pair(true);
    expect((await ask(node, "GET", "/rpc/a/outer?how=", outer)).status).toBe(200);
    expect(seen["outer"]?.headers).toMatchObject({ authorization: "Bearer 1", cookie: "a=b" });
  });

  it.each(["beside it", "on another node"])(
    "its signal aborts when the caller goes away, for a procedure called inside too: %s (D5.this-2)",
    async (place) => {
      const { node, seen } = await pair(place === "beside it");
      const gone = new AbortController();
      await ask(node, "GET", "/rpc/a/outer?how=", outer, "", gone.signal);
      expect(seen["outer"]?.signal.aborted).toBe(false);
      gone.abort(new Error("gone"));
      await settle();
      expect(seen["outer"]?.signal).toMatchObject({ aborted: true, reason: { message: "gone" } });
      if (place === "beside it") expect(seen["inner"]?.signal.aborted).toBe(true);
    },
  );

  it("D5.this-3 the signal of a context aborts when the deadline passes", async () => {
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
      limits: { ...defaultLimits, time: 1000 },
      gateway: undefined,
      modules,
      segments: ["a"],
      name: undefined,
    });
    await node.start("http://a");
    const asked = ask(node, "GET", "/rpc/slow");
    await clock.pass(999);
    expect(signal?.aborted).toBe(false);
    await clock.pass(1);
    expect(signal).toMatchObject({ aborted: true, reason: { name: "DeadlineExceeded" } });
    expect((await asked).status).toBe(504);
  });

  it("D5.this-4 a context tells the deadline: the configured time from now, or what a member says is left of it", async () => {
    const { node, clock, seen } = await pair(true);
    await ask(node, "GET", "/rpc/a/outer?how=", {});
    expect(seen["outer"]?.deadline).toBe(clock.now() + defaultLimits.time);
    await ask(node, "GET", "/rpc/a/outer?how=", {
      "x-svc-trust-key": key,
      "x-svc-deadline": "500",
    });
    expect(seen["outer"]?.deadline).toBe(clock.now() + 500);
    expect(seen["inner"]?.deadline).toBe(clock.now() + 500);
  });

  it.each(["beside it", "on another node"])(
    "D5.this-5 a context tells the trace line of the procedure, called inside as well (%s)",
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
    "D5.this-6 a call made inside inherits the context without passing `this`, beside it and on another node (by '%s')",
    async (how) => {
      const kept = {
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
        // What the message to the other node brings by itself is no part of what is inherited.
        const {
          "content-type": _type,
          "x-svc-data-encoding": _encoding,
          ...inherited
        } = seen["inner"]?.headers ?? {};
        expect(inherited, together ? "together" : "apart").toEqual(kept);
        expect(seen["outer"]?.headers).toMatchObject({
          ...kept,
          origin: "http://localhost",
          range: "bytes=0-1",
        });
        expect(seen["outer"]?.headers).not.toHaveProperty("x-named");
      }
    },
  );

  it.each(["beside it", "on another node"])(
    "gives a procedure called inside %s its own line and what is inherited, also by one that doesn't mention `this` (D5.this-5, D5.this-6)",
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

  it("is no namespace object that a caller happened to have as `this` (D5.this-1)", async () => {
    expect(isContext({ headers: new Map() })).toBe(false);
  });
});
