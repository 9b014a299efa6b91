// Where a gateway lets its members be: it sends them calls, with its credentials, at whatever address they name.

import { describe, expect, it } from "vitest";

import type { AddressRule, Names } from "../../../src/base/ports.ts";
import { createGateway } from "../../../src/roles/relay/gateway.ts";
import { defaultLimits } from "../../../src/codec/values/limits.ts";
import { ask, testHost, TestNetwork } from "../../_cluster.ts";

const trustKey = "the-trust-key-of-members";
const hosts: Readonly<Record<string, readonly string[]>> = {
  gateway: ["10.0.0.1"],
  localhost: ["127.0.0.1", "::1"],
  "node-1": ["10.0.0.7"],
  two: ["10.0.0.8", "fd00::8"],
  metadata: ["169.254.169.254"],
  mixed: ["10.0.0.9", "127.0.0.1"],
  far: ["203.0.113.5"],
};
const names: Names = {
  async resolve(host) {
    const found = hosts[host.replace(/\.$/, "")] ?? (/[:.]\d*/.test(host) ? [host] : undefined);
    if (host === "later")
      throw Object.assign(new Error("getaddrinfo EBUSY later"), { code: "EBUSY" });
    if (found === undefined)
      throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: "ENOTFOUND" });
    return found;
  },
  own: () => ["127.0.0.1", "10.0.0.1", "fd00::1"],
};

async function gatewayAt(url: string, members?: readonly string[], repository?: string) {
  const network = new TestNetwork();
  let rule: AddressRule | undefined;
  const transport = {
    send: network.send.bind(network),
    close: network.close.bind(network),
    guard: (given: AddressRule) => void (rule = given),
  };
  let ids = 0;
  const options = {
    trustKey,
    limits: defaultLimits,
    healthIntervalMs: 5000,
    lease: 15_000,
    newId: () => `m${++ids}`,
  };
  const gateway = createGateway(
    { ...testHost(network), transport, names },
    { ...options, members, repository },
  );
  await gateway.start(url);
  const join = async (member: string) =>
    await ask(
      gateway,
      "POST",
      "/nodes",
      { "x-svc-trust-key": trustKey },
      JSON.stringify({ url: member, procedures: ["shop/stock"] }),
    );
  return { gateway, join, connecting: (host: string, address: string) => rule?.(host, address) };
}

describe("a gateway that isn't at a loopback address", () => {
  it.each([
    ["http://169.254.169.254", "169.254.169.254 is a link-local address"],
    ["http://[fe80::1]:3000", "fe80::1 is a link-local address"],
    ["http://[::ffff:169.254.1.1]", "::ffff:a9fe:101 is a link-local address"],
    ["http://0.0.0.0:3000", "0.0.0.0 is an unspecified address"],
    ["http://[::]:3000", ":: is an unspecified address"],
    ["http://224.0.0.1", "224.0.0.1 is a multicast address"],
    ["http://[ff02::1]", "ff02::1 is a multicast address"],
    [
      "http://127.0.0.1:3003",
      "127.0.0.1 is a loopback address, which is a different machine for each caller: give the address at which others reach it",
    ],
    [
      "http://2130706433:3003",
      "127.0.0.1 is a loopback address, which is a different machine for each caller: give the address at which others reach it",
    ],
    [
      "http://0x7f.1:3003",
      "127.0.0.1 is a loopback address, which is a different machine for each caller: give the address at which others reach it",
    ],
    [
      "http://[::1]:3003",
      "::1 is a loopback address, which is a different machine for each caller: give the address at which others reach it",
    ],
    [
      "http://[64:ff9b::7f00:1]",
      "64:ff9b::7f00:1 is a loopback address, which is a different machine for each caller: give the address at which others reach it",
    ],
    [
      "http://localhost:3003",
      "localhost resolves to 127.0.0.1, a loopback address, which is a different machine for each caller: give the address at which others reach it",
    ],
    ["http://metadata", "metadata resolves to 169.254.169.254, a link-local address"],
    [
      "http://mixed:3003",
      "mixed resolves to 127.0.0.1, a loopback address, which is a different machine for each caller: give the address at which others reach it",
    ],
    ["http://10.0.0.1:3002", "10.0.0.1 is this gateway's own address"],
    ["http://gateway:3002", "gateway resolves to 10.0.0.1, this gateway's own address"],
    ["http://nowhere:3002", "the name nowhere has no address here (ENOTFOUND)"],
  ])("refuses the member %s with 400 and the reason", async (url, why) => {
    const { gateway, join } = await gatewayAt("http://gateway:3002");
    expect(await join(url)).toMatchObject({
      status: 400,
      text: `A member can't be at ${new URL(url).origin}: ${why}`,
      headers: { "x-svc-error": "BadRequest" },
    });
    expect(gateway.describe()["members"]).toEqual([]);
  });

  it.each([
    "http://node-1:3003",
    "http://10.0.0.1:3003",
    "http://two",
    "https://10.0.0.1",
    "http://[fd00::7]:3002",
    "http://far:3003",
  ])("takes the member %s", async (url) => {
    const { join } = await gatewayAt("http://gateway:3002");
    expect((await join(url)).status).toBe(201);
  });

  it("answers 503 if a name can't be resolved now, so that the member tries again", async () => {
    const { join } = await gatewayAt("http://gateway:3002");
    expect(await join("http://later:3002")).toMatchObject({
      status: 503,
      text: "The name later can't be looked up now (EBUSY)",
      headers: { "retry-after": "1" },
    });
  });

  it("refuses an address of over 2048 characters, and takes one of 2048", async () => {
    const { join } = await gatewayAt("http://gateway:3002");
    const address = (length: number): string =>
      `http://node-1/${"a".repeat(length - "http://node-1/".length)}`;
    expect((await join(address(2048))).status).toBe(201);
    for (const url of [address(2049), `http://node-1/${"ü".repeat(1_000)}`])
      expect(await join(url)).toMatchObject({
        status: 400,
        text: expect.stringContaining("'url' is longer than 2048 characters") as string,
      });
  });

  it("refuses an address with a zone", async () => {
    const { join } = await gatewayAt("http://gateway:3002");
    for (const url of ["http://[fe80::1%25eth0]:3003", "http://[fd00::1%eth0]"])
      expect((await join(url)).status).toBe(400);
  });

  it("that listens on all addresses refuses members at any of them", async () => {
    const { join } = await gatewayAt("http://0.0.0.0:3002");
    for (const url of ["http://10.0.0.1:3002", "http://[fd00::1]:3002", "http://gateway:3002"])
      expect((await join(url)).text, url).toContain("this gateway's own address");
    expect((await join("http://127.0.0.1:3003")).text).toContain("a loopback address");
    expect((await join("http://10.0.0.1:3003")).status).toBe(201);
  });
});

