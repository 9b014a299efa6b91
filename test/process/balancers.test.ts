// Services whose links pass a real nginx or HAProxy, set up in the ways in which people have them.

import { readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";

import { afterAll, describe, expect, it } from "vitest";

import { createCertificates } from "../_certificates.ts";
import { anyPort, builtOnce, start } from "../spec/_started.ts";
import { balancerBefore, balancers, type Passing } from "./_balancers.ts";

const files = {
  "src/shop/stock.ts": "export async function left() { return 12; }",
  "shop.segment.json": '{ "./shop/stock": { "left": { "access": "public" } } }',
  "index.html": "<!doctype html><title>Shop</title>",
};
const trustKey = "the-trust-key-behind-the-balancers";

interface Keys {
  readonly endToEndTls?: boolean;
}
const unbound = { endToEndTls: false };

// One for all tests: none changes it.
const application = builtOnce(files);
const certificates = createCertificates(afterAll);
const own = certificates.sign("service");
const tls = { ...own, ca: certificates.ca };
const ca = readFileSync(tls.ca);

/** Services around a balancer of this kind. */
async function deployment(name: keyof typeof balancers) {
  const common = (isTls: boolean) => ({
    trustKey,
    ...(isTls ? { url: "https://127.0.0.1:0", tls } : { url: anyPort }),
  });
  const repository = await start(application, { mode: "repository", ...common(false) });
  /** A service that dials has TLS of its own where it calls https, as only that names an authority. */
  const behind = (front: string, keys: Keys) => ({
    ...common(front.startsWith("https:")),
    ...keys,
    gateway: front,
    repository: repository.url,
  });
  return {
    gateway: async (isTls = false, keys: Keys = {}) =>
      await start(application, { mode: "gateway", ...common(isTls), ...keys }),
    before: async (url: string, passing: Passing) =>
      await balancerBefore(url, balancers[name], own, passing),
    node: async (front: string, keys: Keys = {}) =>
      await start(application, { mode: "node", segments: ["shop"], ...behind(front, keys) }),
    proxy: async (front: string, keys: Keys = {}) =>
      await start(application, { mode: "proxy", ...behind(front, keys) }),
    call: async (url: string): Promise<string> =>
      await new Promise((resolve, reject) => {
        const get = url.startsWith("https:") ? https.get : http.get;
        get(`${url}/rpc/shop/left`, { ca, agent: false }, (answer) => {
          let text = "";
          answer.setEncoding("utf8").on("data", (part: string) => (text += part));
          answer.on("end", () => resolve(`${answer.statusCode} ${text}`));
        }).on("error", reject);
      }),
  };
}

// Neither is part of an installation for development.
const isThere = (name: keyof typeof balancers): boolean => balancers[name].version !== "";

describe.each((["nginx", "HAProxy"] as const).filter(isThere))("%s between services", (name) => {
  it.each<[string, Passing, Keys, Keys]>([
    ["passes upgrades on", {}, {}, {}],
    ["passes upgrades on, and changes the Host", { changesHost: true }, {}, {}],
    ["passes WebSockets on, and no other upgrades", { upgrades: "websocket" }, {}, {}],
    [
      "passes WebSockets on, and no other upgrades, ends TLS, and has TLS again to the gateway",
      { upgrades: "websocket", hasTls: true, isTlsBehind: true, changesHost: true },
      unbound,
      unbound,
    ],
    ["ends TLS, and changes the Host", { hasTls: true, changesHost: true }, unbound, {}],
    [
      "ends TLS, and has TLS again to the gateway",
      { hasTls: true, isTlsBehind: true },
      unbound,
      unbound,
    ],
    [
      "ends TLS 1.2, and has that again to the gateway",
      { hasTls: true, isTlsBehind: true, isOld: true },
      unbound,
      unbound,
    ],
    ["adds TLS to the gateway", { isTlsBehind: true }, {}, unbound],
  ])("links come up, and calls pass: it %s", async (_, passing, keys, gatewayKeys) => {
    const { gateway, before, node, proxy, call } = await deployment(name);
    const inner = await gateway(passing.isTlsBehind, gatewayKeys);
    const front = await before(inner.url, passing);
    const member = await node(front, keys);
    expect(member.lines).toContain(`linked to ${front}`);
    expect(inner.info).toMatchObject({ members: [member.url] });
    const outer = await proxy(front, keys);
    expect(outer.lines).toContain(`linked to ${front}`);
    expect(await call(outer.url)).toBe("200 12");
  });

  // nginx has a module for it, which few installations have.
  if (name === "HAProxy")
    it("links come up that are tied to the TLS connection of both ends: it passes TLS through", async () => {
      const { gateway, before, node } = await deployment(name);
      const inner = await gateway(true);
      const front = await before(inner.url, { isTcp: true });
      const member = await node(front);
      expect(member.lines).toContain(`linked to ${front}`);
      expect(inner.info).toMatchObject({ members: [member.url] });
    });

  const eitherEnds =
    /both must have the same trustKey\. If they have, something between them ends TLS: let it pass TLS through, or set "endToEndTls": false at both$/;
  const inBetween =
    /something between .*ends TLS.*: let it pass TLS through, or set "endToEndTls": false at both$/;
  const notTied =
    /the proof isn't tied to this TLS connection: if something between the two services ends TLS, set "endToEndTls": false at both$/;
  it.each<[string, Passing, Keys, Keys, RegExp, RegExp?]>([
    ["ends TLS", { hasTls: true }, {}, {}, eitherEnds, eitherEnds],
    // The node sees it before it asks.
    ["ends TLS 1.2", { hasTls: true, isOld: true }, {}, {}, inBetween],
    [
      "ends TLS, and has TLS again to the gateway",
      { hasTls: true, isTlsBehind: true },
      {},
      {},
      eitherEnds,
      eitherEnds,
    ],
    [
      "ends TLS, and has TLS again to the gateway; endToEndTls is false at the service that dials",
      { hasTls: true, isTlsBehind: true },
      unbound,
      {},
      /this service has "endToEndTls": false, and the other end hasn't: set it there too, or remove it here$/,
      notTied,
    ],
    [
      "ends TLS, and has TLS 1.2 to the gateway; endToEndTls is false at the service that dials",
      { hasTls: true, isTlsBehind: true, isOld: true },
      unbound,
      {},
      inBetween,
      inBetween,
    ],
    [
      "ends TLS, and has TLS again to the gateway; endToEndTls is false at that",
      { hasTls: true, isTlsBehind: true },
      {},
      unbound,
      eitherEnds,
      eitherEnds,
    ],
    [
      "adds TLS to the gateway",
      { isTlsBehind: true },
      {},
      {},
      /the other end has TLS and this end has none: if something between them adds it, set "endToEndTls": false there$/,
      notTied,
    ],
  ])(
    "a service doesn't start, and both ends say what to set: it %s",
    async (_, passing, keys, gatewayKeys, atDialer, atGateway) => {
      const { gateway, before, node, proxy } = await deployment(name);
      const { url, lines } = await gateway(passing.isTlsBehind, gatewayKeys);
      const front = await before(url, passing);
      for (const service of [node, proxy])
        await expect(service(front, keys)).rejects.toThrow(atDialer);
      const [refused] = lines.filter((line) => line.includes("refused a link to 127.0.0.1"));
      if (atGateway === undefined) expect(refused).toBeUndefined();
      else expect(refused).toMatch(atGateway);
    },
  );

  it("one line says what to let through: it takes upgrades away", async () => {
    const { gateway, before, node } = await deployment(name);
    const front = await before((await gateway()).url, { upgrades: "none" });
    const advice = `${front}/svc/link answered 404 when asked for a link, and 404 when asked for one over a WebSocket: let upgrades pass there, at least to WebSockets, with the header fields 'Connection', 'Upgrade' and 'Sec-WebSocket-*'`;
    const { lines } = await node(front);
    expect(lines.filter((line) => line.includes("can't link to"))).toEqual([
      `warning: can't link to ${front} yet (${advice}); trying again`,
    ]);
  });
});
