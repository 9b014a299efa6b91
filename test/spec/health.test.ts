import { describe, expect, it } from "vitest";

import type { HealthCheck } from "../../src/http/health.ts";
import { ask, settle } from "../_cluster.ts";
import { gatewayWith } from "./_members.ts";
import { services } from "./_services.ts";

const saying = (healthy: boolean, details?: () => Promise<unknown>): HealthCheck => ({
  isHealthy: async () => healthy,
  ...(details === undefined ? {} : { details: details as () => Promise<Record<string, unknown>> }),
});

const roles = ["node", "gateway", "proxy", "standalone", "repository"] as const;
const json = {
  "content-type": "application/json",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
};

describe.each(roles)("health of a %s", (kind) => {
  it("health-5, health-12: GET /health/status answers 200 and a boolean that says whether the service is healthy", async () => {
    const { [kind]: role } = await services();
    expect(await ask(role, "GET", "/health/status")).toMatchObject({
      status: 200,
      text: "true",
      headers: json,
    });
    role.addHealthCheck("database", saying(true));
    expect(await ask(role, "GET", "/health/status")).toMatchObject({ status: 200, text: "true" });
    role.addHealthCheck("disk", saying(false));
    expect(await ask(role, "GET", "/health/status")).toMatchObject({
      status: 200,
      text: "false",
      headers: json,
    });
  });

  it("health-6: GET /health answers a JSON object with each registered check", async () => {
    const { [kind]: role } = await services();
    role.addHealthCheck("database", saying(true));
    role.addHealthCheck(
      "disk",
      saying(false, async () => ({ free: 3 })),
    );
    expect(await ask(role, "GET", "/health")).toMatchObject({
      status: 200,
      headers: json,
      text: '{"database":true,"disk":{"free":3,"healthy":false}}',
    });
  });

  it("health-9: GET /health answers an empty object when no check is registered", async () => {
    expect(await ask((await services())[kind], "GET", "/health")).toMatchObject({
      status: 200,
      headers: json,
      text: "{}",
    });
  });

  it("health-17: GET /health/live answers 200 as long as the service answers at all", async () => {
    const all = await services({ started: false });
    all[kind].addHealthCheck("disk", saying(false));
    expect(await ask(all[kind], "GET", "/health/live")).toMatchObject({
      status: 200,
      headers: json,
    });
    await all.start();
    expect(await ask(all[kind], "GET", "/health/live")).toMatchObject({ status: 200 });
    const stopped = all[kind].stop();
    expect(await ask(all[kind], "GET", "/health/live")).toMatchObject({ status: 200 });
    await settle();
    await all.clock.pass(5000);
    await stopped;
  });

  it("health-18: GET /health/ready answers 200 when the service is started and healthy, else 503", async () => {
    const all = await services({ started: false });
    const ready = async () => (await ask(all[kind], "GET", "/health/ready")).status;
    expect(await ready()).toBe(503);
    await all.start();
    expect(await ready()).toBe(200);
    all[kind].addHealthCheck("disk", saying(false));
    expect(await ready()).toBe(503);
    all[kind].addHealthCheck("disk", saying(true));
    expect(await ready()).toBe(200);
    const stopped = all[kind].stop();
    expect(await ready()).toBe(503);
    await settle();
    await all.clock.pass(5000);
    await stopped;
  });

  it.each(["/health", "/health/status", "/health/live", "/health/ready"])(
    "%s answers 405 to methods other than GET and HEAD (health-5)",
    async (path) => {
      const { [kind]: role } = await services();
      expect((await ask(role, "HEAD", path)).status).toBe(200);
      for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
        expect(await ask(role, method, path)).toMatchObject({
          status: 405,
          headers: { allow: "GET, HEAD" },
        });
    },
  );
});

