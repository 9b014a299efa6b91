// Streams at a service: the head, limits, time, middleware, guards and what ends them, on a clock that stands still.

import { describe, expect, it } from "vitest";

import { Forbidden, Unauthorized } from "../../../src/base/errors.ts";
import { defaultLimits, type Limits } from "../../../src/base/limits.ts";
import { type Middleware, OpaqueStream } from "../../../src/http/middleware.ts";
import { exchange } from "../../../src/roles/memory-exchange.ts";
import type { Role } from "../../../src/roles/pipeline/role.ts";
import type { ProcedureFunction } from "../../../src/runtime/procedure-function.ts";
import { getContext } from "../../../server/host/carrier.ts";
import { settle, TestDeployment, type TestProcedure } from "../../_cluster.ts";
import { guardedModules } from "../../_guards.ts";

type Run = () => AsyncGenerator<unknown, unknown>;

const streamOf = (run: Run, entry: object = {}): TestProcedure => ({
  fqn: "shop/rolls",
  stream: true,
  in: { a: { access: "public", ...entry } },
  body: () => run as unknown as ProcedureFunction,
});

/** A service with one stream, and what a reader gets of it. */
async function serving(
  run: Run,
  more: { entry?: object; limits?: Partial<Limits>; guard?: () => Promise<void> } = {},
) {
  const local = new TestDeployment();
  const guards = { signedIn: more.guard ?? (async () => {}) };
  const modules = guardedModules(guards, [streamOf(run, more.entry)]);
  const role = await local.standalone({ modules, limits: { ...defaultLimits, ...more.limits } });
  return { role, local, clock: local.clock, read: (headers = {}) => read(role, headers) };
}

async function read(role: Role, headers: Record<string, string>) {
  const controller = new AbortController();
  const answer = await exchange(role, {
    method: "POST",
    target: "/rpc/shop/rolls",
    headers: { "content-type": "application/json", ...headers },
    body: "{}",
    signal: controller.signal,
  });
  const { body } = answer;
  const reader =
    body instanceof Uint8Array ? [body][Symbol.iterator]() : body[Symbol.asyncIterator]();
  /** All text until the body ends. */
  const rest = async (): Promise<string> => {
    let text = "";
    for (;;) {
      const { done, value } = await reader.next();
      if (done === true) return text;
      text += new TextDecoder().decode(value);
    }
  };
  const chunk = async (): Promise<string> =>
    new TextDecoder().decode((await reader.next()).value ?? new Uint8Array());
  return { ...answer, rest, chunk, leave: () => void reader.return?.(), controller };
}

/** Never resolves, unless the caller leaves. */
const left = async (): Promise<never> =>
  await new Promise((_, reject) => {
    const { signal } = getContext();
    signal.addEventListener("abort", () => reject(signal.reason as Error));
  });

describe("the head of a stream", () => {
  it("waits for the first item, and an error before it is an ordinary answer", async () => {
    const { read: get } = await serving(async function* () {
      if (Date.now() > 0) throw new Forbidden("not you");
      yield 1;
    });
    const { status, headers } = await get();
    expect([status, headers["content-type"]]).toEqual([403, "text/plain; charset=utf-8"]);
  });

  it("isn't needed for problem details: an error before it is JSON if the reader asks for that, and a reader that takes no stream learns so in JSON", async () => {
    const { read: get } = await serving(async function* () {
      if (Date.now() > 0) throw new Forbidden("not you");
      yield 1;
    });
    const problem = { type: "urn:seamline:Forbidden", title: "Forbidden", status: 403 };
    const failed = await get({ accept: "application/json, text/event-stream" });
    expect([failed.status, failed.headers["content-type"]]).toEqual([
      403,
      "application/problem+json",
    ]);
    expect(JSON.parse(await failed.rest())).toMatchObject(problem);
    const refused = await get({ accept: "application/json" });
    expect(JSON.parse(await refused.rest())).toMatchObject({ status: 406, title: "NotAcceptable" });
    const { read: list } = await serving(async function* () {
      yield { metres: 1 };
    });
    const stream = await list({ accept: "application/json, text/event-stream" });
    expect([stream.status, stream.headers["content-type"], stream.headers["vary"]]).toEqual([
      200,
      "text/event-stream; charset=utf-8",
      "accept, x-svc-data-encoding",
    ]);
    expect(await stream.rest()).toContain('data: {"metres":1}');
  });

  it("goes out after a second without an item, and what fails then is a fault", async () => {
    let go = (): void => {};
    const { read: get, clock } = await serving(async function* () {
      await new Promise<void>((resolve) => (go = resolve));
      if (Date.now() > 0) throw new Forbidden("not you");
      yield 1;
    });
    const answering = get();
    await settle();
    await clock.pass(1_000);
    const { status, rest } = await answering;
    expect(status).toBe(200);
    go();
    expect(await rest()).toMatch(/^retry: 2000\nid: 0\n\nevent: fault\nid: end\ndata: .*not you/);
  });

  it("has headers and cookies that are set before it, and no other status than 200", async () => {
    let failure: unknown;
    const { read: get } = await serving(async function* () {
      const { response } = getContext();
      response.headers.set("x-roll", "1");
      try {
        response.status = 202;
      } catch (error) {
        failure = error;
      }
      yield 1;
    });
    const { status, headers } = await get();
    expect([status, headers["x-roll"]]).toEqual([200, "1"]);
    expect(failure).toEqual(
      new TypeError("The status of a stream is 200: throw an error for a failure"),
    );
  });
});

