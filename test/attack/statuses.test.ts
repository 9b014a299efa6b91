// Members that send what can't be sent on as an answer: a status or a field that HTTP doesn't have, or
// another body than its head says. Their callers get a clean 502, and others go on.

import { describe, expect, it, onTestFinished } from "vitest";

import { memoryLinks } from "../../server/local/memory-links.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import type { Host } from "../../src/base/ports.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { ask, TestClock, testHost, TestLog, TestNetwork } from "../_cluster.ts";
import { key } from "../_deployment.ts";
import { behindSocket } from "../spec/_behind-sockets.ts";
import { accept, dial, trusted, serviceOf } from "../unit/link/_services.ts";
import {
  type FakeMember,
  fakeMember,
  type FakeMemberOptions,
  memoryDial,
  socketDial,
  type RawAnswer,
} from "../_fake-member.ts";
import { bytesOf, exchange } from "./_sockets.ts";

const request = { method: "GET", headers: {} } as const;

describe("a status that no answer has", () => {
  it.each([0, 99, 100, 101, 150, 199, 600, 999, 200.5, -200, Number.NaN])(
    "over a link is no answer: %d",
    async (status) => {
      const { server } = await accept(async () => ({ status, headers: {}, body: "" }));
      const { peer, link } = await dial(server.url, serviceOf("node"));
      const answer = peer.send({ ...request, ...trusted, url: "http://a/" });
      await expect(answer).rejects.toMatchObject({ name: "TransportError", sent: true });
      expect(link.isClosed).toBe(false);
    },
  );
});

/** Heads that can't be sent on as an answer of HTTP, and the line in the log. */
const nonsense: readonly (readonly [what: string, answer: RawAnswer, named: string])[] = [
  ...["0", "99", "100", "101", "150", "199", "600", "999", "1.5", "-200", "NaN", "", "2e2"].map(
    (status) =>
      [`the status ${status}`, { head: status }, `status ${JSON.stringify(status)}`] as const,
  ),
  ...["\0", "\x01", "\r", "a\rx-b: 1", "\x7f", "\x1b[31m", "\u0100", "😀"].map(
    (text) => [`a value with ${JSON.stringify(text)}`, field("x-a", `1${text}`), "'x-a'"] as const,
  ),
  ...["", " ", "x a", "x:a", "x\ra", "x\0", "ü", "(x)"].map(
    (name) => [`the name ${JSON.stringify(name)}`, field(name, "1"), JSON.stringify(name)] as const,
  ),
  // Our names are in lower case, so that a lookup finds them.
  ["a name in capitals", field("X-A", "1"), '"X-A"'],
  ["a framing field in capitals", field("Transfer-Encoding", "chunked"), '"Transfer-Encoding"'],
  ["a cookie with a line break", field("set-cookie", "a=1\rb"), "'set-cookie'"],
  [
    "two lengths",
    { head: "200\ncontent-length\n2\ncontent-length\n5", body: "ab" },
    "content-length",
  ],
  ["a length that isn't one", field("content-length", "2x"), "content-length"],
  ["a negative length", field("content-length", "-2"), "content-length"],
  ["an endless length", field("content-length", "9".repeat(30)), "content-length"],
  ["less than its length", { head: "200\ncontent-length\n5", body: "ab" }, "content-length"],
  ["more than its length", { head: "200\ncontent-length\n1", body: "ab" }, "content-length"],
  ["a wrong field before a stream", { head: "200\nx a\n1", body: ["ab", "cd"] }, '"x a"'],
];

function field(name: string, value: string): RawAnswer {
  return { head: `200\ncontent-type\napplication/json\n${name}\n${value}`, body: "1" };
}

interface Caller {
  readonly log: TestLog;
  readonly member: FakeMember;
  call(name: string): Promise<{ status: number; head: string; body: string }>;
}

const procedures = ["a/bad", "a/good", "a/slow"];
const good: RawAnswer = { head: "200\ncontent-type\napplication/json", body: "1" };
const joined = async (
  bad: RawAnswer,
  to: Pick<FakeMemberOptions, "dial" | "gateway">,
): Promise<FakeMember> => {
  const behave: FakeMemberOptions["behave"] = ({ target }) =>
    target === "/rpc/a/bad" ? bad : target === "/rpc/a/good" ? good : undefined;
  const member = await fakeMember({ ...to, instance: "fake", behave }, { procedures });
  onTestFinished(() => member.die());
  return member;
};

