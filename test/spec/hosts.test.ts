import { request } from "node:http";

import { describe, expect, it } from "vitest";

import { serviceHeaders } from "../../src/base/protocol.ts";
import { anyPort, applicationOf, start } from "./_started.ts";

// DNS rebinding: if a page's host name is pointed at this machine, its browser takes us for the
// same origin.

const files = {
  "src/shop/stock.ts": `
    export async function left() { return 12; }
    export async function seen(this: { headers: ReadonlyMap<string, string> }) {
      return ["x-forwarded-host", "x-forwarded-proto"].map((name) => this.headers.get(name) ?? "none").join(" ");
    }
    export async function headers(this: { headers: ReadonlyMap<string, string> }) {
      return Object.fromEntries(this.headers);
    }`,
  "shop.segment.json":
    '{ "./shop/stock": { "left": { "access": "public" }, "seen": { "access": "public" }, "headers": { "access": "public" } } }',
  "index.html": "<!doctype html><title>Shop</title>",
};
const trustKey = "the-trust-key-of-the-hosts";

interface Answer {
  readonly status: number;
  readonly error: string | undefined;
  readonly text: string;
}

/** A GET with a Host header, which `fetch` can't set. */
const get = (
  url: string,
  path: string,
  host: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = request(url + path, { headers: { ...more, host } }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          error: response.headers["x-svc-error"]?.toString(),
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    sent.on("error", reject);
    sent.end();
  });

/** The five roles, each with `more` in its configuration. */
async function deployment(more: object = {}) {
  const application = applicationOf(files);
  const common = { url: anyPort, trustKey, ...more };
  const standalone = await start(application, { mode: "standalone", ...common });
  const repository = await start(application, { mode: "repository", ...common });
  const gateway = await start(application, { mode: "gateway", ...common });
  const node = await start(application, {
    mode: "node",
    ...common,
    gateway: gateway.url,
    repository: repository.url,
    segments: ["shop"],
  });
  const proxy = await start(application, {
    mode: "proxy",
    ...common,
    gateway: gateway.url,
    repository: repository.url,
  });
  return { standalone, repository, gateway, node, proxy };
}

