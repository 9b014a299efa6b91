import { beforeAll, describe, expect, it } from "vitest";

import { ask } from "../_cluster.ts";
import { deploy, type Deployment, key, sentBy, urls } from "../_deployment.ts";

let cluster: Deployment;
beforeAll(async () => {
  cluster = await deploy();
});

const trusted = { "x-svc-trust-key": key };

/** What the procedure `shop/whoami` has in `this.headers`, called by way of the proxy. */
async function seen(
  headers: Record<string, string>,
  procedure = "shop/whoami",
): Promise<Record<string, string>> {
  const answer = await ask(cluster.proxy, "GET", `/rpc/${procedure}`, headers);
  expect(answer.status).toBe(200);
  return JSON.parse(answer.text) as Record<string, string>;
}

/** What was sent to an address for one request at the proxy. */
async function sentTo(
  to: string,
  headers: Record<string, string>,
): Promise<Readonly<Record<string, string>>> {
  const { proxy, network } = await deploy();
  network.sent.length = 0;
  await ask(proxy, "GET", "/rpc/shop/whoami", headers);
  return network.sent.find(({ url }) => url.startsWith(`${to}/rpc/`))?.headers ?? {};
}

const hopByHop = {
  connection: "keep-alive",
  "keep-alive": "timeout=5",
  "proxy-connection": "keep-alive",
  "proxy-authenticate": "Basic",
  "proxy-authorization": "Basic a",
  te: "trailers",
  trailer: "expires",
  "transfer-encoding": "chunked",
  upgrade: "h2c",
};

// All that a procedure's own caller has sent, and that says nothing of the calls which the procedure makes.
const ofTheOuterCall = {
  "content-language": "de",
  "content-location": "/a",
  accept: "text/html",
  "accept-encoding": "br",
  range: "bytes=0-1",
  "if-none-match": '"1"',
  "if-modified-since": "yesterday",
  "if-range": '"1"',
  expect: "100-continue",
  origin: "http://localhost",
  referer: "http://localhost/1",
  "sec-fetch-mode": "cors",
  "sec-ch-ua": "browser",
  "access-control-request-method": "POST",
  host: "localhost",
  "user-agent": "curl",
};

