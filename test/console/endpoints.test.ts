import { describe, expect, it } from "vitest";
import { ask } from "../_cluster.ts";
import {
  address,
  alone,
  cookieOf,
  deployed,
  json,
  key,
  listen,
  ofThePage,
  signIn,
  stateOf,
  testConsole,
  tokenOf,
  withKey,
} from "./_console.ts";
import { dialAsMember, fakeMember, memoryDial } from "../_fake-member.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { sentBy } from "../_deployment.ts";
import { testHost, TestNetwork } from "../_cluster.ts";

const trade = (token: string): string => JSON.stringify({ token });

describe("the console's endpoints", () => {
  it("GET /svc/console serves the page and its files to everyone, with a strict content policy", async () => {
    const { gateway } = await deployed();
    for (const [path, file] of [
      ["", "index.html"],
      ["?token=abc", "index.html"],
      ["/console.js", "console.js"],
      ["/console.css", "console.css"],
      ["/icon.svg", "icon.svg"],
    ])
      expect(await ask(gateway, "GET", `/svc/console${path}`)).toMatchObject({
        status: 200,
        text: `the file ${file}`,
        headers: {
          "content-security-policy": expect.stringMatching(
            /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';.*frame-ancestors 'none'/,
          ) as string,
          "x-frame-options": "DENY",
          "cross-origin-opener-policy": "same-origin",
          "cross-origin-resource-policy": "same-origin",
          "referrer-policy": "no-referrer",
        },
      });
  });

  it("GET /svc/console/ leads to the address without a slash, to which those in the page are relative", async () => {
    const { gateway } = await deployed();
    expect(await ask(gateway, "GET", "/svc/console/")).toMatchObject({
      status: 308,
      headers: { location: "../console", "x-frame-options": "DENY" },
    });
  });

  it("the console's page and files are for GET and HEAD, as all public files are", async () => {
    const { gateway } = await deployed();
    for (const path of ["", "/", "/console.js", "/console.css", "/icon.svg"])
      for (const method of ["POST", "PUT", "DELETE", "OPTIONS"])
        expect(
          await ask(gateway, method, `/svc/console${path}`),
          `${method} ${path}`,
        ).toMatchObject({
          status: 405,
          headers: { allow: "GET, HEAD", "x-frame-options": "DENY" },
        });
  });

  it("console requests without a session or key get the same 404 as a path that doesn't exist", async () => {
    const { gateway } = await deployed();
    for (const method of ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]) {
      const notFound = await ask(gateway, method, "/nothing");
      for (const path of [
        "/state",
        "/events",
        "/token",
        "/session",
        "/rpc/shop/stock",
        "/nothing",
        "/console.js.map",
        "//",
        "/%2e%2e/nodes",
        "x",
      ])
        for (const headers of [
          {},
          json,
          { ...json, ...ofThePage },
          { "x-svc-trust-key": "no" },
          { cookie: "svc-console-default=x" },
        ])
          expect(
            await ask(gateway, method, `/svc/console${path}`, headers),
            `${method} ${path}`,
          ).toEqual(notFound);
    }
  });

  it("a service without a console answers 404 below /svc/console, even to the trust key", async () => {
    const host = testHost(new TestNetwork());
    const gateway = createGateway(host, {
      trustKey: key,
      limits: defaultLimits,
      healthIntervalMs: 5000,
      gatheringMs: 0,
      newId: () => "1",
    });
    await gateway.start(address);
    for (const path of ["", "/", "/console.js", "/state", "/events"])
      expect(await ask(gateway, "GET", `/svc/console${path}`, withKey)).toEqual(
        await ask(gateway, "GET", "/nothing", withKey),
      );
  });

  it("GET /svc/console/state shows the state to the trust key, but not to service credentials", async () => {
    const { gateway } = await deployed();
    expect((await ask(gateway, "GET", "/svc/console/state", withKey)).headers).toMatchObject({
      "content-type": "application/json",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
    // Calls of services are no requests of their own.
    for (const sender of [sentBy.trusted, sentBy.outside])
      expect((await ask(gateway, "GET", "/svc/console/state", sender)).status).toBe(404);
  });
});

describe("a link to the console", () => {
  it("a console link can be traded for a session once", async () => {
    const { gateway, console } = await deployed();
    const link = console.link();
    expect(link).toMatch(/^http:\/\/gateway:7401\/svc\/console#token=[0-9a-f]{64}$/);
    const answer = await ask(
      gateway,
      "POST",
      "/svc/console/session",
      { ...ofThePage, ...json },
      trade(tokenOf(link)),
    );
    expect(answer.status).toBe(204);
    expect(answer.headers["set-cookie"]).toMatch(
      /^svc-console-7401=[0-9a-f]{64}; Max-Age=28800; HttpOnly; SameSite=Strict$/,
    );
    const session = { ...ofThePage, cookie: cookieOf(answer.headers["set-cookie"]) };
    expect((await ask(gateway, "GET", "/svc/console/state", session)).status).toBe(200);
    const again = await ask(
      gateway,
      "POST",
      "/svc/console/session",
      { ...ofThePage, ...json },
      trade(tokenOf(link)),
    );
    expect(again).toEqual(await ask(gateway, "POST", "/nothing"));
  });

  it("a console link expires after ten minutes", async () => {
    const { gateway, console, clock } = await deployed();
    const [early, late] = [tokenOf(console.link()), tokenOf(console.link())];
    await clock.pass(599_000);
    expect(
      (await ask(gateway, "POST", "/svc/console/session", { ...ofThePage, ...json }, trade(early)))
        .status,
    ).toBe(204);
    await clock.pass(1_001);
    expect(
      (await ask(gateway, "POST", "/svc/console/session", { ...ofThePage, ...json }, trade(late)))
        .status,
    ).toBe(404);
  });

  it("a console link opens no session from a query, a form, or another site's page", async () => {
    const { gateway, console } = await deployed();
    const token = tokenOf(console.link());
    const refused: [string, Record<string, string>, string][] = [
      [`/svc/console/session?token=${token}`, { ...ofThePage, ...json }, ""],
      ["/svc/console/session", { ...ofThePage, "content-type": "text/plain" }, trade(token)],
      [
        "/svc/console/session",
        { ...ofThePage, "content-type": "application/x-www-form-urlencoded" },
        `token=${token}`,
      ],
      ["/svc/console/session", { host: "gateway:7401", ...json }, trade(token)],
      ["/svc/console/session", { ...ofThePage, ...json, origin: "null" }, trade(token)],
      [
        "/svc/console/session",
        { ...ofThePage, ...json, origin: "http://evil.example" },
        trade(token),
      ],
      [
        "/svc/console/session",
        { ...ofThePage, ...json, origin: "http://gateway:7402" },
        trade(token),
      ],
      [
        "/svc/console/session",
        { ...ofThePage, ...json, "sec-fetch-site": "cross-site" },
        trade(token),
      ],
      [
        "/svc/console/session",
        { ...ofThePage, ...json, "sec-fetch-site": "same-site" },
        trade(token),
      ],
      ["/svc/console/session", { ...ofThePage, ...json }, `${trade(token)}${" ".repeat(1024)}`],
      ["/svc/console/session", { ...ofThePage, ...json }, JSON.stringify({ token: [token] })],
      ["/svc/console/session", { ...ofThePage, ...json }, "null"],
      ["/svc/console/session", { ...ofThePage, ...json }, `{"token":`],
    ];
    for (const [path, headers, text] of refused)
      expect((await ask(gateway, "POST", path, headers, text)).status, text).toBe(404);
    expect((await ask(gateway, "GET", `/svc/console/state?token=${token}`, ofThePage)).status).toBe(
      404,
    );
    // The token is still unused.
    expect(
      (await ask(gateway, "POST", "/svc/console/session", { ...ofThePage, ...json }, trade(token)))
        .status,
    ).toBe(204);
  });

  it("POST /svc/console/token makes a new link for the trust key and for a session", async () => {
    const deployment = await deployed();
    const { gateway } = deployment;
    for (const headers of [withKey, await signIn(deployment)]) {
      const answer = await ask(gateway, "POST", "/svc/console/token", headers);
      const { path, ms } = JSON.parse(answer.text) as { path: string; ms: number };
      expect([answer.status, ms]).toEqual([201, 600_000]);
      expect(
        (
          await ask(
            gateway,
            "POST",
            "/svc/console/session",
            { ...ofThePage, ...json },
            trade(tokenOf(path)),
          )
        ).status,
      ).toBe(204);
    }
  });

  it("a console link can be opened even if the service listens on all addresses", () => {
    const console = testConsole(testHost(new TestNetwork()));
    expect(console.link("http://0.0.0.0:3000")).toMatch(
      /^http:\/\/127\.0\.0\.1:3000\/svc\/console#/,
    );
    expect(console.link("https://[::]:3000")).toMatch(/^https:\/\/\[::1\]:3000\/svc\/console#/);
    expect(console.link("http://0.0.0.0.example")).toMatch(/^http:\/\/0\.0\.0\.0\.example\//);
  });
});

describe("a console session", () => {
  it("a console session and its events end after eight hours", async () => {
    const deployment = await alone();
    const { gateway, clock } = deployment;
    const session = await signIn(deployment);
    const reader = await listen(gateway, session);
    await reader.data();
    await clock.pass(28_799_000);
    expect((await ask(gateway, "GET", "/svc/console/state", session)).status).toBe(200);
    await clock.pass(1_001);
    expect((await ask(gateway, "GET", "/svc/console/state", session)).status).toBe(404);
    const ends = (async () => {
      for (;;) if ((await reader.next()) === undefined) return "ended";
    })();
    await clock.pass(1_000);
    expect(await ends).toBe("ended");
  });

  it("DELETE /svc/console/session ends the session", async () => {
    const deployment = await deployed();
    const session = await signIn(deployment);
    const answer = await ask(deployment.gateway, "DELETE", "/svc/console/session", session);
    expect(answer).toMatchObject({
      status: 204,
      headers: { "set-cookie": expect.stringContaining("Max-Age=0") as string },
    });
    expect((await ask(deployment.gateway, "GET", "/svc/console/state", session)).status).toBe(404);
  });

  it("a console session shows nothing to pages of other sites or ports", async () => {
    const deployment = await deployed();
    const session = await signIn(deployment);
    for (const site of ["cross-site", "same-site"])
      for (const path of ["/state", "/events"])
        expect(
          (
            await ask(deployment.gateway, "GET", `/svc/console${path}`, {
              ...session,
              "sec-fetch-site": site,
            })
          ).status,
        ).toBe(404);
    // The user typed the address.
    expect(
      (
        await ask(deployment.gateway, "GET", "/svc/console/state", {
          ...session,
          "sec-fetch-site": "none",
        })
      ).status,
    ).toBe(200);
  });

  it("a console session changes nothing without the page's own Origin", async () => {
    const deployment = await deployed();
    const session: Record<string, string> = { ...(await signIn(deployment)), ...json };
    const { origin: _, ...withoutOrigin } = session;
    for (const headers of [
      withoutOrigin,
      { ...session, origin: "http://evil.example" },
      { ...session, origin: "null" },
    ])
      for (const [method, path] of [
        ["POST", "/token"],
        ["DELETE", "/session"],
        ["POST", "/rpc/shop/stock?sku=1"],
      ] as const)
        expect(
          (await ask(deployment.gateway, method, `/svc/console${path}`, headers, "{}")).status,
        ).toBe(404);
  });

  it("a console session's cookie is valid for one port only", async () => {
    const deployment = await deployed();
    const session = await signIn(deployment);
    const otherPort = { ...session, host: "gateway:7402", origin: "http://gateway:7402" };
    expect((await ask(deployment.gateway, "GET", "/svc/console/state", otherPort)).status).toBe(
      404,
    );
  });

  it("a console session's cookie is Secure if the service listens with https", async () => {
    const { gateway, console } = await alone(true);
    const answer = await ask(
      gateway,
      "POST",
      "/svc/console/session",
      { ...ofThePage, ...json },
      trade(tokenOf(console.link())),
    );
    expect(answer.headers["set-cookie"]).toMatch(/; HttpOnly; SameSite=Strict; Secure$/);
  });
});

describe("a call from the console's form", () => {
  it("a console call reaches protected procedures, but not private ones", async () => {
    const deployment = await deployed();
    const { gateway } = deployment;
    const session = { ...(await signIn(deployment)), ...json };
    const call = (fqn: string, text = "{}") =>
      ask(gateway, "POST", `/svc/console/rpc/${fqn}`, session, text);
    expect((await ask(gateway, "POST", "/rpc/shop/audit", json, "{}")).status).toBe(401);
    expect(await call("shop/audit")).toMatchObject({
      status: 200,
      text: "audited",
      headers: { "x-svc-node": "node b" },
    });
    expect((await call("shop/secret")).status).toBe(404);
    expect(await call("shop/price?version=2", "{}")).toMatchObject({ status: 200, text: "2" });
    expect((await call("shop/stock", "{}")).status).toBe(400);
  });

  it("a console call forwards the user's headers, but not the console's own", async () => {
    const deployment = await deployed();
    const { cookie = "", ...rest } = { ...(await signIn(deployment)), ...json };
    const headers = {
      ...rest,
      cookie: `basket=7; ${cookie}; theme=dark`,
      authorization: "Bearer x",
      referer: "http://gateway:7401/svc/console",
    };
    const answer = await ask(
      deployment.gateway,
      "POST",
      "/svc/console/rpc/shop/whoami",
      headers,
      "{}",
    );
    const received = JSON.parse(answer.text) as Record<string, string>;
    expect(received["authorization"]).toBe("Bearer x");
    expect(received["cookie"]?.replaceAll(" ", "")).toBe("basket=7;theme=dark");
    expect(
      Object.keys(received).filter((name) => /^(sec-|origin|referer|x-svc-)/.test(name)),
    ).toEqual([]);
    expect(answer.text).not.toContain(key);
  });

  it("a console call that isn't JSON answers 400", async () => {
    const deployment = await deployed();
    const session = await signIn(deployment);
    const answer = await ask(
      deployment.gateway,
      "POST",
      "/svc/console/rpc/shop/price",
      { ...session, "content-type": "text/plain" },
      "{}",
    );
    expect(answer.status).toBe(400);
  });

  it("the state lists a console call with the console as its caller", async () => {
    const deployment = await deployed();
    const session = { ...(await signIn(deployment)), ...json };
    const reader = await listen(deployment.gateway);
    await reader.data();
    await ask(deployment.gateway, "POST", "/svc/console/rpc/shop/stock", session, `{"sku":"1"}`);
    const state = await stateOf(deployment.gateway);
    expect(state.calls).toMatchObject([
      { fqn: "shop/stock", from: "console", to: "member-2", node: "node b", status: 200 },
    ]);
    await reader.end();
  });
});

const toConsole = (network: TestNetwork) => ({
  dial: memoryDial(network),
  gateway: address,
  trustKey: key,
});

describe("a node that joins a gateway with a console", () => {
  it("a node with an invalid description gets 400 with the path of the mistake, and doesn't join", async () => {
    const { gateway, network } = await alone();
    const member = await dialAsMember({ ...toConsole(network), instance: "c" });
    const join = (node: unknown) => member.announce({ procedures: ["c/only"], node });
    expect(await join({ segments: [], procedures: [{ fqn: "x".repeat(301) }] })).toMatchObject({
      status: 400,
    });
    expect(
      await join({ segments: Array.from({ length: 1001 }, () => "s"), procedures: [] }),
    ).toMatchObject({
      status: 400,
      text: "'node.segments' is not a list of at most 1000",
    });
    const named = (length: number) => ({ name: "x".repeat(length), segments: [], procedures: [] });
    expect(await join(named(2_000_000))).toMatchObject({ status: 400 });
    // The list of a large application's procedures takes megabytes.
    expect(await join(named(17_000_000))).toMatchObject({ status: 413 });
    expect(gateway.describe()).toMatchObject({ members: [], routes: [] });
    expect(await join({ segments: ["c"], procedures: [] })).toMatchObject({ status: 201 });
  });

  it("a node may have any name, which stays plain text", async () => {
    const { gateway, network } = await alone();
    const node = {
      name: "<img src=x onerror=alert(1)>",
      segments: ["__proto__", "constructor"],
      procedures: [],
    };
    await fakeMember(toConsole(network), { procedures: ["__proto__"], node });
    expect((await stateOf(gateway)).members).toMatchObject([
      { name: node.name, segments: node.segments },
    ]);
  });
});
