import { describe, expect, it } from "vitest";

import { deriveKey, equalSecrets, sign } from "../../../server/http/host.ts";
import { type Kind, kinds } from "../../../src/link/frames.ts";
import { Handshake, type HandshakeParts, type Introduction } from "../../../src/link/handshake.ts";

const host = { deriveKey, equalSecrets, sign };
type Said = readonly [kind: Kind, payload: Uint8Array];

/** One end, with what it says and whom it has proven. */
function end(isDialer: boolean, more: Partial<HandshakeParts> = {}) {
  const said: Said[] = [];
  const proven: (readonly [Introduction, number])[] = [];
  const handshake = new Handshake({
    host,
    trustKey: "the key of this deployment",
    own: {
      role: isDialer ? "node" : "gateway",
      instance: isDialer ? "n1" : "g1",
      versions: [1, 2],
    },
    isDialer,
    roles: isDialer ? ["gateway"] : ["node", "proxy"],
    connection: "gateway.internal:3000",
    send: (...frame) => said.push(frame),
    onProven: (...other) => proven.push(other),
    ...more,
  });
  return { handshake, said, proven };
}

type End = ReturnType<typeof end>;

/** Delivers what each end says to the other one, until nobody says anything. */
function talk(dialer: End, acceptor: End): void {
  while (dialer.said.length + acceptor.said.length > 0) {
    for (const frame of dialer.said.splice(0)) acceptor.handshake.receive(...frame);
    for (const frame of acceptor.said.splice(0)) dialer.handshake.receive(...frame);
  }
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const json = (value: unknown): Uint8Array => bytes(JSON.stringify(value));
const text = (payload: Uint8Array): string => new TextDecoder().decode(payload);
/** The object that is said, and the proof after it. */
function read([, payload]: Said): [Record<string, unknown>, string] {
  const [object = "", proof = ""] = text(payload).split("\n");
  return [JSON.parse(object) as Record<string, unknown>, proof];
}
/** What was said, with something changed on its way. */
function changed([kind, payload]: Said, change: object): Said {
  const [object, ...rest] = text(payload).split("\n");
  const value = { ...(JSON.parse(object!) as object), ...change };
  return [kind, bytes([JSON.stringify(value), ...rest].join("\n"))];
}

describe("a handshake", () => {
  it("proves each end to the other, and neither says the key", () => {
    const [dialer, acceptor] = [end(true), end(false)];
    const all: Said[] = [];
    for (const { said } of [dialer, acceptor]) {
      const push = said.push.bind(said);
      said.push = (...frames) => {
        all.push(...frames);
        return push(...frames);
      };
    }
    all.push(...dialer.said);
    talk(dialer, acceptor);
    expect(dialer.proven).toMatchObject([[{ role: "gateway", instance: "g1" }, 2]]);
    expect(acceptor.proven).toMatchObject([[{ role: "node", instance: "n1" }, 2]]);
    expect(all.map(([kind]) => kind)).toEqual([kinds.hello, kinds.welcome, kinds.proof]);
    for (const [, payload] of all)
      expect(new TextDecoder().decode(payload)).not.toContain("the key of this deployment");
  });

  it.each([
    ["the dialer", [{ trustKey: "another key" }, {}]],
    ["the acceptor", [{}, { trustKey: "another key" }]],
    ["neither, on another connection", [{ connection: "elsewhere:1" }, {}]],
  ] as const)("fails if a key or the connection is another one: %s", (_, [first, second]) => {
    const [dialer, acceptor] = [end(true, first), end(false, second)];
    expect(() => talk(dialer, acceptor)).toThrow("trustKey");
    expect([dialer.proven, acceptor.proven]).toEqual([[], []]);
  });

  it("replay: a proof can't be used again, as each handshake has numbers of its own", () => {
    const [dialer, acceptor] = [end(true), end(false)];
    const [hello] = dialer.said;
    acceptor.handshake.receive(...hello!);
    const [welcome] = acceptor.said;
    dialer.handshake.receive(...welcome!);
    const proof = dialer.said[1]!;
    const later = end(false);
    later.handshake.receive(...hello!);
    expect(() => later.handshake.receive(...proof)).toThrow("trustKey");
    expect(() => end(true).handshake.receive(...welcome!)).toThrow("trustKey");
  });

  it("reflection: no end is proven by its own words", () => {
    // Of an acceptor: it is asked for proofs until one fits.
    const acceptor = end(false);
    acceptor.handshake.receive(...end(true).said[0]!);
    const [own, proof] = read(acceptor.said[0]!);
    expect(() => acceptor.handshake.receive(kinds.proof, bytes(proof))).toThrow("trustKey");
    const second = end(false);
    second.handshake.receive(kinds.hello, json(own));
    const [, reflected] = read(second.said[0]!);
    expect(() => acceptor.handshake.receive(kinds.proof, bytes(reflected))).toThrow("trustKey");
    // Of a dialer: it is welcomed by its own hello, or by what another dialer says.
    const dialer = end(true);
    const hello = text(dialer.said[0]![1]);
    expect(() => dialer.handshake.receive(kinds.welcome, bytes(`${hello}\n`))).toThrow("trustKey");
    expect(() => end(true).handshake.receive(...dialer.said[0]!)).toThrow("in a handshake");
  });

  it.each([
    ["what the dialer speaks", { versions: [1, 1] }, {}],
    ["what the acceptor speaks", {}, { versions: [1, 1] }],
    ["the role of the dialer", { role: "gateway" }, {}],
    ["the instance of the acceptor", {}, { instance: "g2" }],
    ["something that a later release says", { more: true }, {}],
  ])("downgrade: nothing of what is said can be changed on its way: %s", (_, there, back) => {
    const [dialer, acceptor] = [end(true), end(false)];
    acceptor.handshake.receive(...changed(dialer.said[0]!, there));
    expect(() => dialer.handshake.receive(...changed(acceptor.said[0]!, back))).toThrow("trustKey");
    // Nor may an acceptor think so that isn't told by anybody who has the key.
    expect(() => acceptor.handshake.receive(kinds.proof, bytes("x".repeat(43)))).toThrow(
      "trustKey",
    );
    expect([dialer.proven, acceptor.proven]).toEqual([[], []]);
  });

  it("a false gateway: who doesn't have the key gets no proof from a dialer", () => {
    const dialer = end(true);
    const hello = dialer.said.shift()!;
    const gateway = end(false, { trustKey: "a guess" });
    gateway.handshake.receive(...hello);
    expect(() => dialer.handshake.receive(...gateway.said[0]!)).toThrow("trustKey");
    expect(dialer.said).toEqual([]);
  });

  it.each([
    ["another Host", "evil.example:3000", "gateway.internal:3000"],
    ["another encrypted connection", "gateway.internal:3000 a", "gateway.internal:3000 b"],
    ["one that isn't encrypted", "gateway.internal:3000 a", "gateway.internal:3000"],
  ])("a man in the middle, who hands on everything, has %s", (_, dialled, answered) => {
    const [dialer, acceptor] = [
      end(true, { connection: dialled }),
      end(false, { connection: answered }),
    ];
    expect(() => talk(dialer, acceptor)).toThrow("trustKey");
    expect([dialer.proven, acceptor.proven]).toEqual([[], []]);
  });

  it("an end with the key that may not be there is refused by its role, once it has shown the key", () => {
    const own = { role: "node", instance: "n2", versions: [1, 2] } as const;
    const node = end(false, { own, roles: ["proxy"] });
    const dialer = end(true);
    expect(() => talk(dialer, node)).toThrow("The other end is a node, not a gateway");
    // It has shown nothing of its own.
    expect([dialer.said, dialer.proven]).toEqual([[], []]);
    const gateway = end(false);
    const gateways = end(true, { own: { ...own, role: "gateway" } });
    expect(() => talk(gateways, gateway)).toThrow("a gateway, not a node or proxy");
    expect(gateway.proven).toEqual([]);
    const stranger = end(false, { own: { ...own, role: "node" }, trustKey: "a guess" });
    expect(() => talk(end(true), stranger)).toThrow("trustKey");
  });

  it("nobody is proven by an empty key, which everybody knows", () => {
    expect(() => end(true, { trustKey: "" })).toThrow("A link needs a trustKey");
    expect(() => end(false, { trustKey: "" })).toThrow("A link needs a trustKey");
  });

  const [older, newer] = [
    [2, 3],
    [3, 4],
  ] as const;
  it.each([
    [older, older, 3],
    [older, newer, 3],
    [newer, older, 3],
    [newer, newer, 4],
  ])(
    "releases one apart speak the highest version of both: %j and %j",
    (dials, accepts, version) => {
      const dialer = end(true, { own: { role: "node", instance: "n1", versions: dials } });
      const acceptor = end(false, { own: { role: "gateway", instance: "g1", versions: accepts } });
      talk(dialer, acceptor);
      expect([dialer.proven[0]?.[1], acceptor.proven[0]?.[1]]).toEqual([version, version]);
    },
  );

  it.each([
    [
      "no version in common",
      { versions: [7, 9] },
      "versions 7 to 9 of the link, and this one 1 to 2",
    ],
    ["versions the wrong way round", { versions: [2, 1] }, "An introduction"],
    ["a line break in its instance", { instance: "n1\nfake line of a log" }, "An introduction"],
    ["an instance that is long", { instance: "n".repeat(65) }, "An introduction"],
    ["no versions", { versions: undefined }, "An introduction"],
    ["a text for versions", { versions: ["1", "1"] }, "An introduction"],
    ["a short nonce", { nonce: "00" }, "An introduction"],
    ["no role", { role: 1 }, "An introduction"],
    ["no time between health checks", { healthIntervalMs: 0 }, "An introduction"],
    ["a text for that time", { healthIntervalMs: "1000" }, "An introduction"],
  ])("fails at once with %s", (_, more, message) => {
    const acceptor = end(false);
    const hello = changed(end(true).said[0]!, more);
    expect(() => acceptor.handshake.receive(...hello)).toThrow(message);
    expect(acceptor.said).toEqual([]);
  });

  it("nothing else is understood before it is over, and nothing twice", () => {
    const hello = end(true).said[0]!;
    for (const kind of Object.values(kinds)) {
      const acceptor = end(false);
      if (kind !== kinds.hello)
        expect(() => acceptor.handshake.receive(kind, hello[1])).toThrow("in a handshake");
      acceptor.handshake.receive(...hello);
      if (kind !== kinds.proof)
        expect(() => acceptor.handshake.receive(kind, hello[1])).toThrow("in a handshake");
    }
  });

  it.each([
    new Uint8Array(),
    json([1]),
    new Uint8Array([255, 254]),
    bytes("null"),
    bytes("\ufeff{}"),
    bytes("[".repeat(2000)),
  ])("what isn't an introduction ends it: %#", (payload) => {
    expect(() => end(false).handshake.receive(kinds.hello, payload)).toThrow();
  });
});
