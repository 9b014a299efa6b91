import { beforeAll, describe, expect, it } from "vitest";

import type { HttpRequest } from "../../src/base/ports.ts";
import { createRepository } from "../../src/roles/repository.ts";

import { ask } from "../_cluster.ts";
import { deploy, type Deployment, key, sentBy, urls } from "../_deployment.ts";

let cluster: Deployment;
beforeAll(async () => {
  cluster = await deploy();
});

const trusted = { "x-svc-trust-key": key };

/** `this.headers` of the procedure `shop/whoami`, called through the proxy. */
async function headersSeen(
  headers: Record<string, string>,
  procedure = "shop/whoami",
): Promise<Record<string, string>> {
  const answer = await ask(cluster.proxy, "GET", `/rpc/${procedure}`, headers);
  expect(answer.status).toBe(200);
  return JSON.parse(answer.text) as Record<string, string>;
}

/** The headers that were sent to an address for one request at the proxy. */
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

// Headers about the outer call, which don't apply to the calls that the procedure makes.
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
  it("headers-1: gateway and proxy pass on all headers except those of the connection", async () => {
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

  it("headers-2: gateway and proxy don't pass on headers that Connection names", async () => {
    for (const connection of ["x-named", "close, X-Named", "keep-alive ,x-named, x-other"]) {
      const sent = await sentTo(urls.gateway, { connection, "x-named": "1", "x-kept": "2" });
      expect(sent).not.toHaveProperty("x-named");
      expect(sent).toHaveProperty("x-kept");
    }
    // A caller can't remove this service's own headers by naming them there.
    expect(
      await sentTo(urls.b, { connection: "x-svc-credential, x-svc-trust-key, x-svc-hops" }),
    ).toMatchObject({
      ...sentBy.outside,
      "x-svc-hops": "2",
    });
  });

  it("headers-3: of x-svc-* from outside, gateway and proxy pass on only the encoding", async () => {
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
        "x-svc-cross-site",
        "x-svc-data-encoding",
        "x-svc-deadline",
        "x-svc-hops",
        "x-svc-request",
      ]);
      expect([sent["x-svc-hops"], sent["x-svc-deadline"]]).toEqual([
        to === urls.gateway ? "1" : "2",
        "30000",
      ]);
    }
  });

  it("hops and deadline count from a member, and are ignored from outside (headers-3)", async () => {
    const status = async (headers: Record<string, string>): Promise<number> =>
      (await ask(cluster.gateway, "GET", "/rpc/shop/stock?sku=1", headers)).status;
    expect(await status({ "x-svc-hops": "99", "x-svc-deadline": "0" })).toBe(200);
    expect(await status({ ...sentBy.trusted, "x-svc-hops": "8" })).toBe(508);
    expect(await status({ ...sentBy.trusted, "x-svc-hops": "7" })).toBe(200);
    expect(await status({ ...sentBy.trusted, "x-svc-deadline": "0" })).toBe(504);
    // People with the key are no service.
    expect(await status({ ...trusted, "x-svc-hops": "99", "x-svc-deadline": "0" })).toBe(200);
  });

  it("headers-4: gateway and proxy don't pass the trust key on, and a proxy doesn't send one to the repository for others", async () => {
    expect(await sentTo(urls.gateway, { "x-svc-trust-key": "a guess" })).toMatchObject(
      sentBy.outside,
    );
    const { local, proxy, clock } = await deploy();
    const seen: HttpRequest[] = [];
    const none = async (): Promise<undefined> => undefined;
    const publicFile = async (request: HttpRequest) => void seen.push(request);
    const files = { publicFile, component: none, serverFile: none };
    await local
      .add("repository", (host, common) => createRepository(host, { ...common, files }))
      .start();
    await clock.pass(2_000);
    await ask(proxy, "GET", "/index.html", {
      ...trusted,
      "x-svc-data-encoding": "serialized",
      connection: "x-a",
      "x-a": "1",
      "if-none-match": '"1"',
    });
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ target: "/index.html", from: "outside" });
    expect(seen[0]?.headers).toEqual({
      "x-forwarded-proto": "http",
      "if-none-match": '"1"',
    });
  });

  it("a header that middleware sets is passed on, even if the caller's Connection names it (headers-2)", async () => {
    for (const endpoint of ["proxy", "gateway", "a"] as const) {
      const deployment = await deploy();
      const seen: unknown[] = [];
      deployment[endpoint].addMiddleware({
        async handle(_fqn, _version, _args, fields, next) {
          seen.push(fields.get("x-user"));
          fields.set("x-user", "guest");
          return await next();
        },
      });
      const name = endpoint === "a" ? "shop/viaWhoami" : "shop/whoami";
      const answer = await ask(deployment.proxy, "GET", `/rpc/${name}`, {
        connection: "x-user",
        "x-user": "admin",
      });
      expect(seen[0]).toBeUndefined();
      expect(answer.text).toContain("guest");
      expect(answer.text).not.toContain("admin");
    }
  });

  it("a response is passed back without the headers of its connection (headers-1)", async () => {
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
    "headers-5: a procedure's calls carry the headers of its context, except those about the outer call itself: %s",
    async (name, value) => {
      const inner = await headersSeen(
        { authorization: "Bearer 1", host: "localhost", [name]: value },
        "shop/viaWhoami",
      );
      expect(inner).toMatchObject({ authorization: "Bearer 1" });
      expect(inner).not.toHaveProperty(name);
    },
  );

  it("a procedure's calls don't carry the headers of the outer call's connection (headers-5)", async () => {
    const inner = await headersSeen(
      { ...hopByHop, connection: "x-named", "x-named": "1", "x-kept": "2" },
      "shop/viaWhoami",
    );
    expect(inner).toHaveProperty("x-kept");
    for (const name of [...Object.keys(hopByHop), "x-named"])
      expect(inner).not.toHaveProperty(name);
  });

  it("headers-6: a procedure's calls carry no x-svc-* of the outer call: they set hops, deadline, origin and encoding anew", async () => {
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
    // The application can't set them either.
    const { a } = await deploy();
    for (const headers of [{ "x-svc-other": "1" }, { "x-svc-trust-key": key }])
      await expect(a.runProcedure?.("shop/whoami", "", {}, { headers })).rejects.toThrow(
        /^runProcedure can't set the header 'x-svc-/,
      );
  });

  it.each(["shop/whoami", "shop/viaWhoami"])(
    "headers-7: the trust key never reaches a procedure's headers: %s",
    async (procedure) => {
      const inner = await headersSeen(
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
    "the trust key never reaches middleware's headers, and middleware can't set the headers of services, at the %s (headers-7)",
    async (endpoint) => {
      const deployment = await deploy();
      const met: string[] = [];
      deployment[endpoint].addMiddleware({
        handle: async (_fqn, _version, _args, headers, next) => {
          met.push(...headers.keys());
          headers.set("x-svc-credential", "service");
          headers.set("x-svc-trust-key", key);
          headers.set("x-of-the-layer", "1");
          return await next();
        },
      });
      const answer = await ask(deployment[endpoint], "GET", "/rpc/shop/whoami", {
        ...trusted,
        "x-svc-other": "1",
      });
      expect(met.filter((name) => name.startsWith("x-svc-"))).toEqual([]);
      expect(JSON.parse(answer.text)).toMatchObject({ "x-of-the-layer": "1" });
      if (endpoint !== "b") expect(answer.text).not.toContain(key);
      expect((await ask(deployment[endpoint], "GET", "/rpc/shop/audit")).status).toBe(401);
    },
  );
});
