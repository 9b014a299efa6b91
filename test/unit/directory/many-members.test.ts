// The directory of a deployment with more members than a reader knows, and with many that come back.

import { expect, it, onTestFinished } from "vitest";
import { nodeHost } from "../../../server/http/host.ts";
import { Directory, type DirectoryMember } from "../../../src/roles/directory/directory.ts";
import { createEntries } from "../../../src/roles/directory/entry.ts";
import { textOfList } from "../../../src/roles/members/member-list.ts";
import { key, settle, TestClock, TestLog } from "../../_cluster.ts";
import { MemoryServer } from "../../_memory-buckets.ts";

const text = new TextEncoder().encode(
  textOfList({ procedures: ["shop/metres"] }, { segments: ["shop"], procedures: [] }),
);

function world() {
  const clock = new TestClock();
  const log = new TestLog();
  const server = new MemoryServer();
  const host = nodeHost({ log, clock });
  const list = { digest: host.digest(text), bytes: text.length };
  const entries = createEntries(host, key, "tests");
  return {
    clock,
    log,
    server,
    list,
    async open(instance: string): Promise<Directory> {
      const parts = { host, buckets: server.buckets(), trustKey: key, prefix: "tests", instance };
      const directory = new Directory(parts);
      onTestFinished(() => directory.stop());
      await directory.start();
      return directory;
    },
    /** Writes what a member says, as it would; `undefined` if it leaves. */
    write(at: number, sequence: number, content: object | undefined): void {
      const instance = `member-${at}`;
      const said = content && { url: "http://10.0.0.5:1", isHealthy: true, list };
      server.write(
        "members",
        instance,
        entries.write("members", { instance, sequence, content: said }),
      );
    },
  };
}

it("a reader of more than 10,000 members knows the first ones, says so once, and knows all gateways; who leaves makes room", async () => {
  const { log, open, write } = world();
  for (let at = 10_000; at < 20_003; at++) write(at, 1, {});
  const gateway = await open("gateway-1");
  await gateway.announceGateway("http://10.0.0.1:3000");
  const reader = await open("reader-1");
  let all = (): readonly DirectoryMember[] => [];
  let changes = 0;
  reader.watchMembers((member, current) => {
    all = current;
    if (member !== undefined) changes++;
  });
  expect([all().length, changes]).toEqual([10_000, 10_000]);
  let gateways: readonly { readonly url: string }[] = [];
  reader.watch((found) => (gateways = found));
  expect(gateways).toEqual([{ url: "http://10.0.0.1:3000" }]);
  write(20_002, 2, {});
  expect(log.lines.filter((line) => line.startsWith("warning"))).toEqual([
    "warning: the directory has more than 10000 members: this service knows the first 10000, and others when some of these have left",
  ]);
  write(10_000, 2, undefined);
  expect(all()).toHaveLength(9_999);
  write(20_002, 3, {});
  expect(all().filter(({ instance }) => instance === "member-20002")).toHaveLength(1);
});

it("members that have lost the directory write again one after the other, within 5 s, and one writes their list", async () => {
  const { clock, server, list, open } = world();
  const count = 40;
  for (let at = 0; at < count; at++) {
    const node = await open(`member-${at}`);
    const url = `http://10.0.0.${at}:1`;
    await node.announceMember({ url, isHealthy: true, list, text: () => text });
  }
  const reader = await open("reader-1");
  let all = (): readonly DirectoryMember[] => [];
  reader.watchMembers((_, current) => (all = current));
  server.away();
  server.forget();
  server.puts.length = 0;
  server.back();
  await settle();
  const written = () => server.puts.filter((put) => put.startsWith("members ")).length;
  expect(written()).toBe(0);
  await clock.pass(2_500);
  // All of them in one half, or none, once in 10¹² runs.
  expect(written()).toBeGreaterThan(0);
  expect(written()).toBeLessThan(count);
  await clock.pass(2_500);
  await settle();
  expect(written()).toBe(count);
  // The text and its length.
  expect(server.puts.filter((put) => put.startsWith("lists "))).toHaveLength(2);
  expect(all()).toHaveLength(count);
});

it("a change that came while the directory was away is written at once", async () => {
  const { server, list, open } = world();
  const node = await open("member-1");
  const member = { url: "http://10.0.0.5:1", list, text: () => text };
  await node.announceMember({ ...member, isHealthy: true });
  server.away();
  await node.announceMember({ ...member, isHealthy: false });
  server.puts.length = 0;
  server.back();
  await settle();
  expect(server.puts).toEqual(["members member-1"]);
});

it("members that ask for a list at once read it once", async () => {
  const { server, list, open } = world();
  const node = await open("member-1");
  await node.announceMember({
    url: "http://10.0.0.5:1",
    isHealthy: true,
    list,
    text: () => text,
  });
  const reader = await open("reader-1");
  const [first, second] = await Promise.all([reader.listOf({ list }), reader.listOf({ list })]);
  expect(second).toBe(first);
  server.forget();
  const missing = { list: { ...list, digest: "0".repeat(64) } };
  await expect(reader.listOf(missing)).rejects.toThrow("isn't complete");
  // A list that can't be had is asked for again.
  await expect(reader.listOf(missing)).rejects.toThrow("isn't complete");
});
