// Entries of the directory may come from any of its writers.

import { describe, expect, it, onTestFinished } from "vitest";
import fc from "fast-check";

import { nodeHost } from "../../../server/http/host.ts";
import { Directory, type DirectoryMember } from "../../../src/roles/directory/directory.ts";
import { createEntries } from "../../../src/roles/directory/entry.ts";
import { textOfList } from "../../../src/roles/members/member-list.ts";
import { key, TestClock, TestLog } from "../../_cluster.ts";
import { MemoryServer } from "../../_memory-buckets.ts";
import { maxEntryBytes, partBytes } from "../../../src/roles/common/limits.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function world(trustKey: string | readonly string[] = key) {
  const clock = new TestClock();
  const log = new TestLog();
  const server = new MemoryServer();
  const host = { ...nodeHost({ log, clock }) };
  const open = async (
    instance: string = crypto.randomUUID(),
    options: { trustKey?: string | readonly string[]; prefix?: string } = {},
  ): Promise<Directory> => {
    const parts = { host, buckets: server.buckets(), trustKey, prefix: "tests", instance };
    const directory = new Directory({ ...parts, ...options });
    onTestFinished(() => directory.stop());
    await directory.start();
    return directory;
  };
  const gatewaysOf = (directory: Directory): readonly string[] => {
    let found: readonly string[] = [];
    directory.watch((all) => (found = all.map(({ url }) => url)))();
    return found;
  };
  const entries = createEntries(host, trustKey, "tests");
  const warnings = (): string[] => log.lines.filter((line) => line.startsWith("warning"));
  return { clock, log, server, host, open, gatewaysOf, entries, warnings };
}