describe("a stream", () => {
  it("shows every 15 s that it lives, and isn't bound by the call's deadline", async () => {
    const { read: get, clock } = await serving(
      async function* () {
        yield getContext().deadline ?? "none";
        await left();
      },
      { limits: { callTimeoutMs: 2_000 } },
    );
    const { chunk } = await get();
    expect(await chunk()).toContain('data: "none"');
    const waiting = chunk();
    await clock.pass(15_000);
    expect(await waiting).toBe(":\n\n");
    const again = chunk();
    await clock.pass(15_000);
    expect(await again).toBe(":\n\n");
  });

  it("ends when its reader takes nothing for streamIdleMs: first its signal aborts, then it returns", async () => {
    const order: string[] = [];
    const { read: get, clock } = await serving(
      async function* () {
        getContext().signal.addEventListener("abort", () => order.push("abort"));
        try {
          for (;;) yield "x".repeat(10_000);
        } finally {
          order.push("finally");
        }
      },
      { limits: { streamIdleMs: 20_000 } },
    );
    const { chunk, rest } = await get();
    await chunk();
    await clock.pass(20_000);
    await settle();
    expect(order).toEqual(["abort", "finally"]);
    await expect(rest()).rejects.toThrow();
  });

  it("that ignores both is abandoned after 5 s, with a line in the log", async () => {
    const {
      read: get,
      clock,
      local,
    } = await serving(async function* () {
      yield 1;
      await new Promise(() => {});
    });
    const { chunk, leave } = await get();
    await chunk();
    leave();
    await settle();
    await clock.pass(5_000);
    expect(local.log.lines.join("\n")).toContain(
      "the stream of shop/rolls has not ended 5000 ms after",
    );
  });

  it("with an item over itemBytes ends with a fault that names the limit", async () => {
    const { read: get } = await serving(
      async function* () {
        yield "short";
        yield "x".repeat(2_000);
      },
      { limits: { itemBytes: 1_000 } },
    );
    expect(await (await get()).rest()).toMatch(
      /event: fault\nid: end\ndata: .*1000 bytes.*itemBytes/,
    );
  });

  it("with an item that has a cycle is in superjson for that item, if its reader takes both", async () => {
    const item: Record<string, unknown> = { a: 1 };
    item["self"] = item;
    const { read: get } = await serving(async function* () {
      yield item;
      yield 2;
    });
    const both = { "x-svc-data-encoding": "serialized, superjson", accept: "text/event-stream" };
    expect(await (await get(both)).rest()).toMatch(
      /event: superjson\nid: 1\ndata: .*referentialEqualities.*\n\nid: 2\ndata: 2\n/,
    );
    expect(await (await get()).rest()).toMatch(/\n\nevent: fault\nid: end\ndata: .*item\.self/);
  });

  it("over maxStreams is refused as overload before anything of it runs", async () => {
    let runs = 0;
    const { read: get } = await serving(
      async function* () {
        runs++;
        yield 1;
        await left();
      },
      { limits: { maxStreams: 1 } },
    );
    const first = await get();
    await first.chunk();
    const second = await get();
    expect([second.status, second.headers["retry-after"], runs]).toEqual([503, "1", 1]);
    first.leave();
    await settle();
    expect((await get()).status).toBe(200);
  });
});

