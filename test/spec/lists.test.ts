// Announcements by digest: a node with many procedures joins.

import { describe, expect, it } from "vitest";

import { digest as sha256, nodeHost } from "../../server/http/host.ts";
import { createLinkHost } from "../../server/http/links/dial.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { ask, key, TestDeployment, TestLog } from "../_cluster.ts";
import { dialAsMember, type FakeMember, memoryDial } from "../_fake-member.ts";
import { joinedOver, linkedMembership } from "../_linked-membership.ts";
import { behindSocket } from "./_behind-sockets.ts";

const encoder = new TextEncoder();

const bytesOf = (list: unknown): Uint8Array => encoder.encode(JSON.stringify(list));

async function gatewayOnly() {
  const local = new TestDeployment();
  const { network, clock } = local;
  const gateway = await local.gateway();
  const members = new Map<string, FakeMember>();
  /** The member at an address, which answers calls with its name. */
  const at = async (url: string): Promise<FakeMember> => {
    const instance = new URL(url).hostname;
    const member =
      members.get(url) ?? (await dialAsMember({ dial: memoryDial(network), instance }));
    members.set(url, member);
    return member;
  };
  const join = async (url: string, digest: string) => await (await at(url)).announce({ digest });
  const put = async (digest: string, text: Uint8Array, from = "http://sender") =>
    await (await at(from)).request("PUT", `/nodes/lists/${digest}`, text, {});
  /** The status of a call. */
  const call = async (fqn: string): Promise<number> =>
    (await ask(gateway, "GET", `/rpc/${fqn}`)).status;
  return { local, network, clock, gateway, at, join, put, call };
}

/** A node with many procedures, as the membership sees it. */
const many = (count: number, part = "a"): string[] =>
  Array.from({ length: count }, (_, at) => `parts/${part}/module${at % 50}/procedure${at}`);

describe("announcing a list by its digest", () => {
  const text = bytesOf({
    procedures: ["c/one", "c/two"],
    idempotent: ["c/two"],
    timeouts: { "c/one": 200 },
    routes: [{ name: "c/hook", method: "POST", path: "/hook" }],
  });
  const digest = sha256(text);

  it("joining-8: POST /nodes with a digest in place of procedures answers 201 if the gateway has the list with this SHA-256, else 409", async () => {
    const { gateway, join, put } = await gatewayOnly();
    expect(await join("http://c", digest)).toMatchObject({
      status: 409,
      text: `This gateway doesn't have the list ${digest}: send it with PUT /nodes/lists/${digest}, then join again`,
    });
    expect(gateway.describe()["members"]).toEqual([]);
    expect((await put(digest, text)).status).toBe(201);
    expect((await join("http://c", digest)).status).toBe(201);
    expect(gateway.describe()["members"]).toEqual(["http://c"]);
    expect(gateway.describe()["routes"]).toMatchObject([{ name: "c/hook" }]);
  });

  it("joining-9: PUT /nodes/lists/{digest} takes the list as one body, with 201", async () => {
    const { put, join } = await gatewayOnly();
    expect((await put(digest, text)).status).toBe(201);
    expect((await join("http://c", digest)).status).toBe(201);
    // Others may have been told to send the same list.
    expect((await put(digest, text, "http://another")).status).toBe(201);
  });

  it("joining-10: a list whose SHA-256 isn't the digest in the path is 400, and none of it is kept", async () => {
    const { put, join } = await gatewayOnly();
    const other = bytesOf({ procedures: ["c/one", "c/six"] });
    expect(await put(digest, other)).toMatchObject({
      status: 400,
      text: `The list doesn't fit its digest ${digest}: the SHA-256 of these ${other.length} bytes is ${sha256(other)}`,
    });
    for (const list of [digest, sha256(other)])
      expect((await join("http://c", list)).status).toBe(409);
    expect((await put(digest, text)).status).toBe(201);
  });

  it("joining-11: a list is held once for all members that have it, and forgotten with the last of them", async () => {
    const { gateway, put, at, join, call } = await gatewayOnly();
    await put(digest, text);
    for (const url of ["http://c", "http://d"]) await join(url, digest);
    // A member that sends the same list with its join shares it, too.
    const plain = JSON.parse(new TextDecoder().decode(text)) as object;
    await (await at("http://e")).join({ ...plain });
    for (const url of ["http://c", "http://d", "http://e"]) {
      expect((await join("http://f", digest)).status).toBe(201);
      const [last] = gateway.describe()["members"]?.slice(-1) ?? [];
      expect(last).toBe("http://f");
      await (await at(url)).leave();
    }
    expect(await call("c/one")).toBe(200);
    await (await at("http://f")).join({ procedures: ["c/other"] });
    expect((await join("http://c", digest)).status).toBe(409);
    // It had holders, so it isn't 404.
    expect([await call("c/one"), await call("c/never")]).toEqual([503, 404]);
  });

  it("a list that no member has joined with is forgotten after 10 s, and 16 such lists are held (joining-11)", async () => {
    const { put, join, clock, call } = await gatewayOnly();
    await put(digest, text);
    await clock.pass(9_999);
    expect((await put(digest, text)).status).toBe(201);
    await clock.pass(1);
    expect([(await join("http://c", digest)).status, await call("c/one")]).toEqual([409, 404]);
    const statuses: number[] = [];
    for (let at = 0; at < 17; at++) {
      const list = bytesOf({ procedures: [`d/${at}`] });
      statuses.push((await put(sha256(list), list)).status);
    }
    expect(statuses).toEqual([...Array<number>(16).fill(201), 503]);
    await clock.pass(10_000);
    expect((await put(digest, text)).status).toBe(201);
  });

  it("a member that joins again with another list leaves the first one at once (joining-11)", async () => {
    const { put, join, call } = await gatewayOnly();
    await put(digest, text);
    await join("http://c", digest);
    const next = bytesOf({ procedures: ["c/three", "c/two"] });
    await put(sha256(next), next);
    expect([await call("c/one"), await call("c/two"), await call("c/three")]).toEqual([
      200, 200, 404,
    ]);
    expect((await join("http://c", sha256(next))).status).toBe(201);
    expect([await call("c/one"), await call("c/two"), await call("c/three")]).toEqual([
      503, 200, 200,
    ]);
  });

  it("members of different lists take the calls of a procedure that is in both in turn (joining-11)", async () => {
    const { put, join, gateway } = await gatewayOnly();
    const lists = [text, bytesOf({ procedures: ["c/two"] })];
    for (const list of lists) await put(sha256(list), list);
    for (const [at, name] of ["a", "b", "c"].entries())
      expect((await join(`http://${name}`, sha256(lists[at % 2] ?? text))).status).toBe(201);
    const answers: string[] = [];
    for (let count = 0; count < 6; count++)
      answers.push((await ask(gateway, "GET", "/rpc/c/two")).text);
    expect(answers.join("")).toBe("abcabc");
    const post = { "content-type": "application/json" };
    expect((await ask(gateway, "POST", "/hook", post, "{}")).text).toMatch(/^[ac]$/);
  });

  it("routes that clash with those of another list are a 400 with both names (joining-8)", async () => {
    const { put, join } = await gatewayOnly();
    const clashing = bytesOf({
      procedures: [],
      routes: [{ name: "d/hook", method: "POST", path: "/hook" }],
    });
    for (const list of [text, clashing]) await put(sha256(list), list);
    expect((await join("http://c", digest)).status).toBe(201);
    const refused = await join("http://d", sha256(clashing));
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining("'d/hook' (POST /hook) answers the same requests as 'c/hook'"),
    ]);
    // A member may change its own.
    expect((await join("http://c", sha256(clashing))).status).toBe(201);
  });
});

