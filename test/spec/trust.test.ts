import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { beforeAll, describe, expect, it } from "vitest";

import { ask, fromField } from "../_cluster.ts";
import { deploy, type Deployment, key, sentBy } from "../_deployment.ts";
import { anyPort, applicationOf, start } from "./_started.ts";

let cluster: Deployment;
beforeAll(async () => {
  cluster = await deploy();
});

const endpoints = ["b", "gateway", "proxy"] as const;
const trusted = { "x-svc-trust-key": key };
const json = { "content-type": "application/json", "x-svc-data-encoding": "serialized" };

const gateway = { mode: "gateway", url: anyPort };
const far = {
  "src/far.ts": "export async function far() { return 1; }",
  "far.segment.json": '{ "./far": { "far": { "access": "public" } } }',
};
const keyOf = (root: string): string => readFileSync(join(root, ".seamline/key"), "utf8").trim();
/** Whether a service accepts `shown` as the key of its deployment. */
const takes = async (url: string, trustKey: string): Promise<boolean> =>
  (await fetch(`${url}/nodes`, { headers: { "x-svc-trust-key": trustKey } })).status === 200;

describe("the trust key", () => {
  it.each(endpoints)(
    "trust-1: trust never comes from an address, nor from a proxy's header about one (at the %s)",
    async (endpoint) => {
      for (const address of ["127.0.0.1", "[::1]", "localhost"]) {
        const headers = {
          "x-forwarded-for": address,
          "x-real-ip": address,
          forwarded: `for=${address}`,
          host: address,
        };
        expect((await ask(cluster[endpoint], "GET", "/rpc/shop/audit", headers)).status).toBe(401);
      }
    },
  );

  it("a socket of the same machine isn't trusted either (trust-1)", async () => {
    const { url } = await start(applicationOf({}), gateway);
    expect((await fetch(`${url}/nodes`)).status).toBe(401);
  });

  it("trust-2: with a configured trust key, no file is written", async () => {
    const application = applicationOf({});
    const { url } = await start(application, { ...gateway, trustKey: "configured-configured" });
    expect(await takes(url, "configured-configured")).toBe(true);
    expect(() => keyOf(application.root)).toThrow("ENOENT");
  });

  it("trust-3: without a configured trust key the first role that starts in a folder writes a random one to .seamline/key", async () => {
    const [first, second] = [applicationOf({}), applicationOf({})];
    const { url } = await start(first, gateway);
    await start(second, gateway);
    expect(keyOf(first.root)).toMatch(/^[\w-]{43}$/);
    expect(keyOf(second.root)).not.toBe(keyOf(first.root));
    expect(await takes(url, keyOf(first.root))).toBe(true);
    expect(await takes(url, keyOf(second.root))).toBe(false);
  });

  it("trust-4: only its owner may read the file of the trust key: its mode is 0600", async () => {
    const application = applicationOf({});
    await start(application, gateway);
    expect(statSync(join(application.root, ".seamline/key")).mode & 0o777).toBe(0o600);
  });

  it("trust-5: git ignores the file of the trust key", async () => {
    const application = applicationOf({});
    await start(application, gateway);
    expect(readFileSync(join(application.root, ".seamline/.gitignore"), "utf8")).toBe("*\n");
  });

  it("trust-6: every role of the folder reads the trust key there, also if they start at the same time", async () => {
    const application = applicationOf({});
    const servers = await Promise.all([1, 2, 3].map(() => start(application, gateway)));
    for (const { url } of servers) expect(await takes(url, keyOf(application.root))).toBe(true);
    const before = keyOf(application.root);
    await start(application, gateway);
    expect(keyOf(application.root)).toBe(before);
  });

  it("trust-7: roles in different folders need the same trustKey, and with it they are one deployment", async () => {
    const repository = await start(applicationOf(far), {
      mode: "repository",
      url: anyPort,
      trustKey: "shared-shared-shared",
    });
    const application = applicationOf({});
    const proxy = {
      mode: "proxy",
      url: anyPort,
      repository: repository.url,
      gateway: "http://127.0.0.1:9",
    };
    await start(application, { ...proxy, trustKey: "shared-shared-shared" });
    const node = {
      mode: "node",
      url: anyPort,
      repository: repository.url,
      segments: ["far"],
      trustKey: "shared-shared-shared",
    };
    expect((await start(application, node)).info).toMatchObject({
      segments: ["far"],
      procedures: 1,
    });
  });

  it("trust-8: without the same trustKey the start of a node, and of a proxy, in another folder is an error that says so", async () => {
    const repository = await start(applicationOf(far), { mode: "repository", url: anyPort });
    const node = { mode: "node", url: anyPort, repository: repository.url, segments: ["far"] };
    await expect(start(applicationOf({}), node)).rejects.toThrow(
      `${repository.url} has another trust key: both must have the same trustKey`,
    );
    const proxy = {
      mode: "proxy",
      url: anyPort,
      repository: repository.url,
      gateway: "http://127.0.0.1:9",
    };
    await expect(start(applicationOf({}), proxy)).rejects.toThrow(
      `${repository.url} has another trust key: both must have the same trustKey`,
    );
  });

  it("a proxy starts without waiting for its repository (trust-8)", async () => {
    const proxy = {
      mode: "proxy",
      url: anyPort,
      repository: "http://127.0.0.1:9",
      gateway: "http://127.0.0.1:9",
    };
    expect((await start(applicationOf({}), proxy)).mode).toBe("proxy");
  });

  it("an unusable key file is an error that names it (trust-6)", async () => {
    const application = applicationOf({});
    mkdirSync(join(application.root, ".seamline"));
    for (const text of ["", "two words", "ключ"]) {
      writeFileSync(join(application.root, ".seamline/key"), text);
      await expect(start(application, gateway)).rejects.toThrow(
        join(application.root, ".seamline/key"),
      );
    }
  });
});