describe("the answer of GET /health", () => {
  it("requests that ask while a check or its details() run share them: each runs once (health-14)", async () => {
    const { node } = await services();
    const runs = { healthy: 0, details: 0 };
    let finish = (): void => {};
    const done = new Promise<void>((resolve) => (finish = resolve));
    node.addHealthCheck("database", {
      async isHealthy() {
        runs.healthy++;
        await done;
        return true;
      },
      async details() {
        runs.details++;
        await done;
        return { rows: 3 };
      },
    });
    const paths = ["/health", "/health", "/health/status", "/health/ready", "/health"];
    const answers = paths.map((path) => ask(node, "GET", path));
    await settle();
    finish();
    const texts = (await Promise.all(answers)).map(({ text }) => text);
    const shown = '{"database":{"rows":3,"healthy":true}}';
    expect(texts).toEqual([shown, shown, "true", "true", shown]);
    expect(runs).toEqual({ healthy: 1, details: 1 });
    await ask(node, "GET", "/health");
    expect(runs).toEqual({ healthy: 2, details: 2 });
  });

  it("health-7, health-13: GET /health has each check under its name, as a boolean", async () => {
    const { node } = await services();
    node.addHealthCheck("the database", saying(true));
    node.addHealthCheck("disk/0", saying(false));
    expect((await ask(node, "GET", "/health")).text).toBe('{"the database":true,"disk/0":false}');
  });

  it("health-8, health-14: GET /health has what a check's details() returns, beside healthy, as an object", async () => {
    const { node } = await services();
    const at = new Date(0);
    node.addHealthCheck(
      "database",
      saying(true, async () => ({ connections: 3, at, healthy: "a lie", nested: { a: [1] } })),
    );
    expect(JSON.parse((await ask(node, "GET", "/health")).text)).toEqual({
      database: { connections: 3, at: at.toISOString(), nested: { a: [1] }, healthy: true },
    });
  });

  it.each<[string, () => unknown, string]>([
    [
      "throws",
      () => Promise.reject(new Error("no details")),
      "error: health check 'odd' failed (no details)",
    ],
    [
      "throws at once",
      () => {
        throw new Error("no details");
      },
      "error: health check 'odd' failed (no details)",
    ],
    [
      "gives a text",
      async () => "fine",
      "must return an object that JSON can carry (it is string)",
    ],
    ["gives a list", async () => [1], "must return an object that JSON can carry (it is a list)"],
    ["gives null", async () => null, "must return an object that JSON can carry (it is null)"],
    [
      "gives a date",
      async () => new Date(0),
      "must return an object that JSON can carry (it is string)",
    ],
    ["gives a bigint inside", async () => ({ n: 1n }), "must return an object that JSON can carry"],
    [
      "gives a circle",
      async () => {
        const a: Record<string, unknown> = {};
        a["a"] = a;
        return a;
      },
      "must return an object that JSON can carry",
    ],
  ])(
    "GET /health is complete even if details() of one check %s, which is logged (health-14)",
    async (_, details, line) => {
      const { node, log } = await services();
      node.addHealthCheck("odd", saying(true, details as () => Promise<unknown>));
      node.addHealthCheck("other", saying(true));
      expect(await ask(node, "GET", "/health")).toMatchObject({
        status: 200,
        text: '{"odd":{"healthy":true},"other":true}',
      });
      expect(log.lines.join("\n")).toContain(line);
    },
  );

  it("GET /health answers after 5 s even if details() of one check never ends (health-14)", async () => {
    const { node, clock } = await services();
    node.addHealthCheck(
      "odd",
      saying(true, () => new Promise(() => {})),
    );
    const pending = ask(node, "GET", "/health");
    await settle();
    await clock.pass(5000);
    expect((await pending).text).toBe('{"odd":{"healthy":true}}');
  });
});

describe("a check", () => {
  it("health-15: a check that throws is unhealthy, and its error is logged", async () => {
    const { node, log } = await services();
    node.addHealthCheck("late", { isHealthy: () => Promise.reject(new Error("no connection")) });
    node.addHealthCheck("at once", {
      isHealthy: () => {
        throw new Error("no driver");
      },
    });
    expect((await ask(node, "GET", "/health/status")).text).toBe("false");
    expect((await ask(node, "GET", "/health")).text).toBe('{"late":false,"at once":false}');
    expect(log.lines).toContain("error: health check 'late' failed (no connection)");
    expect(log.lines).toContain("error: health check 'at once' failed (no driver)");
  });

  it("health-16: a check that takes over 5 s is unhealthy, and one that takes less is not", async () => {
    const { node, clock, log } = await services();
    let end = (): void => {};
    node.addHealthCheck("slow", {
      isHealthy: () => new Promise((resolve) => (end = () => resolve(true))),
    });
    const within = ask(node, "GET", "/health/status");
    await settle();
    await clock.pass(4999);
    end();
    expect((await within).text).toBe("true");
    const late = ask(node, "GET", "/health/status");
    await settle();
    await clock.pass(5000);
    expect((await late).text).toBe("false");
    expect(log.lines).toContain("warning: health check 'slow' took over 5000 ms");
  });
});

