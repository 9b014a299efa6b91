// Lists of procedures that are sent to a gateway in parts: wrong, endless, too many, without the key.

import { beforeEach, describe, expect, it } from "vitest";

import { digest as sha256 } from "../../server/http/host.ts";
import type { CallFrom } from "../../src/base/ports.ts";
import type { Role } from "../../src/roles/role.ts";
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

  const put = async (
    digest: string,
    part: Uint8Array | string,
    range?: string,
    from: CallFrom = "key",
  ) => {
    const headers = range === undefined ? {} : { "content-range": range };
    return await (from === "outside" ? proxy : member).request(
      "PUT",
      `/nodes/lists/${digest}`,
      part,
      headers,
      from,
    );
  };
  const join = async (fields: object, from: CallFrom = "key") => {
    const body = JSON.stringify({ url: "http://c", instance: "c", ...fields });
    return await (from === "outside" ? proxy : member).request("POST", "/nodes", body, {}, from);
  };

  /** Whatever came before: a good list is taken, and its member joins. */
  const works = async (): Promise<void> => {
    const text = encoder.encode('{"procedures":["c/works"]}');
    const digest = sha256(text);
    const half = text.length >> 1;
    await put(digest, text.subarray(0, half), `bytes 0-${half - 1}/${text.length}`);
    const rest = `bytes ${half}-${text.length - 1}/${text.length}`;
    expect((await put(digest, text.subarray(half), rest)).status).toBe(201);
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
      const answer = await put(known, text, undefined, from);
      expect([answer.status, answer.text]).toEqual([
        401,
        "Joining needs the trust key of this deployment",
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
    "bytes 0-2",
    "bytes 0-2/*",
    "bytes */3",
    "bytes 1-0/3",
    "bytes 0-3/4",
    "bytes 0-1/4",
    "bytes 1-3/3",
    "bytes -1-1/3",
    "bytes 0-2/3, bytes 0-2/3",
    "items 0-2/3",
    "bytes 0-2/99999999999999999999",
    "bytes 9007199254740992-9007199254740994/9007199254740995",
    "",
  ])("answers 400 to three bytes with content-range '%s'", async (range) => {
    const answer = await put(digestOf(1), "abc", range);
    expect([answer.status, answer.text]).toEqual([
      400,
      expect.stringContaining("'content-range' doesn't say which bytes"),
    ]);
    await works();
  });

  it("answers 400 to parts that name different lengths, and keeps what came before", async () => {
    const digest = digestOf(1);
    await put(digest, "abc", "bytes 0-2/10");
    expect(await put(digest, "def", "bytes 3-5/11")).toMatchObject({
      status: 400,
      text: "The list has 11 bytes according to this part, and 10 according to an earlier one",
    });
    expect((await put(digest, "def", "bytes 3-5/10")).text).toBe('{"received":6}');
    await works();
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

  it("answers 413 to a list above 64 MiB with its first part, and to a part above 1 MiB", async () => {
    expect(await put(digestOf(1), "abc", `bytes 0-2/${64 * MiB + 1}`)).toMatchObject({
      status: 413,
      text: "A list may have 67108864 bytes, not 67108865",
    });
    const part = new Uint8Array(MiB + 1);
    expect((await put(digestOf(1), part, `bytes 0-${MiB}/${2 * MiB}`)).status).toBe(413);
    await works();
  });

  it("keeps 16 unfinished lists and 128 MiB of them at most, answers 503 to more, and drops those that don't go on", async () => {
    for (let at = 0; at < 16; at++)
      expect((await put(digestOf(at), "abc", "bytes 0-2/10")).status).toBe(202);
    expect(await put(digestOf(16), "abc", "bytes 0-2/10")).toMatchObject({
      status: 503,
      headers: { "retry-after": "1" },
    });
    // Those that are there go on.
    expect((await put(digestOf(0), "abc", "bytes 3-5/10")).text).toBe('{"received":6}');
    await local.clock.pass(10_000);
    for (const at of [0, 1])
      expect((await put(digestOf(at), "abc", `bytes 0-2/${64 * MiB}`)).status).toBe(202);
    expect((await put(digestOf(2), "abc", "bytes 0-2/10")).status).toBe(503);
    await local.clock.pass(10_000);
    expect(local.clock.waiting).toBeLessThan(3);
    await works();
  });

  it("takes no memory for bytes that were only announced", async () => {
    const before = process.memoryUsage().arrayBuffers;
    for (let at = 0; at < 2; at++) await put(digestOf(at), "abc", `bytes 0-2/${64 * MiB}`);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MiB);
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
    ["says 202 and no JSON", 202, "yes"],
    ["has nothing after each part", 202, '{"received":0}'],
    ["has more than there is", 202, '{"received":1e9}'],
    ["has a text", 202, '{"received":"65536"}'],
    ["has too little to say", 200, ""],
  ])("and %s gets no endless upload, and the node tries again later", async (_, status, body) => {
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
