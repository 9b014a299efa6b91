// Changing the trust key of a running deployment: old, [old, new], [new, old], new.

import { describe, expect, it } from "vitest";

import { createCredentials, type TrustKey, trustKeyHeader } from "../../src/http/trust.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import { createProxy } from "../../src/roles/proxy.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import {
  ask,
  settle,
  TestClock,
  testHost,
  TestLog,
  testModules,
  TestNetwork,
} from "../_cluster.ts";
import { dialAsMember, memoryDial } from "../_fake-member.ts";
import { anyPort, applicationOf, start as startService } from "./_started.ts";

const [old, fresh] = ["the-old-key-of-the-shop", "the-new-key-of-the-shop"];
const steps: readonly TrustKey[] = [old, [old, fresh], [fresh, old], fresh];
const host = testHost(new TestNetwork());
const trustOf = (trustKey: TrustKey, headers: Readonly<Record<string, string>>) =>
  createCredentials(trustKey, host).of({ headers });

describe("a list of trust keys", () => {
  it("keys-1: people show any of the keys, and a service proves the first of its own", () => {
    expect(trustKeyHeader([fresh, old])).toEqual({ "x-svc-trust-key": fresh });
    const holder = { holdsKey: true, member: false, relays: false, trusted: true, inner: false };
    for (const key of [fresh, old])
      expect(trustOf([fresh, old], { "x-svc-trust-key": key })).toEqual(holder);
    for (const key of ["", `${fresh}, ${old}`, `${fresh},${old}`, fresh + old])
      expect(trustOf([fresh, old], { "x-svc-trust-key": key }).holdsKey).toBe(false);
  });

  it("an empty list, or an empty key in one, proves nothing (keys-1)", () => {
    for (const keys of [[], [""], "", ["", ""], ["", old]])
      expect(trustOf(keys, { "x-svc-trust-key": "" }).holdsKey).toBe(false);
  });
});

/** A gateway, two nodes and a proxy, each of which can be started again with other keys. */
async function shop() {
  const network = new TestNetwork();
  const [clock, log] = [new TestClock(), new TestLog()];
  const hostOf = (name: string) => {
    const url = `http://${name}`;
    return testHost(network, clock, log, { url, trustKey: old });
  };
  let members = 0;
  const modules = (name: string) =>
    testModules([
      { fqn: `at/${name}`, in: { [name]: "public" }, body: () => async () => name },
      { fqn: `inner/${name}`, in: { [name]: "protected" }, body: () => async () => name },
      {
        fqn: `asks/${name}`,
        in: { [name]: "public" },
        body: ({ seam }) => {
          const other = name === "a" ? "b" : "a";
          const inner = seam({ fqn: `inner/${other}`, version: "0.0.0", parameters: [] });
          return async () => await inner.run();
        },
      },
    ]);
  const nodeOf = (name: string, trustKey: TrustKey) =>
    createNode(hostOf(name), {
      trustKey,
      limits: defaultLimits,
      gateway: "http://gateway",
      modules: modules(name),
      segments: [name],
      name,
    });
  const make: Readonly<Record<string, (trustKey: TrustKey) => Role>> = {
    gateway: (trustKey) =>
      createGateway(hostOf("gateway"), {
        trustKey,
        limits: defaultLimits,
        newId: () => `m${++members}`,
      }),
    a: (trustKey) => nodeOf("a", trustKey),
    b: (trustKey) => nodeOf("b", trustKey),
    proxy: (trustKey) =>
      createProxy(hostOf("proxy"), {
        trustKey,
        limits: defaultLimits,
        calls: "http://gateway",
        repository: "http://repository",
      }),
  };
  /** Moves the clock until something is over. */
  const during = async <Result>(act: Promise<Result>): Promise<Result> => {
    const state = { isOver: false };
    const outcome = act.finally(() => (state.isOver = true));
    outcome.catch(() => {});
    while (!state.isOver) await clock.pass(100);
    return await outcome;
  };
  const start = async (name: string, trustKey: TrustKey): Promise<void> => {
    const url = `http://${name}`;
    const role = make[name]!(trustKey);
    network.roles.set(url, role);
    await during(role.start(url));
  };
  const restart = async (name: string, trustKey: TrustKey): Promise<void> => {
    const role = network.roles.get(`http://${name}`)!;
    await during(role.leave());
    role.refuseCalls();
    await during(role.finishCalls(1_000, new Error("late")));
    await during(role.stop());
    network.roles.delete(`http://${name}`);
    await start(name, trustKey);
    // The gateway's members, and what dials it, are back.
    await clock.pass(4_000);
    await settle();
  };
  const failed: string[] = [];
  const checks = async (keys: readonly string[]): Promise<void> => {
    const proxy = network.roles.get("http://proxy")!;
    const expected = async (path: string, body: string, headers = {}): Promise<void> => {
      const { status, text } = await during(ask(proxy, "GET", path, headers));
      if (status !== 200 || text !== body) failed.push(`${path}: ${status} ${text}`);
    };
    for (const [name, other] of [
      ["a", "b"],
      ["b", "a"],
    ]) {
      await expected(`/rpc/at/${name}`, name!);
      await expected(`/rpc/asks/${name}`, other!);
      for (const key of keys)
        await expected(`/rpc/inner/${name}`, name!, { "x-svc-trust-key": key });
    }
  };
  return { network, clock, log, start, restart, checks, failed };
}

