import { beforeAll, describe, expect, it } from "vitest";

import { CorsMiddleware } from "../../src/http/cors.ts";
import { Unauthorized } from "../../src/base/errors.ts";
import { ask } from "../_cluster.ts";
import { deploy, type Deployment, key, sentBy } from "../_deployment.ts";
import { serveAssets } from "./_assets.ts";

let cluster: Deployment;
beforeAll(async () => {
  cluster = await deploy();
});

const endpoints = ["b", "gateway", "proxy"] as const;
const trusted = { "x-svc-trust-key": key };

describe("access", () => {
  it.each(endpoints)(
    "access-1: anyone can call a public procedure (at the %s)",
    async (endpoint) => {
      expect(await ask(cluster[endpoint], "GET", "/rpc/shop/stock?sku=1")).toMatchObject({
        status: 200,
        text: "5",
      });
    },
  );

  it.each(endpoints)(
    "access-2: nobody can call a private procedure through the RPC interface (at the %s)",
    async (endpoint) => {
      for (const headers of [{}, trusted, sentBy.trusted])
        expect((await ask(cluster[endpoint], "GET", "/rpc/shop/secret", headers)).status).toBe(404);
    },
  );

  it.each(endpoints)(
    "access-3: a protected procedure takes a header of its own, the trust key (at the %s)",
    async (endpoint) => {
      expect(await ask(cluster[endpoint], "GET", "/rpc/shop/audit")).toMatchObject({
        status: 401,
        text: "Unauthorized",
      });
      expect(await ask(cluster[endpoint], "GET", "/rpc/shop/audit", trusted)).toMatchObject({
        status: 200,
        text: "audited",
      });
    },
  );

  it("access-4: headers such as authorization reach procedures, and middleware in its map", async () => {
    const { b, proxy } = await deploy();
    const seen: unknown[] = [];
    b.addMiddleware({
      handle: async (_fqn, _version, _args, headers, next) => {
        seen.push(headers.get("authorization"));
        return await next();
      },
    });
    const answer = await ask(proxy, "GET", "/rpc/shop/whoami", { authorization: "Bearer 1" });
    expect(JSON.parse(answer.text)).toMatchObject({ authorization: "Bearer 1" });
    expect(seen).toEqual(["Bearer 1"]);
  });

  it("access-5: a remote call carries the headers of its context", async () => {
    const answer = await ask(cluster.proxy, "GET", "/rpc/shop/viaWhoami", {
      authorization: "Bearer 1",
      "x-tenant": "7",
    });
    expect(JSON.parse(answer.text)).toMatchObject({ authorization: "Bearer 1", "x-tenant": "7" });
  });

  it.each(endpoints)(
    "access-6: middleware can authenticate callers (at the %s)",
    async (endpoint) => {
      const deployment = await deploy();
      deployment[endpoint].addMiddleware({
        handle: async (_fqn, _version, _args, headers, next) => {
          if (headers.get("authorization") !== "Bearer 1") throw new Unauthorized("who are you?");
          return await next();
        },
      });
      const call = (headers: Record<string, string>) =>
        ask(deployment[endpoint], "GET", "/rpc/shop/stock?sku=1", headers);
      deployment.network.sent.length = 0;
      for (const headers of [{}, { authorization: "Bearer 2" }]) {
        const refused = await call(headers);
        expect(refused).toMatchObject({
          status: 401,
          text: "who are you?",
          headers: { "x-svc-error": "Unauthorized" },
        });
        // How to sign in is the application's business: it isn't asked for the trust key.
        expect(refused.headers).not.toHaveProperty("www-authenticate");
      }
      // Nothing ran, and nothing was passed on.
      expect(deployment.network.sent).toEqual([]);
      expect(await call({ authorization: "Bearer 1" })).toMatchObject({ status: 200, text: "5" });
    },
  );

  it("access-7: assets are private by default", async () => {
    const assets = await serveAssets();
    expect((await assets.ask("/private/x.txt")).status).toBe(404);
    await assets.close();
  });

  it("access-8: globs make assets public", async () => {
    const assets = await serveAssets();
    expect((await assets.ask("/assets/long.txt")).status).toBe(200);
    await assets.close();
  });
});

