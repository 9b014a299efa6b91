import { describe, expect, it } from "vitest";

import { defaultLimits } from "../../src/base/limits.ts";
import { chunksOf } from "../../src/http/bodies.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { Admission, type Place } from "../../src/wire/admission.ts";
import { prompt } from "../../server/http/host.ts";
import { ask, settle, TestClock, TestDeployment, TestLog, testModules } from "../_cluster.ts";
import { body, names } from "./_shop.ts";

async function standalone(maxCalls: number) {
  const waiting: (() => void)[] = [];
  const modules = testModules([
    {
      fqn: "shop/wait",
      in: { all: "public" },
      body: body("shop/wait", () => new Promise<void>((resolve) => waiting.push(resolve))),
    },
  ]);
  const local = new TestDeployment({ limits: { ...defaultLimits, maxCalls } });
  const role = await local.standalone({ modules, segments: ["all"] });
  return {
    role,
    clock: local.clock,
    call: async () => await ask(role, "GET", "/rpc/shop/wait"),
    finish: () => waiting.splice(0).forEach((resolve) => resolve()),
  };
}

describe("a service that gets more calls than it can take", () => {
  it("overload-1: a call beyond maxCalls is 503 at once, with retry-after and x-svc-not-started", async () => {
    const { call, finish, role, clock } = await standalone(2);
    const running = [call(), call()];
    await clock.pass(0);
    expect(await call()).toMatchObject({
      status: 503,
      headers: {
        "retry-after": "1",
        "x-svc-error": "NodeNotAvailable",
        "x-svc-not-started": "overload",
      },
      text: "This service has as many calls as it can take; try again",
    });
    expect((await ask(role, "GET", "/health/live")).status).toBe(200);
    finish();
    for (const answer of running) expect((await answer).status).toBe(204);
    const next = call();
    await clock.pass(0);
    finish();
    expect((await next).status).toBe(204);
  });

  it("a call that is refused, fails or is late no longer counts (overload-1)", async () => {
    const { call, role, clock } = await standalone(2);
    for (let calls = 0; calls < 5; calls++) {
      expect((await ask(role, "GET", "/rpc/shop/nothing")).status).toBe(404);
      expect((await ask(role, "GET", "/rpc/shop/wait?x=1")).status).toBe(400);
      expect((await ask(role, "DELETE", "/rpc/shop/wait")).status).toBe(405);
    }
    const late = [call(), call()];
    await clock.pass(30_000);
    for (const answer of late) expect((await answer).status).toBe(504);
    const again = [call(), call()];
    await clock.pass(30_000);
    for (const answer of again) expect((await answer).status).toBe(504);
  });
});

describe("a call whose body is still coming", () => {
  /** A POST whose body is there once `arrive` is called. */
  function upload(role: Role) {
    let arrive = (): void => {};
    const body = new Promise<Uint8Array>(
      (resolve) => (arrive = () => resolve(new TextEncoder().encode("{}"))),
    );
    const answer = role.handle({
      method: "POST",
      target: "/rpc/shop/wait",
      scheme: "http",
      headers: { "content-type": "application/json", host: "localhost" },
      signal: new AbortController().signal,
      body: chunksOf(new Uint8Array()),
      readBody: async () => await body,
    });
    return { answer, arrive };
  }

  it("overload-5: a call takes no place among maxCalls while its body is still coming; if none is left when it is there, the call is refused", async () => {
    const { call, finish, role, clock } = await standalone(1);
    const [first, second] = [upload(role), upload(role)];
    await clock.pass(0);
    const running = call();
    await clock.pass(0);
    finish();
    expect((await running).status).toBe(204);
    first.arrive();
    await clock.pass(0);
    expect((await call()).status).toBe(503);
    second.arrive();
    expect(await second.answer).toMatchObject({
      status: 503,
      headers: { "x-svc-not-started": "overload" },
    });
    finish();
    expect((await first.answer).status).toBe(204);
  });

  it("takes none either when it is late or fails, however it ends (overload-5)", async () => {
    const { call, finish, role, clock } = await standalone(1);
    const late = [upload(role), upload(role)];
    await clock.pass(30_000);
    for (const { answer } of late) expect((await answer).status).toBe(504);
    late.forEach(({ arrive }) => arrive());
    for (let round = 0; round < 2; round++) {
      const running = call();
      await clock.pass(0);
      expect((await call()).status).toBe(503);
      finish();
      expect((await running).status).toBe(204);
    }
  });
});

