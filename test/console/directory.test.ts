// Nodes that haven't joined this gateway, in its console.

import { expect, it, onTestFinished } from "vitest";

import { gatewaySource } from "../../console/server/sources/gateway-source.ts";
import { nodeHost } from "../../server/http/host.ts";
import { Directory } from "../../src/roles/directory/directory.ts";
import { createLists } from "../../src/roles/members/lists.ts";
import { textOfList } from "../../src/roles/members/member-list.ts";
import { createMembers } from "../../src/roles/members/members.ts";
import { key, settle, TestClock, TestLog } from "../_cluster.ts";
import { fakePeer } from "../_fake-peer.ts";
import { MemoryServer } from "../_memory-buckets.ts";

it("a gateway's console shows nodes of the directory that have not joined it, until they do, and reads the directory while somebody watches", async () => {
  const clock = new TestClock();
  const host = nodeHost({ clock, log: new TestLog() });
  const server = new MemoryServer();
  const open = async (instance: string): Promise<Directory> => {
    const parts = { host, buckets: server.buckets(), trustKey: key, prefix: "tests", instance };
    const directory = new Directory(parts);
    onTestFinished(() => directory.stop());
    await directory.start();
    return directory;
  };
  const lists = createLists(host);
  const members = createMembers(() => "m1", lists);
  const directory = await open("the-gateway");
  const instance = "the-gateway";
  const source = gatewaySource(host, { members, instance, directory });
  const text = new TextEncoder().encode(
    textOfList({ procedures: ["shop/metres"] }, { segments: ["shop"], procedures: [] }),
  );
  const list = { digest: host.digest(text), bytes: text.length };
  const member = { url: "http://10.0.0.5:1", name: "node 1", list, text: () => text };
  const node = await open("node-1-instance");
  await node.announceMember({ ...member, isHealthy: true });
  expect(source.members()).toEqual([]);
  const stop = source.watch(() => {});
  await settle();
  const shown = {
    id: "node-1-instance",
    url: "http://10.0.0.5:1",
    name: "node 1",
    segments: ["shop"],
    state: "ready",
    isElsewhere: true,
  };
  expect(source.members()).toEqual([shown]);
  await node.announceMember({ ...member, isHealthy: false });
  expect(source.members()).toEqual([{ ...shown, state: "out" }]);
  members.join({
    url: "http://10.0.0.5:1",
    list: lists.of({ procedures: ["shop/metres"] }),
    via: fakePeer("node-1-instance"),
  });
  expect(source.members().map(({ id, isElsewhere }) => [id, isElsewhere])).toEqual([
    ["m1", undefined],
  ]);
  stop();
});