describe("private and unknown are the same to those outside", () => {
  const calls: readonly {
    readonly method?: string;
    readonly query?: string;
    readonly headers?: Record<string, string>;
    readonly body?: string;
  }[] = [
    {},
    { query: "?version=0.0.0" },
    { query: "?version=1" },
    { query: "?version=zz" },
    { query: "?other=1" },
    { method: "POST", headers: { "content-type": "application/json" }, body: "{}" },
    { method: "POST", headers: { "content-type": "application/json" }, body: '{"other":1}' },
    { method: "POST", headers: { "content-type": "application/json" }, body: "no JSON" },
    { method: "POST", headers: { "content-type": "text/plain" }, body: "{}" },
    { method: "HEAD" },
    { method: "PUT" },
    { method: "OPTIONS" },
    { headers: { "sec-fetch-site": "cross-site", origin: "http://elsewhere" } },
    { headers: trusted },
    { headers: sentBy.outside },
    { headers: sentBy.trusted },
  ];

  it.each(["a", ...endpoints] as const)(
    "private and unknown procedures get the same status, headers and body for any request, at the %s (access-2)",
    async (endpoint) => {
      // The node `a` has none of them, and a private one of its own.
      const [secret, sekret] =
        endpoint === "a" ? (["hidden", "hiddem"] as const) : (["secret", "sekret"] as const);
      for (const call of calls)
        for (const encoding of [
          {},
          { "x-svc-data-encoding": "serialized" },
          { "x-svc-data-encoding": "xml" },
        ]) {
          const [hidden, unknown] = await Promise.all(
            [secret, sekret].map((name) =>
              ask(
                cluster[endpoint],
                call.method ?? "GET",
                `/rpc/shop/${name}${call.query ?? ""}`,
                { ...call.headers, ...encoding },
                call.body,
              ),
            ),
          );
          const text = hidden?.text.replaceAll(secret, sekret).replace(/"stack":"[^"]*"/, '""');
          expect([hidden?.status, hidden?.headers, text], JSON.stringify(call)).toEqual([
            unknown?.status,
            unknown?.headers,
            unknown?.text.replace(/"stack":"[^"]*"/, '""'),
          ]);
        }
    },
  );

  it("a procedure of another node answers 404 as well (access-2)", async () => {
    expect((await ask(cluster.a, "GET", "/rpc/shop/stock?sku=1")).status).toBe(404);
  });

  it("messages don't list private versions (access-2)", async () => {
    expect((await ask(cluster.a, "GET", "/rpc/shop/hidden")).text).not.toContain("1.0.0");
    expect((await ask(cluster.b, "GET", "/rpc/shop/audit?version=7")).text).not.toContain("0.0.0");
  });
});