describe("those who ask", () => {
  it("health-11: anybody may request health: it needs no key and reveals none", async () => {
    const { node } = await services();
    const headers = {
      "x-svc-trust-key": "wrong",
      origin: "http://elsewhere",
      "sec-fetch-site": "cross-site",
    };
    for (const path of ["/health", "/health/status", "/health/live", "/health/ready"])
      expect(await ask(node, "GET", path, headers)).toMatchObject({ status: 200, headers: json });
  });

  it("health-10: the gateway asks each member GET /health/status over its link, and sends no calls to an unhealthy one", async () => {
    const { node, gateway, clock } = await services();
    const call = () => ask(gateway, "GET", "/rpc/app/echo?value=a");
    let healthy = true;
    node.addHealthCheck("disk", { isHealthy: async () => healthy });
    expect((await call()).text).toBe("a");
    healthy = false;
    await clock.pass(1_000);
    expect(await call()).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    healthy = true;
    await clock.pass(1_000);
    expect((await call()).text).toBe("a");
  });
});

describe("a gateway's questions about the health of a member", () => {
  const asked = "/health/status";

  it("come when it announces itself, and each second (health-10)", async () => {
    const { members, clock } = await gatewayWith(["a"]);
    const [a] = members;
    await settle();
    expect(a!.asked).toMatchObject([{ from: "key", method: "GET", target: asked }]);
    await clock.pass(3_000);
    expect(a!.asked).toHaveLength(4);
    await a!.join({ procedures: ["shop/order"] });
    await settle();
    expect(a!.asked).toHaveLength(5);
  });

  it("are spread over the second: of many members a tenth is asked at a time (health-10)", async () => {
    const names = Array.from({ length: 40 }, (_, index) => `m${index}`);
    const { members, clock } = await gatewayWith(names);
    await settle();
    const count = (): number => members.reduce((sum, { asked: all }) => sum + all.length, 0);
    for (let tenth = 0; tenth < 20; tenth++) {
      const before = count();
      await clock.pass(100);
      expect(count() - before).toBe(4);
    }
    expect(members.map(({ asked: all }) => all.length)).toEqual(names.map(() => 3));
  });

  it("a member that is unhealthy when it announces itself is out as soon as it has said so (health-10)", async () => {
    const { members, call } = await gatewayWith(["a"]);
    const [a] = members;
    a!.isHealthy = false;
    await a!.join({ procedures: ["shop/order"] });
    await settle();
    expect(await call("shop/order")).toBe("503 NodeNotAvailable");
  });

  it("aren't asked while an answer is awaited, which says nothing about its health (health-10)", async () => {
    const { members, clock, call } = await gatewayWith(["a"]);
    const [a] = members;
    await settle();
    a!.isHealthy = undefined;
    await clock.pass(30_000);
    expect(a!.asked).toHaveLength(2);
    expect(await call("shop/order")).toBe("200 a");
    a!.isHealthy = false;
    a!.release(asked, { status: 200, body: "false" });
    await settle();
    expect(await call("shop/order")).toBe("503 NodeNotAvailable");
    a!.isHealthy = true;
    await clock.pass(1_000);
    expect(a!.asked).toHaveLength(3);
    expect(await call("shop/order")).toBe("200 a");
  });

  it.each([
    { status: 503, body: "false" },
    { status: 200, body: "maybe" },
  ])("an answer that is neither true nor false says nothing (health-10): %o", async (answer) => {
    const { members, clock, call } = await gatewayWith(["a"]);
    const [a] = members;
    await settle();
    a!.isHealthy = undefined;
    await clock.pass(1_000);
    a!.release(asked, answer);
    await settle();
    expect(await call("shop/order")).toBe("200 a");
  });
});