describe("a deployment with several keys", () => {
  it("keys-2: a running deployment changes its key in three rounds, one service after the other, and no call fails in between", async () => {
    const { start, restart, checks, failed, log } = await shop();
    for (const name of ["gateway", "a", "b", "proxy"]) await start(name, old);
    await checks([old]);
    for (const [round, keys] of steps.entries()) {
      if (round === 0) continue;
      // Any order: what a round needs is that the one before is complete.
      const order = ["gateway", "a", "proxy", "b"].toSorted(() => (round % 2 === 0 ? -1 : 1));
      for (const name of order) {
        await restart(name, keys);
        // Both are accepted everywhere while they are in all lists.
        await checks(
          [[old], [old], [old, fresh], [fresh]][round]!.filter((key) => round < 3 || key === fresh),
        );
      }
    }
    expect(failed).toEqual([]);
    expect(log.lines.filter((line) => /refuses|trustKey/.test(line))).toEqual([]);
  });

  it("keys-3: a service that has only the new key is refused by those that have only the old one", async () => {
    const { network, start } = await shop();
    await start("gateway", old);
    await expect(start("a", fresh)).rejects.toThrow("has another trust key");
    await expect(start("a", [fresh, old])).rejects.toThrow("has another trust key");
    await start("a", [old, fresh]);
    expect(network.roles.get("http://gateway")!.describe().members).toEqual(["http://a"]);
  });

  it("keys-4: a key that has left the lists opens nothing any more", async () => {
    const { network, start } = await shop();
    for (const name of ["gateway", "a", "proxy"]) await start(name, fresh);
    for (const name of ["gateway", "a", "proxy"]) {
      const role = network.roles.get(`http://${name}`)!;
      const { status } = await ask(role, "GET", "/rpc/inner/a", { "x-svc-trust-key": old });
      expect([name, status]).toEqual([name, 401]);
    }
    const dialling = dialAsMember({ dial: memoryDial(network), trustKey: old });
    await expect(dialling).rejects.toMatchObject({ name: "WrongKeyError" });
    const { status } = await ask(network.roles.get("http://gateway")!, "GET", "/nodes", {
      "x-svc-trust-key": old,
    });
    expect(status).toBe(401);
  });
});

it("keys-5: trustKey in a configuration may be a list in every mode: nodes get their modules, and callers with any of the keys are trusted", async () => {
  const application = applicationOf({
    "src/shop/stock.ts": "export async function left() { return 12; }",
    "shop.segment.json": '{ "./shop/stock": { "left": { "access": "protected" } } }',
  });
  const common = { url: anyPort };
  const services = [
    await startService(application, { mode: "repository", ...common, trustKey: [old, fresh] }),
    await startService(application, { mode: "gateway", ...common, trustKey: [fresh, old] }),
    await startService(application, { mode: "standalone", ...common, trustKey: [fresh, old] }),
  ];
  const [repository = "", gateway = "", standalone = ""] = services.map(({ url }) => url);
  const node = await startService(application, {
    mode: "node",
    ...common,
    trustKey: [old, fresh],
    gateway,
    repository,
    segments: ["shop"],
  });
  const proxy = await startService(application, {
    mode: "proxy",
    ...common,
    trustKey: [fresh, old],
    gateway,
    repository,
  });
  for (const key of [old, fresh, `${old}x`])
    for (const url of [gateway, standalone, node.url, proxy.url]) {
      const { status } = await fetch(`${url}/rpc/shop/left`, { headers: trustKeyHeader(key) });
      expect([url, key, status]).toEqual([url, key, key.endsWith("x") ? 401 : 200]);
    }
  const lines = [...services, node, proxy].flatMap((service) => service.lines).join("\n");
  expect(lines).not.toMatch(/the-(?:old|new)-key/);
});

it("keys-7: a service that others can reach doesn't start with a key under 32 characters, nor with one in its list", async () => {
  const application = applicationOf({});
  const long = "0123456789abcdef0123456789abcdef";
  const gateway = async (url: string, trustKey?: string | readonly string[]) =>
    await startService(application, { mode: "gateway", url, ...(trustKey && { trustKey }) });
  for (const url of ["http://0.0.0.0:0", "http://[::]:0"]) {
    await expect(gateway(url, long.slice(1))).rejects.toThrow(
      "configuration at trustKey: it has 31 characters: at least 32 are needed, as 'url' isn't a loopback address",
    );
    await expect(gateway(url, [long, "short"])).rejects.toThrow(
      "configuration at trustKey: key 2 of the list has 5 characters",
    );
  }
  await expect(gateway("http://0.0.0.0:0", [long, `${long}0`])).resolves.toBeDefined();
  for (const url of ["http://127.0.0.1:0", "http://localhost:0"])
    await expect(gateway(url, "short")).resolves.toBeDefined();
  application.write({ ".seamline/key": "a-short-key-in-a-file" });
  await expect(gateway("http://0.0.0.0:0")).rejects.toThrow(
    ".seamline/key: it has 21 characters: at least 32 are needed",
  );
});