describe("hosts", () => {
  it("hosts-1: a request from outside for another host is 421 at every role, and logged with the keys to set", async () => {
    const services = await deployment();
    for (const [role, { url, lines }] of Object.entries(services)) {
      for (const path of ["/rpc/shop/left", "/", "/svc/client.js", "/nodes", "/nothing"]) {
        const answer = await get(url, path, "evil.example:3000");
        expect(answer, `${role} ${path}`).toEqual({
          status: 421,
          error: "MisdirectedRequest",
          text: `This service doesn't answer for the host "evil.example"`,
        });
      }
      expect(lines.filter((line) => line.includes("evil.example"))).toEqual([
        `warning: refused a request for the host "evil.example". If it is one of this service's, add it to 'hosts' or set 'origin'`,
      ]);
    }
  });

  it("(hosts-1) the refusal of a host keeps the caller's encoding, as any other does, and an unknown encoding is plain", async () => {
    const message = `This service doesn't answer for the host "evil.example"`;
    const services = await deployment();
    for (const [role, { url }] of Object.entries(services)) {
      const refusedIn = async (encoding: string): Promise<Answer> => {
        const fields = { "x-svc-data-encoding": encoding };
        return await get(url, "/rpc/shop/left", "evil.example", fields);
      };
      for (const encoding of ["serialized", "serialized, superjson"]) {
        const { status, error, text } = await refusedIn(encoding);
        expect([status, error, JSON.parse(text)], `${role}, ${encoding}`).toEqual([
          421,
          "MisdirectedRequest",
          {
            serialized: true,
            name: "Error",
            type: "MisdirectedRequest",
            message,
            trace: [],
            fields: {},
          },
        ]);
      }
      expect(JSON.parse((await refusedIn("superjson")).text), role).toMatchObject({
        json: { name: "MisdirectedRequest", message },
        meta: { values: ["Error"] },
      });
      const answer = { status: 421, error: "MisdirectedRequest", text: message };
      expect(await refusedIn("morse"), role).toEqual(answer);
    }
  });

  it("hosts-2: localhost, addresses, and the hosts of 'url', 'origin' and 'hosts' are the service's own", async () => {
    const services = await deployment({
      origin: ["https://shop.example", "https://m.shop.example"],
      hosts: ["inner"],
    });
    for (const { url } of Object.values(services))
      for (const host of [
        "localhost",
        "a.localhost",
        "127.0.0.1",
        "[::1]",
        "shop.example",
        "m.shop.example:81",
        "inner",
        "INNER.",
      ])
        expect((await get(url, "/health/live", host)).status).toBe(200);
    for (const endpoint of ["standalone", "node", "gateway", "proxy"] as const)
      for (const host of ["localhost:1", "10.0.0.1", "shop.example", "inner"])
        expect(
          await get(services[endpoint].url, "/rpc/shop/left", host),
          `${endpoint} ${host}`,
        ).toEqual({
          status: 200,
          text: "12",
        });
  });

  it('hosts-3: "hosts": ["*"] accepts every host', async () => {
    const { proxy } = await deployment({ hosts: ["*"] });
    expect(await get(proxy.url, "/rpc/shop/left", "evil.example")).toEqual({
      status: 200,
      text: "12",
    });
  });

  it("hosts-4: health requests are accepted for any host name", async () => {
    for (const { url } of Object.values(await deployment()))
      for (const path of ["/health", "/health/status", "/health/live", "/health/ready"])
        expect((await get(url, path, "evil.example")).status, path).toBe(200);
  });

  it("hosts-5: requests between services, which come over links, are accepted for any host name, and those of people with the key aren't", async () => {
    const { gateway, proxy } = await deployment();
    const shown = { [serviceHeaders.trustKey]: trustKey };
    expect((await get(proxy.url, "/rpc/shop/left", "localhost", shown)).status).toBe(200);
    for (const target of ["/rpc/shop/left", "/nodes"])
      expect((await get(gateway.url, target, "gateway.inner", shown)).status).toBe(421);
    expect((await get(gateway.url, "/nodes", "localhost", shown)).status).toBe(200);
  });

  it("hosts-6: the first service sets the forwarded host and scheme, and ignores those from outside", async () => {
    const { proxy, standalone } = await deployment({ hosts: ["shop.example"] });
    const lie = { "x-forwarded-host": "evil.example", "x-forwarded-proto": "https" };
    expect((await get(proxy.url, "/rpc/shop/seen", "shop.example:81")).text).toBe(
      "shop.example:81 http",
    );
    expect((await get(proxy.url, "/rpc/shop/seen", "shop.example", lie)).text).toBe(
      "shop.example http",
    );
    expect((await get(standalone.url, "/rpc/shop/seen", "shop.example", lie)).text).toBe(
      "none none",
    );
  });

  it("hosts-7: with 'forwarded', a service believes the forwarded host and scheme of the proxy in front", async () => {
    const { proxy, standalone } = await deployment({
      origin: "https://shop.example",
      forwarded: true,
    });
    const forwarded = { "x-forwarded-host": "shop.example", "x-forwarded-proto": "https" };
    for (const { url } of [proxy, standalone]) {
      expect((await get(url, "/rpc/shop/seen", "127.0.0.1", forwarded)).text).toBe(
        "shop.example https",
      );
      expect(
        (
          await get(url, "/rpc/shop/seen", "127.0.0.1", {
            ...forwarded,
            "x-forwarded-host": "evil.example",
          })
        ).status,
      ).toBe(421);
      expect((await get(url, "/rpc/shop/seen", "evil.example", forwarded)).status).toBe(421);
    }
  });

  it("hosts-8: 'origin' defines what is same-origin, also behind a proxy that terminates TLS", async () => {
    const { proxy } = await deployment({ origin: "https://shop.example" });
    const status = async (more: Readonly<Record<string, string>>): Promise<number> =>
      (await get(proxy.url, "/rpc/shop/left", "shop.example", more)).status;
    expect(await status({ origin: "https://shop.example" })).toBe(200);
    expect(await status({ referer: "https://shop.example/basket" })).toBe(200);
    expect(await status({ origin: "http://shop.example" })).toBe(403);
    expect(await status({ origin: "https://evil.example" })).toBe(403);
  });

  it.each([
    [{ origin: "shop.example" }, "origin"],
    [{ origin: "https://shop.example/shop" }, "origin"],
    [{ origin: [] }, "origin"],
    [{ hosts: ["shop.example:80"] }, "hosts.0"],
    [{ hosts: ["https://shop.example"] }, "hosts.0"],
    [{ hosts: "*" }, "hosts"],
    [{ forwarded: "yes" }, "forwarded"],
  ])(
    "hosts-9: an invalid origin or host is refused at start, with its key: %j",
    async (more, key) => {
      await expect(
        start(applicationOf(files), { mode: "gateway", url: anyPort, ...more }),
      ).rejects.toThrow(key);
    },
  );

  it("hosts-10: a procedure sees the host that was asked for, never a service's own address, and no field of a connection, wherever it runs", async () => {
    const { node, gateway, proxy, standalone } = await deployment({ hosts: ["shop.example"] });
    const ofTheConnection = {
      connection: "x-hop",
      "x-hop": "1",
      "keep-alive": "timeout=5",
      te: "trailers",
      "proxy-authorization": "Basic a",
    };
    const host = "shop.example:81";
    for (const [{ url }, as] of [
      [standalone, { host }],
      [node, { host }],
      [gateway, { "x-forwarded-host": host }],
      [proxy, { "x-forwarded-host": host }],
    ] as const) {
      const { text } = await get(url, "/rpc/shop/headers", host, {
        ...ofTheConnection,
        "x-tenant": "7",
      });
      const seen = JSON.parse(text) as Record<string, string>;
      expect(seen).toMatchObject(as);
      expect(seen["x-tenant"]).toBe("7");
      if (!("host" in as)) expect(seen).not.toHaveProperty("host");
      for (const name of Object.keys(ofTheConnection)) expect(seen).not.toHaveProperty(name);
    }
  });
});
