// When gateway and proxy load the application's modules to decode arguments, and what they do
// without.

import { describe, expect, it } from "vitest";

import { Opaque } from "../../src/codec/class-table.ts";
import { ask, settle } from "../_cluster.ts";
import { deploy } from "../_deployment.ts";
import { type Look, money, odd, pass, serialized } from "./_passing.ts";
import { Money } from "./_shop.ts";

describe.each(["gateway", "proxy"] as const)("the application's modules at the %s", (endpoint) => {
  /** A deployment whose loads are counted. */
  async function counted() {
    const loads: string[] = [];
    const deployment = await deploy({ modules: true, loads });
    return { deployment, loads };
  }
  const instance = {
    target: "/rpc/shop/stock",
    headers: serialized,
    body: JSON.stringify({ sku: money }),
  };

  it("modules that load slowly delay one call by a second, and fail only calls whose middleware looks at values", async () => {
    let come = (): void => {};
    const held = new Promise<void>((resolve) => (come = resolve));
    // Services load this when they start with middleware; here it is added to one that runs.
    await import("../../src/roles/relay/through-middleware.ts");
    const deployment = await deploy({ modules: true, held });
    const get = { method: "GET", target: "/rpc/shop/stock?sku=1", headers: {} };
    const first = pass(endpoint, () => undefined, get, deployment);
    await settle();
    await deployment.clock.pass(1000);
    expect((await first).answer.text).toBe("5");
    expect((await pass(endpoint, () => undefined, get, deployment)).answer.text).toBe("5");
    expect((await pass(endpoint, (args) => args.size, get, deployment)).answer).toMatchObject({
      status: 503,
      headers: { "retry-after": "1" },
    });
    come();
    await settle();
    expect((await pass(endpoint, (args) => args.size, get, deployment)).answer.text).toBe("5");
  });

  it("modules are loaded once, when middleware first looks at an instance", async () => {
    const { deployment, loads } = await counted();
    await pass(endpoint, (args) => args.get("sku"), { body: '{"sku":"1"}' }, deployment);
    await pass(
      endpoint,
      (args) => args.get("sku"),
      { headers: serialized, body: '{"sku":[]}' },
      deployment,
    );
    expect(loads).toEqual([]);
    const { seen } = await pass(endpoint, (args) => args.get("sku"), instance, deployment);
    expect(seen).toEqual(new Money(3));
    expect(seen).toBeInstanceOf(Money);
    await pass(endpoint, (args) => args.get("sku"), instance, deployment);
    expect(loads.toSorted()).toEqual(["manifest", "shop/errors.js", "shop/money.js"]);
  });

  it("modules are loaded for a result with an instance; for the text of a GET, only the manifest is", async () => {
    const { deployment, loads } = await counted();
    await pass(
      endpoint,
      (args) => args.get("price"),
      { method: "GET", target: "/rpc/shop/double?price=4", headers: {} },
      deployment,
    );
    expect(loads).toEqual(["manifest"]);
    await pass(
      endpoint,
      () => undefined,
      { method: "GET", target: "/rpc/shop/double?price=4", headers: serialized },
      deployment,
    );
    expect(loads).toHaveLength(3);
  });

  it("modules that can't be loaded fail only the calls that need them, with 503; the next call tries again", async () => {
    const { deployment, loads } = await counted();
    loads.push("broken");
    const looking: Look = (args) => args.size;
    const first = await pass(endpoint, looking, instance, deployment);
    expect([
      first.answer.status,
      first.answer.headers["x-svc-error"],
      first.answer.headers["retry-after"],
    ]).toEqual([503, "NodeNotAvailable", "1"]);
    // The middleware could have looked at the value, but didn't.
    const broken = await deploy({ modules: true, loads: ["broken"] });
    expect((await pass(endpoint, () => undefined, instance, broken)).answer.text).toBe("5");
    const withoutInstance = await pass(endpoint, looking, { body: odd }, deployment);
    expect(withoutInstance.answer.text).toBe("5");
    loads.pop();
    expect((await pass(endpoint, looking, instance, deployment)).answer.text).toBe("5");
  });
});

it("configuration-18: without a repository, a gateway's middleware sees the values of a GET as text and passes instances on unopened", async () => {
  const layers = new Map<string, unknown>();
  const see = async (call: Parameters<typeof pass>[2], name: string) =>
    await pass("gateway", (args) => layers.set(name, args.get(name)), call, await deploy());
  const query = await see(
    { method: "GET", target: "/rpc/shop/double?price=4", headers: {} },
    "price",
  );
  expect([layers.get("price"), query.answer.text]).toEqual(["4", '{"cents":8}']);
  const instance = await see(
    { target: "/rpc/shop/double", headers: serialized, body: JSON.stringify({ price: 1, money }) },
    "money",
  );
  expect(layers.get("money")).toBeInstanceOf(Opaque);
  expect(JSON.parse(instance.answer.text)).toEqual({ ...money, args: { 0: 6 } });
  expect(JSON.parse(instance.sent?.body ?? "")).toEqual({ price: 1, money });
});

