import { beforeAll, describe, expect, it } from "vitest";

import { CorsMiddleware } from "../../src/cors.ts";
import { Unauthorized } from "../../src/errors.ts";
import { ask } from "../_cluster.ts";
import { deploy, type Deployment, key, sentBy } from "../_deployment.ts";
import { serveAssets } from "./_assets.ts";

let cluster: Deployment;
beforeAll(async () => {
  cluster = await deploy();
});

const doors = ["b", "gateway", "proxy"] as const;
const trusted = { "x-svc-trust-key": key };

describe("§5 access", () => {
  it.each(doors)("§5-1 a public procedure can be called by anyone (at the %s)", async (door) => {
    expect(await ask(cluster[door], "GET", "/rpc/shop/stock?sku=1")).toMatchObject({
      status: 200,
      text: "5",
    });
  });

  it.each(doors)(
    "§5-2 a private procedure can be called by nobody through the RPC interface (at the %s)",
    async (door) => {
      for (const headers of [{}, trusted, sentBy.service])
        expect((await ask(cluster[door], "GET", "/rpc/shop/secret", headers)).status).toBe(404);
    },
  );

  it.each(doors)(
    "§5-3 a protected procedure takes a header of its own, the trust key (at the %s)",
    async (door) => {
      expect(await ask(cluster[door], "GET", "/rpc/shop/audit")).toMatchObject({
        status: 401,
        text: "Unauthorized",
      });
      expect(await ask(cluster[door], "GET", "/rpc/shop/audit", trusted)).toMatchObject({
        status: 200,
        text: "audited",
      });
    },
  );

  it("§5-4 headers such as authorization reach procedures, and middleware in its map", async () => {
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

  it("§5-5 a remote call takes the headers of the context with it", async () => {
    const answer = await ask(cluster.proxy, "GET", "/rpc/shop/viaWhoami", {
      authorization: "Bearer 1",
      "x-tenant": "7",
    });
    expect(JSON.parse(answer.text)).toMatchObject({ authorization: "Bearer 1", "x-tenant": "7" });
  });

  it.each(doors)("§5-6 middleware can be what authenticates (at the %s)", async (door) => {
    const deployment = await deploy();
    deployment[door].addMiddleware({
      handle: async (_fqn, _version, _args, headers, next) => {
        if (headers.get("authorization") !== "Bearer 1") throw new Unauthorized("who are you?");
        return await next();
      },
    });
    const call = (headers: Record<string, string>) =>
      ask(deployment[door], "GET", "/rpc/shop/stock?sku=1", headers);
    deployment.network.sent.length = 0;
    for (const headers of [{}, { authorization: "Bearer 2" }])
      expect(await call(headers)).toMatchObject({
        status: 401,
        text: "who are you?",
        headers: { "x-svc-error": "Unauthorized" },
      });
    // Nothing ran, and nothing was sent on.
    expect(deployment.network.sent).toEqual([]);
    expect(await call({ authorization: "Bearer 1" })).toMatchObject({ status: 200, text: "5" });
  });

  it("§5-7 assets are private by default", async () => {
    const assets = await serveAssets();
    expect((await assets.ask("/private/x.txt")).status).toBe(404);
    await assets.close();
  });

  it("§5-8 globs make assets public", async () => {
    const assets = await serveAssets();
    expect((await assets.ask("/assets/long.txt")).status).toBe(200);
    await assets.close();
  });
});

describe("private and unknown are the same to those outside", () => {
  const ways: readonly {
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
    { headers: sentBy.service },
  ];

  it.each(["a", ...doors] as const)(
    "status, headers and body, however one asks, at the %s (§5-2)",
    async (door) => {
      // The node `a` has none of them, and a private one of its own.
      const [secret, sekret] =
        door === "a" ? (["hidden", "hiddem"] as const) : (["secret", "sekret"] as const);
      for (const way of ways)
        for (const encoding of [
          {},
          { "x-svc-data-encoding": "serialized" },
          { "x-svc-data-encoding": "xml" },
        ]) {
          const [hidden, unknown] = await Promise.all(
            [secret, sekret].map((name) =>
              ask(
                cluster[door],
                way.method ?? "GET",
                `/rpc/shop/${name}${way.query ?? ""}`,
                { ...way.headers, ...encoding },
                way.body,
              ),
            ),
          );
          const text = hidden?.text.replaceAll(secret, sekret).replace(/"stack":"[^"]*"/, '""');
          expect([hidden?.status, hidden?.headers, text], JSON.stringify(way)).toEqual([
            unknown?.status,
            unknown?.headers,
            unknown?.text.replace(/"stack":"[^"]*"/, '""'),
          ]);
        }
    },
  );

  it("a procedure of another node is 404 as well (§5-2)", async () => {
    expect((await ask(cluster.a, "GET", "/rpc/shop/stock?sku=1")).status).toBe(404);
  });

  it("versions that are private are not listed (§5-2)", async () => {
    expect((await ask(cluster.a, "GET", "/rpc/shop/hidden")).text).not.toContain("1.0.0");
    expect((await ask(cluster.b, "GET", "/rpc/shop/audit?version=7")).text).not.toContain("0.0.0");
  });
});

describe("cross-site requests", () => {
  const crossSite = { "sec-fetch-site": "cross-site", origin: "http://elsewhere" };
  const all = ["a", "gateway", "proxy"] as const;

  it.each(all)(
    "D5.cross-site-1 a GET that a browser marks as one of another origin is 403 (at the %s)",
    async (door) => {
      const answer = await ask(cluster[door], "GET", "/rpc/shop/price?version=1", crossSite);
      expect(answer).toMatchObject({ status: 403, headers: { "x-svc-error": "Forbidden" } });
      for (const site of ["cross-site", "same-site", "", "same-origin, cross-site", "Same-Origin"])
        expect(
          (await ask(cluster[door], "GET", "/rpc/shop/price?version=1", { "sec-fetch-site": site }))
            .status,
          site,
        ).toBe(403);
      for (const site of ["same-origin", "none"])
        expect(
          (await ask(cluster[door], "GET", "/rpc/shop/price?version=1", { "sec-fetch-site": site }))
            .status,
        ).toBe(200);
      // The key doesn't come from a page: it changes nothing.
      expect(
        (await ask(cluster[door], "GET", "/rpc/shop/price?version=1", { ...crossSite, ...trusted }))
          .status,
      ).toBe(403);
      // No page can send this POST without asking first.
      const json = { ...crossSite, "content-type": "application/json" };
      expect(
        (await ask(cluster[door], "POST", "/rpc/shop/price?version=1", json, "{}")).status,
      ).toBe(200);
    },
  );

  it.each(all)(
    "D5.cross-site-2 a cross-site GET is let in where CORS allows the origin, and only that one (at the %s)",
    async (door) => {
      const deployment = await deploy();
      deployment[door].addMiddleware(new CorsMiddleware("http://elsewhere"));
      const call = (headers: Record<string, string>) =>
        ask(deployment[door], "GET", "/rpc/shop/price?version=1", headers);
      expect((await call(crossSite)).status).toBe(200);
      expect(await call({ ...crossSite, origin: "http://evil" })).toMatchObject({
        status: 403,
        headers: { "access-control-allow-origin": "http://elsewhere" },
      });
      // An image or a script of another site has no origin to show.
      expect((await call({ "sec-fetch-site": "cross-site" })).status).toBe(403);
    },
  );

  it.each(all)(
    "CORS for every origin lets pages read, and lifts nothing (at the %s) (D5.cross-site-2)",
    async (door) => {
      const deployment = await deploy();
      deployment[door].addMiddleware(new CorsMiddleware());
      for (const headers of [
        crossSite,
        { "sec-fetch-site": "cross-site" },
        { origin: "http://elsewhere" },
        { origin: "*" },
      ])
        expect(
          await ask(deployment[door], "GET", "/rpc/shop/price?version=1", headers),
        ).toMatchObject({
          status: 403,
          headers: { "access-control-allow-origin": "*" },
        });
      const json = { ...crossSite, "content-type": "application/json" };
      expect(
        (await ask(deployment[door], "POST", "/rpc/shop/price?version=1", json, "{}")).status,
      ).toBe(200);
    },
  );

  it.each(all)(
    "where a browser says nothing of the site, Origin and Referer count (at the %s) (D5.cross-site-1)",
    async (door) => {
      const status = async (headers: Record<string, string>): Promise<number> =>
        (await ask(cluster[door], "GET", "/rpc/shop/price?version=1", headers)).status;
      const host = "localhost:7400";
      for (const own of ["http://localhost:7400", "https://localhost:7400"]) {
        expect(await status({ host, origin: own })).toBe(200);
        expect(await status({ host, referer: `${own}/shop?sku=1` })).toBe(200);
      }
      for (const other of [
        "http://localhost",
        "http://localhost:7401",
        "http://elsewhere",
        "http://elsewhere/localhost:7400",
        "null",
        "",
        "localhost:7400",
      ]) {
        expect(await status({ host, origin: other }), other).toBe(403);
        expect(await status({ host, referer: other }), other).toBe(403);
        // What the page says of itself counts before where it was led to.
        expect(
          await status({ host, origin: other, referer: "http://localhost:7400/" }),
          other,
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
    "a POST that a form can send is refused as a GET is (at the %s) (D5.cross-site-1)",
    async (door) => {
      for (const type of [
        "text/plain",
        "TEXT/PLAIN; charset=utf-8",
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded",
        undefined,
      ]) {
        const headers = { ...crossSite, ...(type !== undefined && { "content-type": type }) };
        const answer = await ask(cluster[door], "POST", "/rpc/shop/price?version=1", headers, "");
        expect([answer.status, answer.headers["x-svc-error"]], type).toEqual([403, "Forbidden"]);
        expect((await ask(cluster[door], "POST", "/rpc/shop/safe", headers, "")).status).toBe(200);
      }
    },
  );

  it("what a browser said holds behind services that know nothing of browsers (D5.cross-site-1)", async () => {
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
    // A stranger can't say it, and where a service doesn't, what the browser said still counts.
    expect(
      (
        await ask(proxy, "GET", "/rpc/shop/price?version=1", {
          ...crossSite,
          "x-svc-cross-site": "no",
        })
      ).status,
    ).toBe(403);
    for (const said of ["yes", "", "No", "no, no", undefined]) {
      const headers = {
        ...crossSite,
        ...sentBy.outside,
        ...(said !== undefined && { "x-svc-cross-site": said }),
      };
      expect((await ask(gateway, "GET", "/rpc/shop/price?version=1", headers)).status, said).toBe(
        403,
      );
    }
  });

  it.each(all)(
    "D5.cross-site-3 a cross-site GET is let in where the entry in the segment file says that the procedure is safe (at the %s)",
    async (door) => {
      expect(await ask(cluster[door], "GET", "/rpc/shop/safe", crossSite)).toMatchObject({
        status: 200,
        text: "safe",
      });
    },
  );
});