describe("headers that gateway and proxy pass on", () => {
  it("D5.headers-1 gateway and proxy pass on all headers but those of the connection", async () => {
    const kept = {
      authorization: "Bearer 1",
      cookie: "a=b",
      "x-tenant": "7",
      accept: "text/html",
      origin: "http://page",
      "user-agent": "curl",
      traceparent: "00-1",
    };
    for (const to of [urls.gateway, urls.b]) {
      const sent = await sentTo(to, { ...kept, ...hopByHop });
      expect(sent).toMatchObject(kept);
      for (const name of Object.keys(hopByHop)) expect(sent, to).not.toHaveProperty(name);
    }
  });

  it("D5.headers-2 gateway and proxy pass on no header that Connection names", async () => {
    for (const connection of ["x-named", "close, X-Named", "keep-alive ,x-named, x-other"]) {
      const sent = await sentTo(urls.gateway, { connection, "x-named": "1", "x-kept": "2" });
      expect(sent).not.toHaveProperty("x-named");
      expect(sent).toHaveProperty("x-kept");
    }
    // Nobody gets rid of what this service says by naming it there.
    expect(
      await sentTo(urls.b, { connection: "x-svc-credential, x-svc-trust-key, x-svc-hops" }),
    ).toMatchObject({
      ...sentBy.outside,
      "x-svc-hops": "2",
    });
  });

  it("D5.headers-3 gateway and proxy pass on no x-svc-* from outside but the encoding", async () => {
    const outside = {
      "x-svc-other": "1",
      "x-svc-node": "me",
      "x-svc-error": "x",
      "x-svc-data-type": "x",
      "x-svc-hops": "7",
      "x-svc-deadline": "1",
    };
    for (const to of [urls.gateway, urls.b]) {
      const sent = await sentTo(to, { ...outside, "x-svc-data-encoding": "serialized" });
      expect(
        Object.keys(sent)
          .filter((name) => name.startsWith("x-svc-"))
          .toSorted(),
      ).toEqual([
        "x-svc-credential",
        "x-svc-cross-site",
        "x-svc-data-encoding",
        "x-svc-deadline",
        "x-svc-hops",
      ]);
      expect([sent["x-svc-hops"], sent["x-svc-deadline"]]).toEqual([
        to === urls.gateway ? "1" : "2",
        "30000",
      ]);
    }
  });

  it("from outside, hops and deadline mean nothing; a member's count (D5.headers-3)", async () => {
    const status = async (headers: Record<string, string>): Promise<number> =>
      (await ask(cluster.gateway, "GET", "/rpc/shop/stock?sku=1", headers)).status;
    expect(await status({ "x-svc-hops": "99", "x-svc-deadline": "0" })).toBe(200);
    expect(await status({ ...trusted, "x-svc-hops": "8" })).toBe(508);
    expect(await status({ ...trusted, "x-svc-hops": "7" })).toBe(200);
    expect(await status({ ...trusted, "x-svc-deadline": "0" })).toBe(504);
  });

  it("D5.headers-4 gateway and proxy pass on no trust key: the first door reads it, and the proxy sends none to the repository for others", async () => {
    expect(await sentTo(urls.gateway, { "x-svc-trust-key": "a guess" })).toMatchObject(
      sentBy.outside,
    );
    const { proxy, network } = await deploy();
    await ask(proxy, "GET", "/index.html", {
      ...trusted,
      "x-svc-data-encoding": "serialized",
      connection: "x-a",
      "x-a": "1",
      "if-none-match": '"1"',
    });
    const asked = network.sent.find(({ url }) => url === "http://repository/index.html");
    expect(asked?.headers).toEqual({
      ...sentBy.outside,
      "x-forwarded-proto": "http",
      "if-none-match": '"1"',
    });
  });

  it("what a middleware sets goes on, also under a name that the caller's Connection takes (D5.headers-2)", async () => {
    for (const door of ["proxy", "gateway", "a"] as const) {
      const deployment = await deploy();
      const seen: unknown[] = [];
      deployment[door].addMiddleware({
        async handle(_fqn, _version, _args, fields, next) {
          seen.push(fields.get("x-user"));
          fields.set("x-user", "guest");
          return await next();
        },
      });
      const name = door === "a" ? "shop/viaWhoami" : "shop/whoami";
      const answer = await ask(deployment.proxy, "GET", `/rpc/${name}`, {
        connection: "x-user",
        "x-user": "admin",
      });
      expect(seen[0]).toBeUndefined();
      expect(answer.text).toContain("guest");
      expect(answer.text).not.toContain("admin");
    }
  });

  it("an answer comes back without the headers of its connection (D5.headers-1)", async () => {
    const { proxy, network, b } = await deploy();
    network.roles.set(urls.b, {
      ...b,
      handle: async (request) => {
        const answer = await b.handle(request);
        return {
          ...answer,
          headers: {
            ...answer.headers,
            connection: "x-of-the-connection",
            "x-of-the-connection": "1",
            "keep-alive": "5",
            "x-kept": "2",
            "set-cookie": ["a=1", "b=2"],
          },
        };
      },
    });
    const { headers } = await ask(proxy, "GET", "/rpc/shop/stock?sku=1");
    expect(headers).toMatchObject({
      "x-kept": "2",
      "set-cookie": ["a=1", "b=2"],
      "x-svc-data-type": "number",
    });
    for (const name of ["connection", "keep-alive", "x-of-the-connection", "x-svc-trust-key"])
      expect(headers).not.toHaveProperty(name);
  });
});