const gatewayOf = (host: Host) =>
  createGateway(host, {
    trustKey: key,
    limits: defaultLimits,
    gatheringMs: 0,
    newId: () => "m1",
  });

async function inMemory(bad: RawAnswer): Promise<Caller> {
  const network = new TestNetwork();
  const log = new TestLog();
  const host = { ...testHost(network, new TestClock(), log), links: memoryLinks(network) };
  const gateway = gatewayOf(host);
  network.roles.set("http://gateway", gateway);
  await gateway.start("http://gateway");
  onTestFinished(() => gateway.stop());
  const member = await joined(bad, { dial: memoryDial(network) });
  return {
    log,
    member,
    async call(name) {
      const { status, headers, text } = await ask(gateway, "GET", `/rpc/a/${name}`);
      const fields = Object.entries(headers).map((entry) => entry.join(": "));
      return { status, head: fields.join("\r\n"), body: text };
    },
  };
}

async function overSockets(bad: RawAnswer): Promise<Caller> {
  const { url, log } = await behindSocket(gatewayOf);
  const member = await joined(bad, { dial: socketDial(), gateway: url });
  const port = Number(new URL(url).port);
  const call = (name: string) => exchange(port, bytesOf({ target: `/rpc/a/${name}` }));
  return { log, member, call };
}

describe.each([
  ["in memory", inMemory],
  ["over sockets", overSockets],
])("a member's answer over a link, %s,", (_where, open) => {
  it.each(nonsense)("with %s is 502 for its call only", async (_what, bad, named) => {
    const { log, member, call } = await open(bad);
    const slow = call("slow");
    const answer = await call("bad");
    expect([answer.status, answer.body]).toEqual([
      502,
      "The service that had the call gave no answer",
    ]);
    expect(answer.head).toContain("x-svc-error: BadGateway");
    expect(
      log.lines.filter((line) => line.includes("http://fake gave an answer over its link")),
    ).toEqual([expect.stringContaining(named)]);
    expect(log.lines.join("\n")).not.toContain("fault");
    expect(member.isClosed).toBe(false);
    expect(await call("good")).toMatchObject({ status: 200, body: "1" });
    member.release("/rpc/a/slow", good);
    expect(await slow).toMatchObject({ status: 200, body: "1" });
  });

  it.each(["transfer-encoding", "connection", "upgrade", "keep-alive", "trailer"])(
    "with the framing field %s is passed on without it",
    async (name) => {
      const { log, call } = await open(field(name, "chunked"));
      const { status, head, body } = await call("bad");
      expect([status, body]).toEqual([200, "1"]);
      expect(head).not.toMatch(new RegExp(`^${name}: chunked`, "im"));
      expect(log.lines.join("\n")).not.toContain("fault");
    },
  );

  it.each([
    ["204", "abc"],
    ["304", "abc"],
    ["204", ["abc", "def"]],
    ["304", ["abc", "def"]],
  ])("with a body beside the status %s has none: %j", async (status, body) => {
    const { log, member, call } = await open({ head: `${status}\ncontent-length\n3`, body });
    const answer = await call("bad");
    expect([answer.status, answer.body]).toEqual([Number(status), ""]);
    if (status === "204") expect(answer.head).not.toMatch(/content-length/i);
    expect(await call("good")).toMatchObject({ status: 200, body: "1" });
    expect(member.isClosed).toBe(false);
    expect(log.lines.join("\n")).not.toContain("fault");
  });

  it.each([
    ["shorter", "9"],
    ["longer", "3"],
  ])("whose stream is %s than its length breaks for its reader only", async (_what, length) => {
    const { member, call } = await open({
      head: `200\ncontent-type\napplication/json\ncontent-length\n${length}`,
      body: ["12", "34"],
    });
    const outcome = await call("bad").catch((error: unknown) => error);
    // A caller behind a socket sees a body that ends too early.
    if (!(outcome instanceof Error))
      expect((outcome as { body: string }).body.length).toBeLessThan(Number(length));
    expect(await call("good")).toMatchObject({ status: 200, body: "1" });
    expect(member.isClosed).toBe(false);
  });
});