describe("trusted calls", () => {
  it("trust-9: a call that a procedure makes is trusted, whatever called that procedure", async () => {
    for (const endpoint of ["a", "gateway", "proxy"] as const)
      expect(await ask(cluster[endpoint], "GET", "/rpc/shop/viaAudit")).toMatchObject({
        status: 200,
        text: "audited",
      });
    expect(await ask(cluster.proxy, "GET", "/rpc/shop/viaAudit", sentBy.outside)).toMatchObject({
      status: 200,
    });
  });

  it("trust-10: a call that proxy and gateway pass on is as trusted as its sender", async () => {
    const { proxy, network } = await deploy();
    const takeSenders = (): unknown[] =>
      network.sent.splice(0).map(({ headers }) => [headers[fromField], headers["x-svc-trust-key"]]);
    const twice = (sender: string): unknown[] => [
      [sender, undefined],
      [sender, undefined],
    ];
    const [holder, outside] = ["trusted", "outside"];
    network.sent.length = 0;
    expect((await ask(proxy, "GET", "/rpc/shop/audit")).status).toBe(401);
    expect(takeSenders()).toEqual(twice(outside));
    expect((await ask(proxy, "GET", "/rpc/shop/audit", trusted)).status).toBe(200);
    expect(takeSenders()).toEqual(twice(holder));
    expect((await ask(proxy, "GET", "/rpc/shop/audit", sentBy.trusted)).status).toBe(200);
    expect(takeSenders()).toEqual(twice(holder));
    expect((await ask(proxy, "GET", "/rpc/shop/audit", sentBy.outside)).status).toBe(401);
    expect(takeSenders()).toEqual(twice(outside));
  });

  it.each(endpoints)(
    "trust-11: over HTTP nothing but the trust key grants anything (at the %s)",
    async (endpoint) => {
      const status = async (headers: Record<string, string>): Promise<number> =>
        (await ask(cluster[endpoint], "GET", "/rpc/shop/audit", headers)).status;
      for (const credential of ["service", "trusted", key, `service ${key}`])
        expect(await status({ "x-svc-credential": credential }), credential).toBe(401);
      expect(await status({ "x-svc-origin": "trusted" })).toBe(401);
      expect(await status({ ...trusted, "x-svc-credential": "outside" })).toBe(200);
    },
  );

  it.each(endpoints)(
    "trust-12: a protected procedure needs a trusted call: 401 without the key (at the %s)",
    async (endpoint) => {
      const status = async (headers: Record<string, string>): Promise<number> =>
        (await ask(cluster[endpoint], "GET", "/rpc/shop/audit", headers)).status;
      expect(await status({})).toBe(401);
      for (const trustKey of ["", "wrong", key.toUpperCase(), `${key} `, `${key}, ${key}`])
        expect(await status({ "x-svc-trust-key": trustKey })).toBe(401);
      expect(await status(trusted)).toBe(200);
    },
  );

  it.each(endpoints)(
    "trust-13: RegExp and Error forms among arguments need a trusted call: 400 without the key (at the %s)",
    async (endpoint) => {
      for (const form of [
        { serialized: true, name: "RegExp", source: "a+", flags: "" },
        { serialized: true, name: "Error", type: "NotFound", message: "x", trace: [], fields: {} },
      ]) {
        const body = JSON.stringify({ sku: form });
        const refused = await ask(cluster[endpoint], "POST", "/rpc/shop/stock", json, body);
        expect([refused.status, (JSON.parse(refused.text) as { type: string }).type]).toEqual([
          400,
          "InvalidSerializedValue",
        ]);
        expect(
          (await ask(cluster[endpoint], "POST", "/rpc/shop/stock", { ...json, ...trusted }, body))
            .status,
        ).toBe(200);
        expect(
          (
            await ask(
              cluster[endpoint],
              "POST",
              "/rpc/shop/stock",
              { ...json, ...sentBy.outside },
              body,
            )
          ).status,
        ).toBe(400);
      }
    },
  );
});

describe("stacks of errors", () => {
  it.each(endpoints)(
    "only holders of the trust key get stacks of errors, at the %s (trust-10)",
    async (endpoint) => {
      const serialized = { "x-svc-data-encoding": "serialized" };
      const outside = await ask(cluster[endpoint], "GET", "/rpc/shop/stock?sku=none", serialized);
      expect(outside).toMatchObject({ status: 404, headers: { "x-svc-error": "NotFound" } });
      expect(outside.text).not.toContain("stack");
      const inside = await ask(cluster[endpoint], "GET", "/rpc/shop/stock?sku=none", {
        ...serialized,
        ...trusted,
      });
      expect(JSON.parse(inside.text)).toHaveProperty("stack");
    },
  );

  it("stacks stay inside if a procedure passes on an error that came with one (trust-10)", async () => {
    const answer = await ask(cluster.proxy, "GET", "/rpc/shop/quote?sku=none&quantity=1", {
      "x-svc-data-encoding": "serialized",
    });
    expect(answer.text).toContain("no none left");
    expect(answer.text).not.toContain("stack");
  });
});