describe("an address on the internet", () => {
  it("has at most 100 streams over HTTP; other addresses, and callers behind one, aren't counted", async () => {
    const { role } = await serving(async function* () {
      yield 1;
      await left();
    });
    const from = (address: string, headers: Record<string, string> = {}) =>
      read(
        { ...role, handle: (request) => role.handle(Object.assign(request, { address })) },
        { accept: "text/event-stream", ...headers },
      );
    const open = [];
    for (let count = 0; count < 100; count++) open.push(await from("8.8.8.8"));
    expect(open.every(({ status }) => status === 200)).toBe(true);
    expect((await from("8.8.8.8")).status).toBe(503);
    expect((await from("8.8.4.4")).status).toBe(200);
    for (let count = 0; count < 101; count++) expect((await from("10.0.0.1")).status).toBe(200);
    open[0]!.leave();
    await settle();
    expect((await from("8.8.8.8")).status).toBe(200);
  });
});

describe("a service that stops", () => {
  it("tells readers of streams with resume to ask elsewhere, and lets the others go on", async () => {
    const run: Run = async function* () {
      yield 1;
      await left();
    };
    const [kept, moved] = [
      await serving(run),
      await serving(run, { entry: { resume: true, idempotent: true } }),
    ];
    const readers = [await kept.read(), await moved.read()] as const;
    for (const { chunk } of readers) await chunk();
    kept.role.refuseCalls();
    moved.role.refuseCalls();
    expect(await readers[1].rest()).toBe("event: again\ndata: null\n\n");
    const waiting = readers[0].chunk();
    await kept.clock.pass(15_000);
    expect(await waiting).toBe(":\n\n");
  });
});

describe("middleware around a stream", () => {
  it("gets an opaque object at the head, and can wait for the end", async () => {
    const seen: string[] = [];
    const { role, read: get } = await serving(async function* () {
      yield 1;
      seen.push("second");
      yield 2;
    });
    role.addMiddleware({
      async handle(_fqn, _version, _args, headers, next) {
        const result = (await next()) as OpaqueStream;
        seen.push(String(result instanceof OpaqueStream));
        headers.set("x-late", "1");
        void result.ended.then(() => seen.push("ended"));
        return result;
      },
    });
    const { headers, rest } = await get();
    expect(headers["x-late"]).toBe("1");
    expect(await rest()).toContain("event: end");
    await settle();
    expect(seen.toSorted()).toEqual(["ended", "second", "true"]);
  });

  it("has to return it: anything else is a 500 that names the middleware, and the stream ends", async () => {
    let ended = false;
    const { role, read: get } = await serving(async function* () {
      try {
        yield 1;
        yield 2;
      } finally {
        ended = true;
      }
    });
    const counter: Middleware & { name: string } = {
      name: "counter",
      async handle(_fqn, _version, _args, _headers, next) {
        await next();
        return [1];
      },
    };
    role.addMiddleware(counter);
    const { status, headers } = await get();
    await settle();
    expect([status, headers["x-svc-error"], ended]).toEqual([500, "MiddlewareNotCompleted", true]);
  });
});

describe("middleware that doesn't wait for a stream", () => {
  it("ends it, also before its head is there", async () => {
    let ended = false;
    const {
      role,
      read: get,
      clock,
    } = await serving(async function* () {
      try {
        await left();
        yield 1;
      } finally {
        ended = true;
      }
    });
    role.addMiddleware({
      async handle(_fqn, _version, _args, _headers, next) {
        void next();
        return 1;
      },
    });
    const { status, headers } = await get();
    expect([status, headers["x-svc-error"]]).toEqual([500, "MiddlewareNotCompleted"]);
    await settle();
    await clock.pass(1_000);
    expect(ended).toBe(true);
  });
});

describe("the guard of a stream", () => {
  it("is asked again every 15 min, and its error is the stream's", async () => {
    let asked = 0;
    const { read: get, clock } = await serving(
      async function* () {
        yield 1;
        await left();
      },
      {
        entry: { guard: "auth#signedIn" },
        guard: async () => {
          if (++asked > 2) throw new Unauthorized("signed out");
        },
        limits: { streamIdleMs: 2_000_000 },
      },
    );
    const { chunk, rest } = await get();
    await chunk();
    const all = rest();
    await clock.pass(900_000);
    expect(asked).toBe(2);
    await clock.pass(900_000);
    expect(await all).toMatch(/event: fault\nid: end\ndata: .*Unauthorized.*signed out/);
  });
});