describe("an entry of the directory", () => {
  it("is ignored with one warning if it isn't signed with the trust key, for its bucket and its key", async () => {
    const { open, server, gatewaysOf, entries, warnings, host } = world();
    const reader = await open();
    const content = { url: "http://10.9.9.9:1" };
    const entry = { instance: "instance-1", sequence: 1, content };
    const foreign = createEntries(host, "another-key-of-somebody", "tests");
    const elsewhere = createEntries(host, key, "another");
    const text = JSON.stringify(entry);
    const wrong: [string, Uint8Array][] = [
      ["instance-1", foreign.write("gateways", entry)],
      ["instance-2", elsewhere.write("gateways", { ...entry, instance: "instance-2" })],
      ["instance-3", entries.write("members", { ...entry, instance: "instance-3" })],
      ["instance-4", entries.write("gateways", entry)],
      ["instance-5", encoder.encode(text)],
      ["instance-6", encoder.encode(`\n${text}`)],
      ["instance-7", new Uint8Array([0xff, 0xfe])],
      ["instance-8", new Uint8Array()],
      ["instance-9", new Uint8Array(maxEntryBytes + 1)],
      ["../x", entries.write("gateways", { ...entry, instance: "../x" })],
    ];
    for (const [name, value] of wrong) {
      server.write("gateways", name, value);
      server.write("gateways", name, value);
    }
    expect(gatewaysOf(reader)).toEqual([]);
    expect(warnings()).toHaveLength(wrong.length);
    expect(warnings()[0]).toMatch(
      /ignored a value in the directory's gateways, "instance-1": it isn't signed with this deployment's trust key/,
    );
    server.write("gateways", "instance-1", entries.write("gateways", entry));
    expect(gatewaysOf(reader)).toEqual([content.url]);
  });

  it("is ignored if it is signed and not right: no address, a path in it, another scheme, no sequence", async () => {
    const { open, server, gatewaysOf, entries, warnings } = world();
    const reader = await open();
    const contents: unknown[] = [
      "text",
      null,
      {},
      { url: 1 },
      { url: "javascript:alert(1)" },
      { url: "http://a/path" },
      { url: "http://user:pass@a" },
      { url: `http://${"a".repeat(300)}` },
      { url: "HTTP://A" },
    ];
    for (const [at, content] of contents.entries()) {
      const instance = `instance-${at}`;
      server.write(
        "gateways",
        instance,
        entries.write("gateways", { instance, sequence: 1, content }),
      );
    }
    for (const sequence of [0, -1, 1.5, Number.MAX_VALUE]) {
      const instance = `sequence-${String(sequence).length}`;
      const entry = { instance, sequence, content: { url: "http://a" } };
      server.write("gateways", instance, entries.write("gateways", entry));
    }
    expect(gatewaysOf(reader)).toEqual([]);
    expect(warnings()).toHaveLength(contents.length + 4);
  });

  it("that is old isn't taken for news: not while its process lives, nor when it has left, nor when it has run out", async () => {
    const { open, server, gatewaysOf, clock } = world();
    const reader = await open();
    const gateway = await open("the-gateway");
    await gateway.announceGateway("http://10.0.0.1:1");
    const old = server.values.get("gateways the-gateway")!;
    await gateway.announceGateway("http://10.0.0.2:1");
    server.write("gateways", "the-gateway", old);
    expect(gatewaysOf(reader)).toEqual(["http://10.0.0.2:1"]);
    const last = server.values.get("gateways the-gateway")!;
    await gateway.leave();
    for (const value of [old, last]) server.write("gateways", "the-gateway", value);
    expect(gatewaysOf(reader)).toEqual([]);

    const dying = await open("dying-gateway");
    await dying.announceGateway("http://10.0.0.3:1");
    const replayed = server.values.get("gateways dying-gateway")!;
    await dying.stop();
    // Putting it back again and again doesn't keep it alive.
    for (let passed = 0; passed < 120_000; passed += 10_000) {
      await clock.pass(10_000);
      server.write("gateways", "dying-gateway", replayed);
    }
    expect(gatewaysOf(reader)).toEqual([]);
    // Not even for a service that never saw it alive, for longer than its time.
    const late = await open();
    server.write("gateways", "dying-gateway", replayed);
    await clock.pass(95_000);
    server.write("gateways", "dying-gateway", replayed);
    expect(gatewaysOf(late)).toEqual([]);
  });

  it("is read with all keys of a list, and written with the first", async () => {
    const { open, gatewaysOf } = world();
    const old = await open("old-gateway", { trustKey: "the-old-key-of-tests" });
    await old.announceGateway("http://10.0.0.1:1");
    const both = await open("both-gateway", {
      trustKey: ["the-new-key-of-tests", "the-old-key-of-tests"],
    });
    await both.announceGateway("http://10.0.0.2:1");
    expect(gatewaysOf(both)).toEqual(["http://10.0.0.1:1", "http://10.0.0.2:1"]);
    expect(gatewaysOf(old)).toEqual(["http://10.0.0.1:1"]);
    const fresh = await open("new-gateway", { trustKey: "the-new-key-of-tests" });
    expect(gatewaysOf(fresh)).toEqual(["http://10.0.0.2:1"]);
    await expect(open("no-key-at-all", { trustKey: "" })).rejects.toThrow(/needs a 'trustKey'/);
  });

  it("can be any bytes under any key: nothing throws, and warnings come to an end", async () => {
    const { open, server, gatewaysOf, warnings } = world();
    const reader = await open();
    fc.assert(
      fc.property(fc.string(), fc.uint8Array({ maxLength: 300 }), (name, value) => {
        server.write("gateways", name, value);
      }),
      { numRuns: 300 },
    );
    expect(gatewaysOf(reader)).toEqual([]);
    expect(warnings().length).toBeLessThanOrEqual(20);
    expect(warnings().at(-1)).toMatch(/More of them won't be logged/);
  });

  it("of a host that stood still for minutes isn't over when it goes on", async () => {
    const { open, gatewaysOf, clock } = world();
    const reader = await open();
    const gateway = await open();
    await gateway.announceGateway("http://10.0.0.1:1");
    // All timers are late together, once.
    const now = clock.now.bind(clock);
    clock.now = () => now() + 600_000;
    await clock.pass(5_000);
    expect(gatewaysOf(reader)).toEqual(["http://10.0.0.1:1"]);
  });
});

it("a start that waits for the directory ends when the service stops", async () => {
  const { host, server } = world();
  server.away();
  const parts = { host, trustKey: key, prefix: "tests", instance: crypto.randomUUID() };
  const directory = new Directory({ ...parts, buckets: server.buckets() });
  const starting = directory.start();
  await directory.stop();
  await expect(starting).rejects.toThrow("this service has stopped");
});

describe("what is published", () => {
  it("is tried again while the server refuses it, which is logged once, and once when it works", async () => {
    const { open, server, clock, log, gatewaysOf } = world();
    const reader = await open();
    const gateway = await open();
    const write = server.write.bind(server);
    server.write = () => {
      throw new Error("no space is left");
    };
    await gateway.announceGateway("http://10.0.0.1:1");
    await clock.pass(60_000);
    server.write = write;
    await clock.pass(10_000);
    expect(gatewaysOf(reader)).toEqual(["http://10.0.0.1:1"]);
    expect(log.lines.filter((line) => /no space is left/.test(line))).toHaveLength(1);
    expect(log.lines.filter((line) => /in the directory's gateways again/.test(line))).toHaveLength(
      1,
    );
  });

  it("is written every 30 s at most, and when it changes", async () => {
    const { open, server, clock } = world();
    const gateway = await open();
    await gateway.announceGateway("http://10.0.0.1:1");
    await clock.pass(10 * 60_000);
    expect(server.puts.length).toBeGreaterThanOrEqual(20);
    expect(server.puts.length).toBeLessThanOrEqual(28);
  });
});

describe("members in the directory", () => {
  const offered = { procedures: Array.from({ length: 40_000 }, (_, at) => `shop/procedure${at}`) };
  const text = encoder.encode(textOfList({ procedures: offered.procedures.toSorted() }));
  const memberOf = (host: { digest(bytes: Uint8Array): string }) => ({
    url: "http://10.0.0.5:1",
    name: "node 1",
    isHealthy: true,
    list: { digest: host.digest(text), bytes: text.length },
    text: () => text,
  });

  it("are found with their lists, which are stored once, in parts, and read once", async () => {
    const { open, server, host } = world();
    for (const instance of ["node-1-instance", "node-2-instance"])
      await (await open(instance)).announceMember(memberOf(host));
    const parts = Math.ceil(text.length / partBytes);
    expect(parts).toBeGreaterThan(1);
    expect(server.puts.filter((put) => put.startsWith("lists "))).toHaveLength(parts + 1);
    for (const value of server.values.values()) expect(value.length).toBeLessThanOrEqual(partBytes);
    const reader = await open();
    let members: readonly DirectoryMember[] = [];
    const stop = reader.watchMembers((_, all) => (members = all()));
    expect(members.map(({ instance }) => instance)).toEqual(["node-1-instance", "node-2-instance"]);
    const list = await reader.listOf(members[0]!);
    expect(list.procedures).toHaveLength(40_000);
    expect(await reader.listOf(members[1]!)).toBe(list);
    stop();
  });

  it("are told of when their health changes, and when they leave", async () => {
    const { open, host } = world();
    const reader = await open();
    const told: boolean[][] = [];
    reader.watchMembers((_, all) => told.push(all().map(({ isHealthy }) => isHealthy)));
    const node = await open();
    await node.announceMember(memberOf(host));
    await node.announceMember({ ...memberOf(host), isHealthy: false });
    await node.leave();
    expect(told).toEqual([[], [true], [false], []]);
  });

  it("whose list was changed, cut or removed have none, and the list is written again when it is gone", async () => {
    const { open, server, host, clock } = world();
    const node = await open();
    const member = memberOf(host);
    await node.announceMember(member);
    const { digest } = member.list;
    const first = server.values.get(`lists ${digest}.0`)!;
    const listed = { list: member.list };
    const changed = first.slice();
    changed[100] = changed[100]! ^ 1;
    server.write("lists", `${digest}.0`, changed);
    await expect((await open()).listOf(listed)).rejects.toThrow(/doesn't fit its digest/);
    server.write("lists", `${digest}.0`, first.slice(1));
    await expect((await open()).listOf(listed)).rejects.toThrow(/has \d+ bytes/);
    server.forget();
    await expect((await open()).listOf(listed)).rejects.toThrow(/isn't complete/);
    await clock.pass(31_000);
    expect((await (await open()).listOf(listed)).procedures).toHaveLength(40_000);
    await expect((await open()).listOf({ list: { digest, bytes: 2 ** 40 } })).rejects.toThrow(
      /may have/,
    );
    expect(decoder.decode(server.values.get(`lists ${digest}`))).toBe(String(text.length));
  });
});