describe("headers that go from a procedure to another", () => {
  it.each(Object.entries(ofTheOuterCall))(
    "D5.headers-5 from a procedure to another go the headers of the context, but none that is about the outer call itself: %s",
    async (name, value) => {
      const inner = await seen(
        { authorization: "Bearer 1", host: "localhost", [name]: value },
        "shop/viaWhoami",
      );
      expect(inner).toMatchObject({ authorization: "Bearer 1" });
      expect(inner).not.toHaveProperty(name);
    },
  );

  it("nor those of the outer call's connection (D5.headers-5)", async () => {
    const inner = await seen(
      { ...hopByHop, connection: "x-named", "x-named": "1", "x-kept": "2" },
      "shop/viaWhoami",
    );
    expect(inner).toHaveProperty("x-kept");
    for (const name of [...Object.keys(hopByHop), "x-named"])
      expect(inner).not.toHaveProperty(name);
  });

  it("D5.headers-6 from a procedure to another goes no x-svc-*: the inner call sets hops, deadline, origin and its own encoding", async () => {
    const { proxy, network, clock } = await deploy();
    await ask(proxy, "GET", "/rpc/shop/viaWhoami", {
      "x-svc-other": "1",
      "x-svc-data-encoding": "serialized",
    });
    const inner =
      network.sent.filter(({ url }) => url.startsWith(`${urls.gateway}/rpc/shop/whoami`)).at(-1)
        ?.headers ?? {};
    expect(inner).toMatchObject({
      "x-svc-hops": "3",
      "x-svc-deadline": String(30_000 - clock.now()),
      ...sentBy.service,
      "content-type": "application/json",
    });
    expect(inner).not.toHaveProperty("x-svc-other");
    expect(inner["x-svc-data-encoding"]).toMatch(/^serialized\b/);
    // Nor those of a context that somebody made.
    const { a, network: other } = await deploy();
    other.sent.length = 0;
    await a.runProcedure?.(
      "shop/whoami",
      "",
      {},
      { headers: { "x-svc-other": "1", ...sentBy.outside, "x-kept": "2" } },
    );
    expect(other.sent[0]?.headers).toMatchObject({ ...sentBy.service, "x-kept": "2" });
    expect(other.sent[0]?.headers).not.toHaveProperty("x-svc-other");
  });

  it.each(["shop/whoami", "shop/viaWhoami"])(
    "D5.headers-7 the trust key never reaches a procedure's headers: %s",
    async (procedure) => {
      const inner = await seen(
        { ...trusted, "x-svc-hops": "1", authorization: "Bearer 1" },
        procedure,
      );
      expect(inner).toMatchObject({ authorization: "Bearer 1" });
      expect(
        Object.keys(inner).filter(
          (name) => name.startsWith("x-svc-") && name !== "x-svc-data-encoding",
        ),
      ).toEqual([]);
      expect(JSON.stringify(inner)).not.toContain(key);
      const direct = await ask(cluster.b, "GET", "/rpc/shop/whoami", trusted);
      expect(direct.text).not.toContain(key);
    },
  );

  it.each(["b", "gateway", "proxy"] as const)(
    "nor middleware's, which can't add what services say to each other, at the %s (D5.headers-7)",
    async (door) => {
      const deployment = await deploy();
      const met: string[] = [];
      deployment[door].addMiddleware({
        handle: async (_fqn, _version, _args, headers, next) => {
          met.push(...headers.keys());
          headers.set("x-svc-credential", sentBy.service["x-svc-credential"] ?? "");
          headers.set("x-svc-trust-key", key);
          headers.set("x-of-the-layer", "1");
          return await next();
        },
      });
      const answer = await ask(deployment[door], "GET", "/rpc/shop/whoami", {
        ...trusted,
        "x-svc-other": "1",
      });
      expect(met.filter((name) => name.startsWith("x-svc-"))).toEqual([]);
      expect(JSON.parse(answer.text)).toMatchObject({ "x-of-the-layer": "1" });
      if (door !== "b") expect(answer.text).not.toContain(key);
      expect((await ask(deployment[door], "GET", "/rpc/shop/audit")).status).toBe(401);
    },
  );
});
