// Lists of procedures that are sent to a gateway: wrong, endless, too many, without the key.

import { beforeEach, describe, expect, it } from "vitest";

import { digest as sha256 } from "../../server/http/host.ts";
import type { CallFrom } from "../../src/base/ports.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { ask, TestDeployment } from "../_cluster.ts";
import { dialAsMember, type FakeMember, memoryDial } from "../_fake-member.ts";
import { joinedOver } from "../_linked-membership.ts";

const encoder = new TextEncoder();
const MiB = 1024 * 1024;
/** Any digest, by number. */
const digestOf = (at: number): string => sha256(encoder.encode(String(at)));

describe("a gateway that is sent a list", () => {
  let local: TestDeployment;
  let gateway: Role;
  let member: FakeMember;
  /** Passes on what comes from outside. */
  let proxy: FakeMember;

  beforeEach(async () => {
    local = new TestDeployment();
    gateway = await local.gateway();
    member = await dialAsMember({ dial: memoryDial(local.network), instance: "c" });
    proxy = await dialAsMember({ dial: memoryDial(local.network), instance: "p", role: "proxy" });
  });

  const put = async (digest: string, list: Uint8Array | string, from: CallFrom = "key") =>
    await (from === "outside" ? proxy : member).request(
      "PUT",
      `/nodes/lists/${digest}`,
      list,
      {},
      from,
    );
  const join = async (fields: object, from: CallFrom = "key") => {
    const body = JSON.stringify({ url: "http://c", instance: "c", ...fields });
    return await (from === "outside" ? proxy : member).request("POST", "/nodes", body, {}, from);
  };

  /** After any attack a good list is taken, and its member joins. */
  const works = async (): Promise<void> => {
    const text = encoder.encode('{"procedures":["c/works"]}');
    const digest = sha256(text);
    expect((await put(digest, text)).status).toBe(201);
    expect((await join({ digest })).status).toBe(201);
  };

  it.each([
    ["somebody outside", "outside"],
    ["a procedure of the member", "service"],
  ] as const)("answers 401 to %s, and says nothing about lists that it has", async (_, from) => {
    const text = encoder.encode('{"procedures":["c/one"]}');
    const digest = sha256(text);
    expect((await put(digest, text)).status).toBe(201);
    for (const known of [digest, digestOf(1), "no digest"]) {
      const answer = await put(known, text, from);
      expect([answer.status, answer.text]).toEqual([
        401,
        "The members need the trust key of this deployment",
      ]);
      expect((await join({ digest: known }, from)).status).toBe(401);
    }
    expect(gateway.describe()["members"]).toEqual([]);
    await works();
  });

  it.each([
    ["is too short", "ab"],
    ["has capitals", digestOf(1).toUpperCase()],
    ["is a digit too long", `${digestOf(1)}0`],
    ["isn't hex", "g".repeat(64)],
    ["is a property of every object", "__proto__"],
    ["is base64url", "n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg"],
  ])("answers 400 to a digest that %s", async (_, digest) => {
    expect(await put(digest, "{}")).toMatchObject({
      status: 400,
      text: "The path ends in the list's SHA-256: 64 lower-case hex digits",
    });
    expect(await join({ digest })).toMatchObject({
      status: 400,
      text: expect.stringContaining(
        "'digest' is not a SHA-256 in 64 lower-case hex digits",
      ) as unknown,
    });
    await works();
  });

  it.each([5, true, {}, [digestOf(1)]])("answers 400 to the digest %j", async (digest) => {
    expect((await join({ digest })).status).toBe(400);
  });

  it.each([
    ["no JSON", "procedures", "The list is not JSON in UTF-8"],
    ["null", "null", "'procedures' is not a list of FQNs"],
    ["a list", "[]", "'procedures' is not a list of FQNs"],
    ["no procedures", '{"idempotent":[]}', "'procedures' is not a list of FQNs"],
    ["an empty name", '{"procedures":[""]}', "'procedures' is not a list of FQNs"],
    ["a number for a name", '{"procedures":[1]}', "'procedures' is not a list of FQNs"],
    ["names that descend", '{"procedures":["b","a"]}', "'procedures' is not in ascending order"],
    ["a name twice", '{"procedures":["a","a"]}', "'procedures' is not in ascending order"],
    [
      "idempotent names that descend",
      '{"procedures":["a","b"],"idempotent":["b","a"]}',
      "'idempotent' is not in ascending order",
    ],
    [
      "a time limit of 0",
      '{"procedures":["a"],"timeouts":{"a":0}}',
      "'timeouts' doesn't give times",
    ],
    ["text for idempotent", '{"procedures":[],"idempotent":"a"}', "'idempotent' is not a list"],
    [
      "a route without a name",
      '{"procedures":[],"routes":[{}]}',
      "'routes' is not a list of routes",
    ],
    [
      "a route at a path of ours",
      '{"procedures":[],"routes":[{"name":"a","method":"GET","path":"/rpc/x"}]}',
      "The route 'a'",
    ],
    ["details that aren't any", '{"procedures":[],"node":5}', "'node' is not an object"],
    ["a million open lists", `{"procedures":${"[".repeat(1_000_000)}`, "The list is not JSON"],
  ])("answers 400 to %s, although the digest fits", async (_, text, message) => {
    const bytes = encoder.encode(text);
    const answer = await put(sha256(bytes), bytes);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(message)]);
    expect((await join({ digest: sha256(bytes) })).status).toBe(409);
    await works();
  });

  it("answers 400 to bytes that aren't UTF-8", async () => {
    const bytes = Uint8Array.of(...encoder.encode('{"procedures":["a'), 0xff, 0x22, 0x5d, 0x7d);
    expect((await put(sha256(bytes), bytes)).status).toBe(400);
    await works();
  });

  it("takes names and keys that every object has for what they are", async () => {
    const text = encoder.encode(
      '{"__proto__":{"procedures":[]},"constructor":1,"procedures":["__proto__","constructor"]}',
    );
    expect((await put(sha256(text), text)).status).toBe(201);
    expect((await join({ digest: sha256(text) })).status).toBe(201);
    for (const [name, status] of [
      ["__proto__", 200],
      ["constructor", 200],
      ["toString", 404],
    ] as const)
      expect((await ask(gateway, "GET", `/rpc/${name}`)).status).toBe(status);
    expect({}).not.toHaveProperty("procedures");
  });

  it("answers 413 to a list above 64 MiB", async () => {
    expect((await put(digestOf(1), new Uint8Array(64 * MiB + 1))).status).toBe(413);
    await works();
  });

  it("keeps 16 lists that nobody has joined with, answers 503 to more, and drops those that nobody joins with", async () => {
    const put16 = async (at: number) => {
      const list = encoder.encode(JSON.stringify({ procedures: [`c/${at}`] }));
      return await put(sha256(list), list);
    };
    for (let at = 0; at < 16; at++) expect((await put16(at)).status).toBe(201);
    expect(await put16(16)).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    await local.clock.pass(10_000);
    expect(local.clock.waiting).toBeLessThan(4);
    await works();
  });

  it("takes a list again whose sender has gone in the middle of it", async () => {
    const list = encoder.encode(JSON.stringify({ procedures: ["c/" + "x".repeat(300_000)] }));
    const leaving = await dialAsMember({ dial: memoryDial(local.network), instance: "d" });
    const sent = leaving.request("PUT", `/nodes/lists/${sha256(list)}`, list, {});
    leaving.die();
    await expect(sent).rejects.toThrow();
    expect((await put(sha256(list), list)).status).toBe(201);
    await works();
  });

  it("tells members to send lists that nobody sends, however many digests are asked for", async () => {
    for (let at = 0; at < 1_000; at++)
      expect((await join({ digest: digestOf(at) })).status).toBe(409);
    const again = async (at: number) =>
      (await join({ digest: digestOf(at) })).headers["retry-after"];
    expect([await again(0), await again(999)]).toEqual(["1", undefined]);
    await local.clock.pass(1_000);
    expect(await again(0)).toBeUndefined();
    await works();
  });
});

describe("a gateway that answers nonsense to a list", () => {
  it.each([
    ["says 202", 202, ""],
    ["has too little to say", 200, ""],
    ["fails", 500, "?"],
  ])("and %s gets it once, and the node tries again later", async (_, status, body) => {
    const local = new TestDeployment();
    const gateway = await local.gateway();
    local.network.roles.set("http://gateway", {
      ...gateway,
      handle: async ({ method }) =>
        method === "PUT" ? { status, headers: {}, body } : { status: 409, headers: {}, body: "?" },
    });
    const names = Array.from({ length: 5_000 }, (_, at) => `parts/procedure${at}`);
    await (
      await joinedOver(local, "http://c", () => ({ procedures: names }))
    ).joined;
    expect(local.network.sent.map(({ method }) => method)).toEqual(["POST", "PUT"]);
    expect(local.log.lines.join("\n")).toContain("can't join the gateway at http://gateway yet");
    local.network.sent.length = 0;
    await local.clock.pass(200);
    expect(local.network.sent.map(({ method }) => method).slice(0, 2)).toEqual(["POST", "PUT"]);
  });
});