describe("a node with a long list", () => {
  /** Joins as the node at `url`, with these procedures. */
  const join = async (local: TestDeployment, url: string, procedures: () => readonly string[]) =>
    await joinedOver(local, url, () => ({ procedures: procedures() }));
  const requestsOf = ({ network }: TestDeployment): string[] =>
    network.sent.flatMap(({ method, url }) => {
      const { pathname } = new URL(url);
      return pathname === "/health/status" ? [] : [`${method} ${pathname}`];
    });

  it("joining-12: a node whose join would have over 16 KiB names the digest, and sends the list if the gateway answers 409", async () => {
    const { local, call, clock, network, gateway } = await gatewayOnly();
    const names = many(5_000);
    await (
      await join(local, "http://c", () => names)
    ).joined;
    const [first, ...more] = network.sent;
    const { digest } = JSON.parse(first?.body ?? "") as { digest: string };
    expect(JSON.parse(first?.body ?? "")).toEqual({
      url: "http://c",
      digest: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
      name: "long",
    });
    const text = more.find(({ method }) => method === "PUT")?.body ?? "";
    expect(sha256(encoder.encode(text))).toBe(digest);
    expect(JSON.parse(text)).toMatchObject({ procedures: names.toSorted() });
    expect(requestsOf(local)).toEqual(["POST /nodes", `PUT /nodes/lists/${digest}`, "POST /nodes"]);
    expect(gateway.describe()["members"]).toEqual(["http://c"]);
    expect(await call("parts/a/module0/procedure0")).toBe(200);
    // The second one sends nothing but the digest, whatever order its procedures have.
    network.sent.length = 0;
    await (
      await join(local, "http://d", () => names.toReversed())
    ).joined;
    expect(requestsOf(local)).toEqual(["POST /nodes"]);
    expect(gateway.describe()["members"]).toEqual(["http://c", "http://d"]);
    network.sent.length = 0;
    await clock.pass(20_000);
    expect(requestsOf(local)).toEqual([]);
    expect(gateway.describe()["members"]).toHaveLength(2);
  });

  it("a node with few procedures sends them with its join (joining-12)", async () => {
    const { local, network } = await gatewayOnly();
    await (
      await join(local, "http://c", () => many(100))
    ).joined;
    expect(requestsOf(local)).toEqual(["POST /nodes"]);
    expect(JSON.parse(network.sent[0]?.body ?? "")).toMatchObject({ procedures: many(100) });
  });

  it("joining-13: of nodes that join at the same time with the same list, one sends it, and the others wait until it is there", async () => {
    const { local, gateway, clock } = await gatewayOnly();
    const names = many(20_000);
    const urls = Array.from({ length: 20 }, (_, at) => `http://c${at}`);
    const joined = Promise.all(
      urls.map(async (url) => await (await join(local, url, () => names)).joined),
    );
    await clock.pass(1_000);
    await joined;
    expect(gateway.describe()["members"]?.toSorted()).toEqual(urls.toSorted());
    const sent = requestsOf(local).filter((request) => request.startsWith("PUT /nodes/lists/"));
    expect(sent).toHaveLength(1);
  });

  it("a node that waits for another one to send the list sends it if that one is gone (joining-13)", async () => {
    const { local, gateway, clock, join: announce } = await gatewayOnly();
    const names = many(2_000).toSorted();
    const list = { procedures: names, node: { segments: [], procedures: [] } };
    // It is told to send the list, and never does.
    const first = await announce("http://gone", sha256(bytesOf(list)));
    expect([first.status, first.headers["retry-after"]]).toEqual([409, undefined]);
    const second = await announce("http://gone", sha256(bytesOf(list)));
    expect([second.status, second.headers["retry-after"]]).toEqual([409, "1"]);
    const { joined } = await join(local, "http://c", () => names);
    await clock.pass(900);
    expect(gateway.describe()["members"]).toEqual([]);
    await clock.pass(500);
    await joined;
    expect(gateway.describe()["members"]).toEqual(["http://c"]);
  });

  it("a node that stops while it waits doesn't join any more (joining-13)", async () => {
    const { local, gateway, clock, join: announce } = await gatewayOnly();
    const names = many(2_000).toSorted();
    const list = { procedures: names, node: { segments: [], procedures: [] } };
    await announce("http://gone", sha256(bytesOf(list)));
    const { membership } = await join(local, "http://c", () => names);
    await clock.pass(500);
    await membership.leave();
    await clock.pass(5_000);
    expect(gateway.describe()["members"]).toEqual([]);
    expect(local.log.lines.filter((line) => line.includes("join"))).toEqual([]);
  });

  it("a node whose list changes announces the new one (joining-12)", async () => {
    const { local, call } = await gatewayOnly();
    let names = many(2_000);
    const { membership, joined } = await join(local, "http://c", () => names);
    await joined;
    names = [...many(1_999), "parts/new"];
    await membership.update();
    const gone = `parts/a/module${1_999 % 50}/procedure1999`;
    expect([await call("parts/new"), await call(gone)]).toEqual([200, 503]);
  });

  it("a node whose list changes while it waits announces only the new one (joining-13)", async () => {
    const { local, join: announce, put, call, clock } = await gatewayOnly();
    let names = many(2_000).toSorted();
    const list = { procedures: names, node: { segments: [], procedures: [] } };
    await announce("http://gone", sha256(bytesOf(list)));
    const { membership, joined } = await join(local, "http://c", () => names);
    await clock.pass(100);
    names = [...many(1_999), "parts/new"];
    await membership.update();
    // Now the first list comes.
    await put(sha256(bytesOf(list)), bytesOf(list));
    await clock.pass(3_000);
    await joined;
    const gone = `parts/a/module${1_999 % 50}/procedure1999`;
    expect([await call("parts/new"), await call(gone)]).toEqual([200, 404]);
  });

  it("a node whose gateway restarts sends the list again (joining-12)", async () => {
    const { local, network, clock } = await gatewayOnly();
    await (
      await join(local, "http://c", () => many(2_000))
    ).joined;
    network.roles.delete("http://gateway");
    const restarted = await local.gateway();
    network.sent.length = 0;
    await clock.pass(3_000);
    expect(restarted.describe()["members"]).toEqual(["http://c"]);
    expect(
      requestsOf(local).filter((request) => request.startsWith("PUT /nodes/lists/")),
    ).not.toEqual([]);
  });

  it("a node with 100,000 procedures joins within the limits of a gateway, over sockets (joining-12)", async () => {
    const gateway = await behindSocket((host) =>
      createGateway(host, { trustKey: key, limits: defaultLimits, newId: () => "m1" }),
    );
    const host = nodeHost({ log: new TestLog(), links: createLinkHost() });
    const names = many(100_000);
    const membership = await linkedMembership({
      host,
      gateway: gateway.url,
      offered: () => ({ procedures: names, idempotent: names }),
      answer: "c",
    });
    await membership.join("http://c");
    expect(gateway.role.describe()["members"]).toEqual(["http://c"]);
    expect(gateway.log.lines).toContain("http://c joined with 100000 callable procedures");
    expect(await (await fetch(`${gateway.url}/rpc/${names[99_999]}`)).text()).toBe("c");
  });
});