/** A clock that also moves while something computes. */
class BusyClock extends TestClock {
  #computed = 0;

  override now(): number {
    return super.now() + this.#computed;
  }

  compute(ms: number): void {
    this.#computed += ms;
  }
}

describe("calls that compute, while the event loop is late", () => {
  async function computing() {
    const begun: string[] = [];
    const next: (() => void)[] = [];
    const state = { isBusy: true };
    const loop = {
      ...prompt,
      isBusy: () => state.isBusy,
      turn: (run: () => void) => void next.push(run),
    };
    const clock = new BusyClock();
    const local = new TestDeployment({ loop, clock });
    const modules = testModules(
      ["shop/compute", "shop/other"].map((fqn) => ({
        fqn,
        parameters: names("call", "ms"),
        in: { all: "public" },
        body: body(fqn, async (_context, _graph, call: string, ms: string) => {
          begun.push(call);
          clock.compute(Number(ms));
        }),
      })),
    );
    const role = await local.standalone({ modules, segments: ["all"] });
    const call = async (name: number, ms = 5, procedure = "compute") =>
      await ask(role, "GET", `/rpc/shop/${procedure}?call=${name}&ms=${ms}`);
    const turn = async (count = 1): Promise<void> => {
      await settle();
      for (let turned = 0; turned < count; turned++) {
        for (const run of next.splice(0)) {
          run();
          await settle();
        }
      }
    };
    /** Until no call waits. */
    const turns = async (): Promise<void> => {
      await settle();
      while (next.length > 0) await turn();
    };
    return { begun, call, state, role, turn, turns };
  }

  it("overload-6: while the event loop is late, calls of a procedure begin in the order in which they came, and requests are read between them", async () => {
    const { begun, call, turn, turns } = await computing();
    const calls = [call(0), call(1)];
    await turn(8);
    expect(begun).toEqual([]);
    calls.push(call(2));
    await turn(1);
    expect(begun).toEqual(["0"]);
    await turn(8);
    expect(begun).toEqual(["0"]);
    await turn(1);
    expect(begun).toEqual(["0", "1"]);
    await turns();
    expect(begun).toEqual(["0", "1", "2"]);
    for (const answer of calls) expect((await answer).status).toBe(204);
  });

  it("begin together if they are short, fewer when they are longer (overload-6)", async () => {
    const { begun, call, turn } = await computing();
    for (let name = 0; name < 60; name++) void call(name, name < 31 ? 0.1 : 1);
    for (const count of [1, 3, 7, 15, 31, 60]) {
      await turn(9);
      expect(begun).toHaveLength(count);
    }
    for (let name = 60; name < 80; name++) void call(name);
    await turn(9);
    expect(begun).toHaveLength(67);
    await turn(9);
    expect(begun).toHaveLength(68);
  });

  it("begin at once when the loop is prompt again and none of them waits (overload-6)", async () => {
    const { begun, call, state, turn, turns } = await computing();
    void call(0);
    state.isBusy = false;
    void call(1);
    await turn(1);
    expect(begun).toEqual([]);
    await turn(8);
    expect(begun).toEqual(["0", "1"]);
    await turns();
    void call(2);
    await turn(0);
    expect(begun).toEqual(["0", "1", "2"]);
  });

  it("line up until those that wait take less than 100 ms (overload-6)", async () => {
    const { begun, call, state, turn, turns } = await computing();
    for (let name = 0; name < 60; name++) void call(name);
    // By then it shows how long these calls take.
    await turn(9 * 20);
    expect(begun).toHaveLength(20);
    state.isBusy = false;
    void call(60);
    await turn(9);
    expect(begun).toHaveLength(21);
    await turn(9 * 22);
    expect(begun).toHaveLength(43);
    void call(61);
    await turn(9);
    expect(begun).toHaveLength(62);
    await turns();
  });

  it("overload-7: a call that would wait for more than 500 ms before it begins, behind 16 others or more, is refused at once", async () => {
    const { begun, call, role, turn, turns } = await computing();
    const calls = Array.from({ length: 150 }, (_, name) => call(name));
    // By then it shows how long these calls take.
    await turn(9 * 40);
    expect(begun).toHaveLength(40);
    expect(await call(150)).toMatchObject({
      status: 503,
      headers: { "retry-after": "1", "x-svc-not-started": "overload" },
    });
    expect((await ask(role, "GET", "/health/live")).status).toBe(200);
    await turn(9 * 10);
    calls.push(call(151));
    await turn(0);
    expect((await call(152)).status).toBe(503);
    await turns();
    for (const answer of calls) expect((await answer).status).toBe(204);
    expect(begun).toHaveLength(151);
  });

  it("are never too many if fewer than 16 wait, however slow they are (overload-7)", async () => {
    const { call, turn, turns } = await computing();
    const calls = Array.from({ length: 16 }, (_, name) => call(name, 1_000));
    for (let more = 0; more < 8; more++) {
      await turn(9);
      calls.push(call(16 + more, 1_000));
    }
    await turns();
    for (const answer of calls) expect((await answer).status).toBe(204);
  });

  it("overload-9: calls of different procedures take turns, so those of one neither wait behind many of another that computes long, nor are refused because of them", async () => {
    const { begun, call, turn, turns } = await computing();
    // All of them have come before it shows how long they take.
    const calls = Array.from({ length: 200 }, (_, name) => call(name, 15));
    await turn(9 * 20);
    expect(begun).toHaveLength(20);
    expect((await call(200, 15)).status).toBe(503);
    for (const name of [1_000, 1_001, 1_002]) calls.push(call(name, 0.1, "other"));
    await turn(9 * 2);
    expect(begun.slice(20)).toEqual(["20", "1000"]);
    await turn(9 * 2);
    expect(begun.slice(22)).toEqual(["21", "1001", "1002"]);
    await turns();
    for (const answer of calls) expect((await answer).status).toBe(204);
  });

  it("are too many if all procedures together would keep the loop for more than 500 ms before them (overload-7)", async () => {
    const { begun, call, turn, turns } = await computing();
    const calls: ReturnType<typeof call>[] = [];
    for (let name = 0; name < 120; name++)
      calls.push(call(name, 5), call(1_000 + name, 5, "other"));
    await turn(9 * 80);
    expect(begun).toHaveLength(80);
    // 80 of each, for 400 ms.
    expect((await call(120)).status).toBe(503);
    expect((await call(1_120, 5, "other")).status).toBe(503);
    await turn(9 * 62);
    calls.push(call(121), call(1_121, 5, "other"));
    await turns();
    for (const answer of calls) expect((await answer).status).toBe(204);
  });

  it("don't run if they are over, or their caller has left, before they begin (overload-6)", async () => {
    const { begun, call, role, turn, turns } = await computing();
    const controller = new AbortController();
    const target = "/rpc/shop/compute?call=0&ms=5";
    const left = ask(role, "GET", target, {}, "", controller.signal).catch(String);
    const late = call(1);
    await turn(0);
    controller.abort();
    await turns();
    await late;
    expect(begun).toEqual(["1"]);
    await left;
  });
});

