// Links between whole services over TLS, and through something on the way that ends it.

import { readFileSync } from "node:fs";
import { get } from "node:https";
import type { Socket } from "node:net";
import tls, { connect, createServer } from "node:tls";

import { describe, expect, it, onTestFinished } from "vitest";

import { createCertificates } from "../_certificates.ts";
import { joinSockets } from "./_behind-sockets.ts";
import { applicationOf, start } from "./_started.ts";

const files = {
  "src/shop/stock.ts": "export async function left() { return 12; }",
  "shop.segment.json": '{ "./shop/stock": { "left": { "access": "public" } } }',
  "index.html": "<!doctype html><title>Shop</title>",
};

async function deployment(shared: { readonly endToEndTls?: boolean } = {}) {
  const certificates = createCertificates();
  const ownTls = { ...certificates.sign("service"), ca: certificates.ca };
  const ca = readFileSync(certificates.ca);
  const common = {
    url: "https://127.0.0.1:0",
    tls: ownTls,
    trustKey: "the-trust-key-over-tls",
    ...shared,
  } as const;
  const application = applicationOf(files);
  const repository = await start(application, { mode: "repository", ...common });
  const gateway = await start(application, { mode: "gateway", ...common });
  return {
    repository,
    gateway,
    node: async (at: string, more: object = {}) =>
      await start(application, {
        mode: "node",
        ...common,
        ...more,
        gateway: at,
        repository: repository.url,
        segments: ["shop"],
      }),
    proxy: async (at: string, more: object = {}) =>
      await start(application, {
        mode: "proxy",
        ...common,
        ...more,
        gateway: at,
        repository: repository.url,
      }),
    /** Ends TLS with a certificate that callers trust, and has a connection of its own behind. */
    middleman: async (strips: boolean): Promise<string> => {
      const sockets = new Set<Socket>();
      const options = { cert: readFileSync(ownTls.cert), key: readFileSync(ownTls.key) };
      const server = createServer(options, (socket) => {
        const behind = connect({ port: Number(new URL(gateway.url).port), host: "127.0.0.1", ca });
        joinSockets(socket, behind, sockets, () => strips);
      });
      await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
      onTestFinished(() => {
        server.close();
        for (const socket of sockets) socket.destroy();
      });
      return `https://127.0.0.1:${(server.address() as { port: number }).port}`;
    },
    call: async (url: string): Promise<string> =>
      await new Promise((resolve, reject) => {
        get(`${url}/rpc/shop/left`, { ca, agent: false }, (answer) => {
          let text = "";
          answer.setEncoding("utf8").on("data", (part: string) => (text += part));
          answer.on("end", () => resolve(`${answer.statusCode} ${text}`));
        }).on("error", reject);
      }),
  };
}

describe("over TLS", () => {
  it("links-23: services with tls link to each other, and a call takes a link on each hop", async () => {
    const { gateway, node, proxy, call } = await deployment();
    expect((await node(gateway.url)).lines.join("\n")).toContain("joined the gateway at");
    const outer = await proxy(gateway.url);
    expect(outer.lines).toContain(`linked to ${gateway.url}`);
    expect(await call(outer.url)).toBe("200 12");
  });

  it("links-24: a service doesn't start if something on the way ends TLS and passes its upgrade on, and says what to do", async () => {
    const { node, proxy, middleman } = await deployment();
    const between = await middleman(false);
    for (const service of [node, proxy])
      await expect(service(between)).rejects.toThrow(
        /both must have the same trustKey.*ends TLS: let it pass TLS through, or set "endToEndTls": false at both/s,
      );
  });

  it("links-32: with endToEndTls false at both ends, services link through what ends TLS", async () => {
    const { gateway, node, proxy, middleman, call } = await deployment({ endToEndTls: false });
    const between = await middleman(false);
    expect((await node(between)).lines.join("\n")).toContain("joined the gateway at");
    const outer = await proxy(between);
    expect(outer.lines).toContain(`linked to ${between}`);
    expect([await call(gateway.url), await call(outer.url)]).toEqual(["200 12", "200 12"]);
  });

  it("links-33: a service with TLS takes links that aren't tied to its connection only with endToEndTls false, and both ends say what is missing where", async () => {
    const { repository, gateway, node, proxy, middleman } = await deployment();
    const between = await middleman(false);
    for (const service of [node, proxy])
      await expect(service(between, { endToEndTls: false })).rejects.toThrow(
        'this service has "endToEndTls": false, and the other end hasn\'t: set it there too, or remove it here',
      );
    // A node goes to its repository first.
    expect([...repository.lines, ...gateway.lines].join("\n")).toMatch(
      /refused a link to 127\.0\.0\.1: the proof isn't tied to this TLS connection: .*set "endToEndTls": false at both/,
    );
  });

  it("links-4: TLS before version 1.3 doesn't tell its connections apart: services don't start on it, and link with endToEndTls false at both", async () => {
    const newest = tls.DEFAULT_MAX_VERSION;
    tls.DEFAULT_MAX_VERSION = "TLSv1.2";
    onTestFinished(() => void (tls.DEFAULT_MAX_VERSION = newest));
    const bound = await deployment();
    await expect(bound.node(bound.gateway.url)).rejects.toThrow(
      /something between the two services ends TLS, as they speak TLS 1\.3 and this is TLSv1\.2: let it pass TLS through, or set "endToEndTls": false at both/,
    );
    const unbound = await deployment({ endToEndTls: false });
    expect((await unbound.node(unbound.gateway.url)).lines.join("\n")).toContain(
      "joined the gateway at",
    );
  });

  it("links-25: through what ends TLS and takes upgrades away there is no link: services say so once, and calls find nothing another way", async () => {
    const { gateway, node, proxy, middleman, call } = await deployment();
    const between = await middleman(true);
    const [behind, outer] = [await node(between), await proxy(between)];
    expect(gateway.info).toMatchObject({ members: [] });
    expect(await call(outer.url)).toMatch(/^503 /);
    for (const { lines } of [behind, outer])
      expect(lines.filter((line) => line.includes(`can't link to ${between}`))).toHaveLength(1);
  });
});