describe.each(["gateway", "proxy"] as const)(
  "a middleware on a %s without the application's modules",
  (endpoint) => {
    it("middleware without modules passes instances on unopened, as arguments and as results", async () => {
      const cluster = await deploy();
      cluster[endpoint].addMiddleware({
        handle: async (_fqn, _version, _args, _headers, next) => await next(),
      });
      const answer = await ask(
        cluster[endpoint],
        "POST",
        "/rpc/shop/double",
        serialized,
        JSON.stringify({ price: 1, money }),
      );
      expect(JSON.parse(answer.text)).toEqual({ ...money, args: { 0: 6 } });
    });

    it("middleware without modules sees the text of a GET, and may set what a query can carry", async () => {
      const get = { method: "GET", target: "/rpc/shop/double?price=4&version=0", headers: {} };
      const cluster = () => deploy();
      const read = await pass(endpoint, (args) => args.get("price"), get, await cluster());
      expect([read.seen, read.answer.text]).toEqual(["4", '{"cents":8}']);
      const changed = await pass(endpoint, (args) => args.set("price", 5), get, await cluster());
      expect(changed.sent).toMatchObject({
        method: "GET",
        target: "/rpc/shop/double?version=0&price=5",
      });
      expect(changed.answer.text).toBe('{"cents":10}');
      for (const value of [{ a: 1 }, [], null, undefined, new Date(Number.NaN)]) {
        const refused = await pass(
          endpoint,
          (args) => args.set("price", value),
          get,
          await cluster(),
        );
        expect([refused.answer.status, refused.answer.text]).toEqual([
          500,
          "args.price: a query can't carry it; set 'repository' in this service's configuration",
        ]);
      }
    });

    it("middleware without modules may change a plain call, and gets an error for what plain JSON can't carry", async () => {
      const mixed = await pass(
        endpoint,
        (args) => args.set("sku", "2"),
        { body: '{"sku":{"serialized":true,"name":"data"}}' },
        await deploy(),
      );
      expect(mixed.sent?.body).toBe('{"sku":"2"}');
      const refused = await pass(
        endpoint,
        (args) => args.set("sku", new Date(0)),
        { body: odd },
        await deploy(),
      );
      expect(refused.answer).toMatchObject({
        status: 500,
        headers: { "x-svc-error": "ValueNotSerializable" },
        text: expect.stringContaining("'repository'"),
      });
    });
  },
);

describe.each(["gateway", "proxy"] as const)("a cross-site call at the %s", (endpoint) => {
  const crossSite = { "sec-fetch-site": "cross-site" };

  it.each([
    ["a GET", { method: "GET", target: "/rpc/shop/stock?sku=1", headers: crossSite }],
    [
      "a form",
      {
        method: "POST",
        target: "/rpc/shop/stock",
        headers: { ...crossSite, "content-type": "text/plain" },
        body: "sku=1",
      },
    ],
  ])(
    "a cross-site call is refused before middleware runs if the application's modules are known (%s)",
    async (_, request) => {
      let ran = 0;
      const { answer, sent } = await pass(
        endpoint,
        () => ran++,
        request,
        await deploy({ modules: true }),
      );
      expect([answer.status, sent, ran]).toEqual([403, undefined, 0]);
    },
  );

  it("a cross-site call of a safe procedure goes through the middleware to the node", async () => {
    const get = { method: "GET", target: "/rpc/shop/safe", headers: crossSite };
    let ran = 0;
    for (const deployment of [await deploy({ modules: true }), await deploy()])
      expect((await pass(endpoint, () => ran++, get, deployment)).answer).toMatchObject({
        status: 200,
        text: "safe",
      });
    expect(ran).toBe(2);
  });

  it("a cross-site call is refused by the node if the modules aren't known, whatever middleware makes of its arguments", async () => {
    const get = { method: "GET", target: "/rpc/shop/stock?sku=1", headers: crossSite };
    const changed = await pass(endpoint, (args) => args.set("sku", "2"), get, await deploy());
    expect([changed.answer.status, changed.sent?.headers["x-svc-cross-site"]]).toEqual([
      403,
      "yes",
    ]);
  });
});