describe("cross-site requests", () => {
  const crossSite = { "sec-fetch-site": "cross-site", origin: "http://elsewhere" };
  const all = ["a", "gateway", "proxy"] as const;

  it.each(all)(
    "cross-site-1: a GET that a browser marks as cross-site answers 403 (at the %s)",
    async (endpoint) => {
      const answer = await ask(cluster[endpoint], "GET", "/rpc/shop/price?version=1", crossSite);
      expect(answer).toMatchObject({ status: 403, headers: { "x-svc-error": "Forbidden" } });
      for (const site of ["cross-site", "same-site", "", "same-origin, cross-site", "Same-Origin"])
        expect(
          (
            await ask(cluster[endpoint], "GET", "/rpc/shop/price?version=1", {
              "sec-fetch-site": site,
            })
          ).status,
          site,
        ).toBe(403);
      for (const site of ["same-origin", "none"])
        expect(
          (
            await ask(cluster[endpoint], "GET", "/rpc/shop/price?version=1", {
              "sec-fetch-site": site,
            })
          ).status,
        ).toBe(200);
      // The key doesn't come from a page: it changes nothing.
      expect(
        (
          await ask(cluster[endpoint], "GET", "/rpc/shop/price?version=1", {
            ...crossSite,
            ...trusted,
          })
        ).status,
      ).toBe(403);
      // A page can't send this POST without a preflight.
      const json = { ...crossSite, "content-type": "application/json" };
      expect(
        (await ask(cluster[endpoint], "POST", "/rpc/shop/price?version=1", json, "{}")).status,
      ).toBe(200);
    },
  );

  it.each(all)(
    "cross-site-2: a cross-site GET from an origin that CORS allows runs, and from no other (at the %s)",
    async (endpoint) => {
      const deployment = await deploy();
      deployment[endpoint].addMiddleware(new CorsMiddleware("http://elsewhere"));
      const call = (headers: Record<string, string>) =>
        ask(deployment[endpoint], "GET", "/rpc/shop/price?version=1", headers);
      expect((await call(crossSite)).status).toBe(200);
      expect(await call({ ...crossSite, origin: "http://evil" })).toMatchObject({
        status: 403,
        headers: { "access-control-allow-origin": "http://elsewhere" },
      });
      // An image or script of another site sends no origin.
      expect((await call({ "sec-fetch-site": "cross-site" })).status).toBe(403);
    },
  );

  it.each(all)(
    "CORS for every origin lets pages read answers, and doesn't allow cross-site calls (at the %s) (cross-site-2)",
    async (endpoint) => {
      const deployment = await deploy();
      deployment[endpoint].addMiddleware(new CorsMiddleware());
      for (const headers of [
        crossSite,
        { "sec-fetch-site": "cross-site" },
        { origin: "http://elsewhere" },
        { origin: "*" },
      ])
        expect(
          await ask(deployment[endpoint], "GET", "/rpc/shop/price?version=1", headers),
        ).toMatchObject({
          status: 403,
          headers: { "access-control-allow-origin": "*" },
        });
      const json = { ...crossSite, "content-type": "application/json" };
      expect(
        (await ask(deployment[endpoint], "POST", "/rpc/shop/price?version=1", json, "{}")).status,
      ).toBe(200);
    },
  );

  it.each(all)(
    "if a browser doesn't send Sec-Fetch-Site, Origin and Referer decide (at the %s) (cross-site-1)",
    async (endpoint) => {
      const status = async (headers: Record<string, string>): Promise<number> =>
        (await ask(cluster[endpoint], "GET", "/rpc/shop/price?version=1", headers)).status;
      const host = "localhost:7400";
      for (const ownOrigin of ["http://localhost:7400", "https://localhost:7400"]) {
        expect(await status({ host, origin: ownOrigin })).toBe(200);
        expect(await status({ host, referer: `${ownOrigin}/shop?sku=1` })).toBe(200);
      }
      for (const otherOrigin of [
        "http://localhost",
        "http://localhost:7401",
        "http://elsewhere",
        "http://elsewhere/localhost:7400",
        "null",
        "",
        "localhost:7400",
      ]) {
        expect(await status({ host, origin: otherOrigin }), otherOrigin).toBe(403);
        expect(await status({ host, referer: otherOrigin }), otherOrigin).toBe(403);
        // Origin takes precedence over Referer.
        expect(
          await status({ host, origin: otherOrigin, referer: "http://localhost:7400/" }),
          otherOrigin,
        ).toBe(403);
      }
      expect(await status({ host: "localhost", origin: "http://localhost:80" })).toBe(200);
      expect(await status({ host: "localhost:443", origin: "https://localhost" })).toBe(200);
      expect(await status({ origin: "http://localhost" })).toBe(403);
      expect(
        await status({ host, origin: "http://elsewhere", "sec-fetch-site": "same-origin" }),
      ).toBe(200);
      // As programs send it.
      expect(await status({ host })).toBe(200);
    },
  );

  it.each(all)(
    "a cross-site POST that a form can send is refused as a GET is (at the %s) (cross-site-1)",
    async (endpoint) => {
      for (const type of [
        "text/plain",
        "TEXT/PLAIN; charset=utf-8",
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded",
        undefined,
      ]) {
        const headers = { ...crossSite, ...(type !== undefined && { "content-type": type }) };
        const answer = await ask(
          cluster[endpoint],
          "POST",
          "/rpc/shop/price?version=1",
          headers,
          "",
        );
        expect([answer.status, answer.headers["x-svc-error"]], type).toEqual([403, "Forbidden"]);
        expect((await ask(cluster[endpoint], "POST", "/rpc/shop/safe", headers, "")).status).toBe(
          200,
        );
      }
    },
  );

  it("the first service tells those behind it whether a call is cross-site (cross-site-1)", async () => {
    const { gateway, proxy, network } = await deploy();
    const sent = (): unknown[] =>
      network.sent.splice(0).map(({ headers }) => headers["x-svc-cross-site"]);
    sent();
    expect((await ask(proxy, "GET", "/rpc/shop/price?version=1", crossSite)).status).toBe(403);
    expect(sent()).toEqual(["yes", "yes"]);
    expect(
      (await ask(proxy, "GET", "/rpc/shop/price?version=1", { "sec-fetch-site": "same-origin" }))
        .status,
    ).toBe(200);
    expect(sent()).toEqual(["no", "no"]);
    // The header doesn't count from outside. Without it, the browser's headers decide.
    expect(
      (
        await ask(proxy, "GET", "/rpc/shop/price?version=1", {
          ...crossSite,
          "x-svc-cross-site": "no",
        })
      ).status,
    ).toBe(403);
    for (const crossSiteValue of ["yes", "", "No", "no, no", undefined]) {
      const headers = {
        ...crossSite,
        ...sentBy.outside,
        ...(crossSiteValue !== undefined && { "x-svc-cross-site": crossSiteValue }),
      };
      expect(
        (await ask(gateway, "GET", "/rpc/shop/price?version=1", headers)).status,
        crossSiteValue,
      ).toBe(403);
    }
  });

  it.each(all)(
    "cross-site-3: a cross-site GET runs if the entry in the segment file says that the procedure is safe (at the %s)",
    async (endpoint) => {
      expect(await ask(cluster[endpoint], "GET", "/rpc/shop/safe", crossSite)).toMatchObject({
        status: 200,
        text: "safe",
      });
    },
  );
});
