import { describe, expect, it } from "vitest";

import { defaultLimits } from "../../src/codec/values/limits.ts";
import { chunksOf } from "../../src/http/bodies.ts";
import type { Role } from "../../src/roles/role.ts";
import { Admission } from "../../src/wire/admission.ts";
import { ask, TestClock, TestDeployment, testModules } from "../_cluster.ts";
import { body } from "./_shop.ts";

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

/** An admission whose event loop is late by `delay.ms`. */
function admission(most: number) {
  const clock = new TestClock();
  const delay = { ms: 0, watched: 0 };
  const loop = {
    watch: () => void delay.watched++,
    unwatch: () => void delay.watched--,
    delay: () => delay.ms,
  };
  const calls = new Admission({ clock, loop }, most);
  /** How many of so many calls may run. */
  const enter = (count: number): number => {
    let entered = 0;
    while (entered < count && calls.enter()) entered++;
    return entered;
  };
  const leave = (count: number): void => {
    for (let left = 0; left < count; left++) calls.leave();
  };
  /** How many may run. */
  const room = (): number => {
    const entered = enter(10_000);
    leave(entered);
    return entered;
  };
  return { clock, delay, enter, leave, room };
}

describe("how many calls may run", () => {
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