describe("a gateway at a loopback address", () => {
  it.each(["http://127.0.0.1:3002", "http://localhost:3002", "http://[::1]:3002"])(
    "takes members there (%s), but not itself",
    async (own) => {
      const { join } = await gatewayAt(own);
      expect((await join("http://127.0.0.1:3003")).status).toBe(201);
      expect((await join("http://localhost:3003")).status).toBe(201);
      expect((await join(own)).text).toContain("this gateway's own address");
      expect((await join("http://metadata")).status).toBe(400);
    },
  );
});

describe("'members'", () => {
  const members = ["node-1", "fd00::/16", "203.0.113.0/24"];
  it("restricts members to names and address ranges", async () => {
    const { join } = await gatewayAt("http://gateway:3002", members);
    for (const url of [
      "http://node-1:3003",
      "http://NODE-1.:3003",
      "http://[fd00::7]",
      "http://far",
    ])
      expect((await join(url)).status, url).toBe(201);
    expect(await join("http://10.0.0.7:3003")).toMatchObject({
      status: 400,
      text: "A member can't be at http://10.0.0.7:3003: 10.0.0.7 is not among 'members' in this gateway's configuration",
    });
    // Each of its addresses may be what is connected to.
    expect((await join("http://two")).text).toContain(
      "two resolves to 10.0.0.8, not among 'members'",
    );
  });

  it("doesn't allow special addresses", async () => {
    const { join } = await gatewayAt("http://gateway:3002", ["0.0.0.0/0", "localhost", "metadata"]);
    for (const url of ["http://localhost:3003", "http://metadata", "http://127.0.0.1:3003"])
      expect((await join(url)).status).toBe(400);
  });
});

describe("a name that resolves to something else after its member has joined", () => {
  it("is checked again when a connection is opened", async () => {
    const { join, connecting } = await gatewayAt(
      "http://gateway:3002",
      undefined,
      "http://files:3001",
    );
    expect((await join("http://node-1:3003")).status).toBe(201);
    expect(connecting("node-1", "10.0.0.7")).toBeUndefined();
    expect(connecting("node-1", "127.0.0.1")).toContain("a loopback address");
    expect(connecting("node-1", "::ffff:169.254.1.1")).toContain("a link-local address");
    // The repository is no member: its address is the owner's to choose.
    expect(connecting("files", "127.0.0.1")).toBeUndefined();
  });
});