/** An admission whose event loop is late by `delay.ms`. */
function admission(most: number) {
  const clock = new TestClock();
  const delay = { ms: 0, watched: 0 };
  const loop = {
    watch: () => void delay.watched++,
    unwatch: () => void delay.watched--,
    delay: () => delay.ms,
    isBusy: () => false,
    turn: (next: () => void) => void setImmediate(next),
  };
  const log = new TestLog();
  const calls = new Admission({ clock, loop, log }, most);
  /** How many of so many calls may run. */
  const places: Place[] = [];
  const enter = (count: number): number => {
    for (let entered = 0; entered < count; entered++) {
      const place = calls.enter("shop/wait");
      if (place === undefined) return entered;
      places.push(place);
    }
    return count;
  };
  const leave = (count: number): void => {
    for (const place of places.splice(0, count)) calls.leave(place);
  };
  /** How many may run. */
  const room = (): number => {
    const entered = enter(10_000);
    leave(entered);
    return entered;
  };
  return { clock, delay, enter, leave, log, room, figures: () => calls.figures };
}

describe("how many calls may run", () => {
  it("overload-8: the log says how many calls were refused and why, within a second and then every 10 s at most", async () => {
    const { clock, delay, enter, leave, log } = admission(20);
    enter(20);
    await clock.pass(5_000);
    expect(log.lines).toEqual([]);
    enter(1);
    await clock.pass(1_000);
    const full = "20 were running, which is limits.maxCalls";
    expect(log.lines).toEqual([`warning: refused 1 call with 503: ${full}`]);
    for (let seconds = 0; seconds < 9; seconds++) {
      enter(1);
      await clock.pass(1_000);
    }
    expect(log.lines).toHaveLength(1);
    await clock.pass(1_000);
    expect(log.lines[1]).toBe(`warning: refused 9 calls with 503: ${full}`);
    leave(20);
    delay.ms = 200;
    await clock.pass(1_000);
    enter(20);
    enter(1);
    leave(16);
    delay.ms = 0;
    await clock.pass(30_000);
    expect(log.lines.slice(2)).toEqual([
      "warning: refused 2 calls with 503: the event loop was busy with the others",
    ]);
    expect([delay.watched, clock.waiting]).toEqual([0, 0]);
  });

  it("overload-2: while the event loop is more than 100 ms late, a fifth fewer calls may run each second, but at least 16", async () => {
    const { clock, delay, enter, room } = admission(1_000);
    enter(100);
    delay.ms = 101;
    await clock.pass(999);
    expect(room()).toBe(900);
    await clock.pass(1);
    expect(room()).toBe(700);
    await clock.pass(1_000);
    expect(room()).toBe(540);
    await clock.pass(20_000);
    expect(room()).toBe(0);
  });

  it("overload-3: once it is less than 20 ms late, a twentieth more may run each second, up to maxCalls", async () => {
    const { clock, delay, enter, leave, room } = admission(100);
    enter(100);
    delay.ms = 200;
    await clock.pass(1_000);
    leave(100);
    expect(room()).toBe(80);
    delay.ms = 50;
    await clock.pass(1_000);
    expect(room()).toBe(80);
    delay.ms = 19;
    await clock.pass(1_000);
    expect(room()).toBe(84);
    await clock.pass(10_000);
    expect(room()).toBe(100);
    delay.ms = 500;
    for (let seconds = 0; seconds < 60; seconds++) {
      leave(enter(1_000));
      await clock.pass(1_000);
    }
    expect(room()).toBe(16);
  });

  it("figures say for how long the oldest and the middle one of the calls that run have been running", async () => {
    const { clock, enter, leave, figures } = admission(10);
    expect(figures()).toMatchObject({ running: 0, medianMs: 0, oldestMs: 0 });
    for (const ms of [400, 200, 100]) {
      enter(1);
      await clock.pass(ms);
    }
    expect(figures()).toMatchObject({ running: 3, limit: 10, medianMs: 300, oldestMs: 700 });
    leave(1);
    expect(figures()).toMatchObject({ running: 2, oldestMs: 300 });
    leave(2);
    expect(figures()).toMatchObject({ running: 0, medianMs: 0, oldestMs: 0 });
  });

  it("overload-4: without calls nobody watches the event loop", async () => {
    const { clock, delay, enter, leave } = admission(10);
    expect(delay.watched).toBe(0);
    leave(enter(5));
    expect(delay.watched).toBe(1);
    await clock.pass(3_000);
    expect([delay.watched, clock.waiting]).toEqual([0, 0]);
    leave(enter(5));
    expect(delay.watched).toBe(1);
  });
});
