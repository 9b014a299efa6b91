import { describe, expect, it } from "vitest";

import { deriveKey, equalSecrets, sign } from "../../../server/http/host.ts";
import { TestClock } from "../../../server/testing/test-clock.ts";
import type { LinkConnection, LinkRefusal } from "../../../src/base/ports/links.ts";
import { linkHeaders } from "../../../src/base/protocol.ts";
import {
  Acceptor,
  type AcceptorParts,
  Dialer,
  type HandshakeParts,
  type Verdict,
} from "../../../src/link/handshake.ts";

const trustKey = "the key of this deployment";
const plain: LinkConnection = { way: "socket", tls: undefined };
const tls = (secret: string): LinkConnection => ({ way: "socket", tls: { secret } });
type Fields = Readonly<Record<string, string>>;

function dialerOf(more: Partial<HandshakeParts> = {}): Dialer {
  return new Dialer({
    host: { deriveKey, equalSecrets, sign },
    trustKey,
    own: { role: "node", instance: "n1", build: "b1", versions: [1, 2] },
    roles: ["gateway"],
    ...more,
  });
}

function acceptorOf(more: Partial<AcceptorParts> = {}) {
  const clock = new TestClock();
  const wrong: unknown[] = [];
  const whys: string[] = [];
  const acceptor = new Acceptor({
    host: { deriveKey, equalSecrets, sign, clock },
    trustKey,
    own: { role: "gateway", instance: "g1", versions: [1, 2] },
    roles: ["node", "proxy"],
    onRefusal: (from, why) => {
      wrong.push(from);
      whys.push(why);
    },
    ...more,
  });
  const answer = (headers: Fields, connection = plain): Verdict =>
    acceptor.answer({ ...connection, headers, from: "10.0.0.9" });
  return { answer, clock, wrong, whys };
}

type End = ReturnType<typeof acceptorOf>;

/** Asks until there is a link, and returns what both ends know of each other then. */
function talk(dialer: Dialer, acceptor: End, there = plain, back = there) {
  for (;;) {
    const verdict = acceptor.answer(dialer.fields(there), back);
    if ("welcome" in verdict) return { dialed: dialer.welcomed(verdict.welcome), verdict };
    dialer.refused(verdict);
  }
}

/** A dialer that has the challenge of an acceptor, and what it says then. */
function challenged(acceptor: End, more: Partial<HandshakeParts> = {}, connection = plain) {
  const dialer = dialerOf(more);
  dialer.refused(acceptor.answer({}) as LinkRefusal);
  return { dialer, fields: dialer.fields(connection) };
}

const hello = (fields: Fields) => JSON.parse(fields[linkHeaders.hello]!) as Record<string, unknown>;

/** The messages, with something changed on their way. */
const changed = (fields: Fields, change: object): Fields => ({
  ...fields,
  [linkHeaders.hello]: JSON.stringify({ ...hello(fields), ...change }),
});

describe("a handshake", () => {
  it("proves each end to the other, and neither says the key", () => {
    const acceptor = acceptorOf();
    const { dialer, fields } = challenged(acceptor);
    const verdict = acceptor.answer(fields);
    if (!("welcome" in verdict)) throw new Error(JSON.stringify(verdict));
    expect(verdict).toMatchObject({
      status: 101,
      other: { role: "node", instance: "n1", build: "b1" },
      version: 2,
    });
    expect(dialer.welcomed(verdict.welcome)).toMatchObject({
      other: { role: "gateway", instance: "g1" },
      version: 2,
    });
    for (const said of [JSON.stringify(fields), verdict.welcome])
      expect(said).not.toContain(trustKey);
  });

  it("the dialer says what its proof is tied to: nonce, versions, role, instance, build, way and binding", () => {
    const said = (connection: LinkConnection) =>
      hello(challenged(acceptorOf(), {}, connection).fields);
    expect(said(plain)).toEqual({
      nonce: expect.stringMatching(/^[0-9a-f]{64}$/),
      versions: [1, 2],
      role: "node",
      instance: "n1",
      build: "b1",
      way: "socket",
      binding: "none",
    });
    expect(said(tls("s"))).toMatchObject({ way: "socket", binding: "tls" });
    expect(said(plain).nonce).not.toBe(said(plain).nonce);
  });

  it("what a stranger is told doesn't depend on the key: a challenge, which another process doesn't recognise", () => {
    // With the same randomness and time, two acceptors with different keys say the same.
    const { getRandomValues, randomUUID } = crypto;
    crypto.getRandomValues = (bytes) => bytes;
    crypto.randomUUID = () => "00000000-0000-4000-8000-000000000000";
    try {
      const [said, alsoSaid] = ["one key", "another key"].map((trustKey) => {
        const acceptor = acceptorOf({ trustKey });
        const { fields } = challenged(acceptor, { trustKey: "no key of theirs" });
        const unproven = { [linkHeaders.hello]: fields[linkHeaders.hello]! };
        return [{}, unproven, fields, fields].map((each) => acceptor.answer(each));
      });
      expect(said).toEqual(alsoSaid);
      expect(said!.map(({ status }) => status)).toEqual([401, 401, 403, 403]);
      expect(said![0]).toMatchObject({ body: "" });
    } finally {
      Object.assign(crypto, { getRandomValues, randomUUID });
    }
    const { fields } = challenged(acceptorOf());
    expect(acceptorOf().answer(fields).status).toBe(401);
  });

  it.each([
    ["no proof", (f: Fields) => ({ [linkHeaders.hello]: f[linkHeaders.hello]! })],
    ["no hello", (f: Fields) => ({ [linkHeaders.proof]: f[linkHeaders.proof]! })],
    ["an empty proof", (f: Fields) => ({ ...f, [linkHeaders.proof]: "" })],
    ["a proof alone", (f: Fields) => ({ ...f, [linkHeaders.proof]: "x".repeat(43) })],
    ["only dots", (f: Fields) => ({ ...f, [linkHeaders.proof]: "....,.,.." })],
    [
      "a challenge with a later time",
      (f: Fields) => ({
        ...f,
        [linkHeaders.proof]: f[linkHeaders.proof]!.replace(/\.\d+\./, ".999999."),
      }),
    ],
    [
      "a challenge without its signature",
      (f: Fields) => ({
        ...f,
        [linkHeaders.proof]: f[linkHeaders.proof]!.replace(/\.[^.]*\./, "."),
      }),
    ],
  ])("with %s a dialer gets another challenge, and nothing is remembered of it", (_, change) => {
    const acceptor = acceptorOf();
    const { fields } = challenged(acceptor);
    expect(acceptor.answer(change(fields))).toMatchObject({
      status: 401,
      headers: { [linkHeaders.challenge]: expect.stringMatching(/^[\w.-]+$/) },
    });
    expect(acceptor.wrong).toEqual([]);
    expect(acceptor.answer(fields).status).toBe(101);
  });

  it("a challenge is good for 10 s", async () => {
    for (const [ms, status] of [
      [10_000, 101],
      [10_001, 401],
    ] as const) {
      const acceptor = acceptorOf();
      const { fields } = challenged(acceptor);
      await acceptor.clock.pass(ms);
      expect(acceptor.answer(fields).status).toBe(status);
    }
  });

  it("replay: a proof that was right counts once, as long as its challenge would be good", async () => {
    const acceptor = acceptorOf();
    const { fields } = challenged(acceptor);
    expect(acceptor.answer(fields).status).toBe(101);
    for (const ms of [0, 9_999, 1, 1]) {
      await acceptor.clock.pass(ms);
      expect(acceptor.answer(fields).status).toBe(401);
    }
    // Others are spent meanwhile.
    for (let count = 0; count < 3; count++)
      expect(acceptor.answer(challenged(acceptor).fields).status).toBe(101);
    expect(acceptor.answer(fields).status).toBe(401);
  });

  it.each([
    ["the dialer", { trustKey: "another key" }, {}],
    ["the acceptor", {}, { trustKey: "another key" }],
  ] as const)("fails if a key is another one: that of %s", (_, there, back) => {
    const acceptor = acceptorOf(back);
    expect(() => talk(dialerOf(there), acceptor)).toThrow("refuses the proof");
    expect(acceptor.wrong).toEqual(["10.0.0.9"]);
  });

  it("a wrong proof spends no challenge: the right one still counts", () => {
    const acceptor = acceptorOf();
    const { fields } = challenged(acceptor);
    const [challenge] = /.*\./.exec(fields[linkHeaders.proof]!)!;
    const guess = { ...fields, [linkHeaders.proof]: `${challenge}${"x".repeat(43)}` };
    expect(acceptor.answer(guess)).toMatchObject({
      status: 403,
      headers: { [linkHeaders.refused]: "key" },
    });
    expect(acceptor.answer(fields).status).toBe(101);
  });

  it("keys are a list: the first proves, and all are accepted", () => {
    const [old, fresh] = ["the old key", "the new key"];
    for (const [there, back] of [
      [old, [old, fresh]],
      [[old, fresh], old],
      [
        [old, fresh],
        [fresh, old],
      ],
      [fresh, [fresh, old]],
    ] as const)
      expect(
        talk(dialerOf({ trustKey: there }), acceptorOf({ trustKey: back })).dialed.version,
      ).toBe(2);
    expect(() => talk(dialerOf({ trustKey: [fresh, old] }), acceptorOf({ trustKey: old }))).toThrow(
      "refuses the proof",
    );
  });

  it("reflection: no end is proven by its own words", () => {
    const acceptor = acceptorOf({ roles: ["gateway", "node"] });
    const { dialer, fields } = challenged(acceptor);
    const verdict = acceptor.answer(fields);
    if (!("welcome" in verdict)) throw new Error("no link");
    const [, proof] = verdict.welcome.split("\n");
    // The acceptor's proof, offered as a dialer's, for each text that it could be about.
    const next = challenged(acceptor);
    const challenge = next.fields[linkHeaders.proof]!.replace(/\.[^.]*$/, "");
    for (const said of [fields, next.fields])
      expect(
        acceptor.answer({ ...said, [linkHeaders.proof]: `${challenge}.${proof}` }).status,
      ).toBe(403);
    // The dialer's own, offered as an acceptor's.
    const own = fields[linkHeaders.proof]!.replace(/.*\./, "");
    for (const said of [fields[linkHeaders.hello]!, verdict.welcome.split("\n")[0]!])
      expect(() => dialer.welcomed(`${said}\n${own}`)).toThrow("trustKey");
  });

  it.each([
    ["what the dialer speaks", { versions: [1, 1] }],
    ["its role", { role: "proxy" }],
    ["its instance", { instance: "n2" }],
    ["its build", { build: "b2" }],
    ["its nonce", { nonce: "0".repeat(64) }],
    ["the way", { way: "websocket" }],
    ["what it is tied to", { binding: "tls" }],
    ["something that a later release says", { more: true }],
  ])("downgrade: nothing that a dialer says can be changed on its way: %s", (_, change) => {
    const acceptor = acceptorOf();
    const { fields } = challenged(acceptor);
    expect(acceptor.answer(changed(fields, change)).status).toBe(403);
    expect(acceptor.wrong).toHaveLength(1);
  });

  it.each([
    ["what the acceptor speaks", { versions: [1, 1] }],
    ["its instance", { instance: "g2" }],
    ["something that a later release says", { more: true }],
  ])("downgrade: nothing that an acceptor says can be changed on its way: %s", (_, change) => {
    const acceptor = acceptorOf();
    const { dialer, fields } = challenged(acceptor);
    const verdict = acceptor.answer(fields);
    if (!("welcome" in verdict)) throw new Error("no link");
    const [welcome, proof] = verdict.welcome.split("\n");
    const said = JSON.stringify({ ...(JSON.parse(welcome!) as object), ...change });
    expect(() => dialer.welcomed(`${said}\n${proof}`)).toThrow("trustKey");
  });

  it.each([
    ["another encrypted connection", tls("a"), tls("b"), "refuses the proof"],
    ["one that isn't encrypted behind one that is", tls("a"), plain, "refuses the proof"],
    ["an encrypted one behind one that isn't", plain, tls("a"), "the other end has TLS"],
  ])("a man in the middle, who hands on everything, has %s", (_, there, back, message) => {
    const acceptor = acceptorOf();
    expect(() => talk(dialerOf(), acceptor, there, back)).toThrow(message);
    expect(acceptor.wrong).toHaveLength(1);
  });

  describe("when something between the two ends ends TLS", () => {
    const [front, back] = [
      tls("of the dialer and the front"),
      tls("of the front and the acceptor"),
    ];
    const off = { endToEndTls: false };

    it.each([
      ["and what is behind it is plain", front, plain, off, {}],
      ["and there is TLS again behind it", front, back, off, off],
      ["which begins there, before an acceptor with TLS", plain, back, {}, off],
    ])("a link opens where endToEndTls is false %s", (_, there, here, dialer, acceptor) => {
      const { dialed, verdict } = talk(dialerOf(dialer), acceptorOf(acceptor), there, here);
      expect([dialed.other.role, verdict.other.role]).toEqual(["gateway", "node"]);
    });

    const bothEnds =
      'both must have the same trustKey. If they have, something between them ends TLS: let it pass TLS through, or set "endToEndTls": false at both';
    const notTied =
      'the proof isn\'t tied to this TLS connection: if something between the two services ends TLS, set "endToEndTls": false at both';
    it.each([
      ["nobody", front, back, {}, {}, `the proof is wrong: ${bothEnds}`],
      [
        "nobody, in front of an acceptor without TLS",
        front,
        plain,
        {},
        {},
        `the proof is wrong: ${bothEnds}`,
      ],
      ["only the acceptor", front, back, {}, off, `the proof is wrong: ${bothEnds}`],
      ["only the dialer", front, back, off, {}, notTied],
      ["nobody, behind a dialer without TLS", plain, back, {}, {}, notTied],
      [
        "an acceptor without TLS, which can't speak for the dialer",
        front,
        plain,
        {},
        off,
        `the proof is wrong: ${bothEnds}`,
      ],
    ])(
      "there is no link, and the acceptor says what to set, if endToEndTls is false at %s",
      (_, there, here, dialer, acceptor, why) => {
        const end = acceptorOf(acceptor);
        expect(() => talk(dialerOf(dialer), end, there, here)).toThrow();
        expect(end.whys).toEqual([why]);
        expect(end.wrong).toEqual(["10.0.0.9"]);
      },
    );

    it.each([
      ["its own proof is tied", front, back, {}, {}, "WrongKeyError", bothEnds],
      [
        "there is no TLS that it could be tied to",
        plain,
        plain,
        { trustKey: "another" },
        {},
        "WrongKeyError",
        "both must have the same trustKey",
      ],
      [
        "it isn't to be tied",
        front,
        plain,
        { ...off, trustKey: "another" },
        {},
        "WrongKeyError",
        "both must have the same trustKey",
      ],
    ])(
      "a dialer knows what to do about a wrong proof: %s",
      (_, there, here, dialer, acceptor, name, advice) => {
        let thrown: unknown;
        try {
          talk(dialerOf(dialer), acceptorOf(acceptor), there, here);
        } catch (error) {
          thrown = error;
        }
        expect(thrown).toMatchObject({ name, advice });
      },
    );

    it("a dialer knows at which end endToEndTls is missing", () => {
      expect(() => talk(dialerOf(off), acceptorOf(), front, back)).toThrow(
        'this service has "endToEndTls": false, and the other end hasn\'t: set it there too, or remove it here',
      );
      expect(() => talk(dialerOf(), acceptorOf(), plain, back)).toThrow(
        'the other end has TLS and this end has none: if something between them adds it, set "endToEndTls": false there',
      );
    });

    it("an acceptor that takes untied proofs still checks tied ones, and says so", () => {
      const acceptor = acceptorOf(off);
      expect(talk(dialerOf(), acceptor, front).verdict.status).toBe(101);
      expect(() => talk(dialerOf(), acceptor, front, back)).toThrow("refuses the proof");
    });

    it.each([
      ["an untied proof as a tied one", off, front, { binding: "tls" }],
      ["a tied proof as an untied one", {}, front, { binding: "none" }],
    ])(
      "downgrade: a middleman can't pass off %s, whatever the acceptor takes",
      (_, dialer, there, change) => {
        for (const here of [there, back, plain])
          for (const more of [{}, off]) {
            const acceptor = acceptorOf(more);
            const { fields } = challenged(acceptor, dialer, there);
            const { status } = acceptor.answer(changed(fields, change), here);
            expect(status).toBe(403);
          }
      },
    );

    it("downgrade: what an acceptor welcomed as untied isn't taken by a dialer whose proof is tied", () => {
      const acceptor = acceptorOf(off);
      const { dialer, fields } = challenged(acceptor, {}, front);
      // A dialer that has the same key, and said the same without its connection.
      const untied = challenged(acceptor, off, front);
      const verdict = acceptor.answer(untied.fields, back);
      if (!("welcome" in verdict)) throw new Error("no link");
      expect(untied.dialer.welcomed(verdict.welcome).other.role).toBe("gateway");
      expect(() => dialer.welcomed(verdict.welcome)).toThrow("trustKey");
      expect(acceptor.answer(fields, back).status).toBe(403);
    });

    it("a proof that is right and untied is spent where it isn't taken", () => {
      const acceptor = acceptorOf();
      const { fields } = challenged(acceptor, off, front);
      expect(acceptor.answer(fields, back).status).toBe(403);
      expect(acceptor.answer(fields, back).status).toBe(401);
    });

    it("a dialer with the key that ties its proof to less than it says gets no link", () => {
      const acceptor = acceptorOf(off);
      const { fields } = challenged(acceptor, off, front);
      const challenge = fields[linkHeaders.proof]!.replace(/\.[^.]*$/, "");
      const lying = changed(fields, { binding: "tls" });
      const key = deriveKey(trustKey, "seamline/link/1/dialler");
      const proof = sign(key, `${challenge}\n${lying[linkHeaders.hello]}\n`);
      const said = { ...lying, [linkHeaders.proof]: `${challenge}.${proof}` };
      expect(acceptor.answer(said, back).status).toBe(400);
    });
  });

  describe("at an end that can't tell what only the two ends of its TLS connection know", () => {
    const mute: LinkConnection = {
      way: "socket",
      tls: { lack: "this runtime can't tell: use Node" },
    };
    const advice = 'this runtime can\'t tell: use Node, or set "endToEndTls": false at both';

    it("a dialer asks for nothing, and says what to set", () => {
      expect(() => dialerOf().fields(mute)).toThrow(advice);
    });

    it("an acceptor refuses before any proof, and both ends say what to set", () => {
      for (const there of [tls("s"), plain]) {
        const acceptor = acceptorOf();
        expect(acceptor.answer({}, mute)).toMatchObject({ status: 501, body: advice });
        expect(acceptor.whys).toEqual([advice]);
        expect(() => talk(dialerOf(), acceptorOf(), there, mute)).toThrow(
          "the other end can't tell its TLS connection from others: something between the two services ends TLS, or it doesn't run on Node: let it pass TLS through, or set \"endToEndTls\": false at both",
        );
      }
    });

    it("a link opens where endToEndTls is false at both", () => {
      const off = { endToEndTls: false };
      expect(talk(dialerOf(off), acceptorOf(off), mute).verdict.status).toBe(101);
      expect(talk(dialerOf(off), acceptorOf(off), tls("s"), mute).verdict.status).toBe(101);
      expect(talk(dialerOf(off), acceptorOf(off), mute, tls("s")).verdict.status).toBe(101);
      expect(() => talk(dialerOf(), acceptorOf(off), tls("s"), mute)).toThrow("refuses the proof");
    });
  });

  it("a welcome is for one conversation: another dialer, or the same one later, doesn't take it", () => {
    const acceptor = acceptorOf();
    const { dialer, fields } = challenged(acceptor);
    const verdict = acceptor.answer(fields);
    if (!("welcome" in verdict)) throw new Error("no link");
    dialer.fields(plain);
    for (const other of [dialer, dialerOf(), challenged(acceptor).dialer])
      expect(() => other.welcomed(verdict.welcome)).toThrow("trustKey");
  });

  it("several acceptors behind one name that take turns with each request: each recognises its own challenge", () => {
    const acceptors = [acceptorOf(), acceptorOf(), acceptorOf()];
    const dialer = dialerOf();
    let asked = 0;
    for (;;) {
      const verdict = acceptors[asked++ % 3]!.answer(dialer.fields(plain));
      if ("welcome" in verdict) {
        expect(dialer.welcomed(verdict.welcome)).toMatchObject({ version: 2 });
        break;
      }
      dialer.refused(verdict);
    }
    expect(asked).toBe(4);
  });

  it("an acceptor that never recognises its own challenges is asked 9 times", () => {
    const dialer = dialerOf();
    let asked = 0;
    expect(() => {
      for (;;) {
        asked++;
        dialer.refused(acceptorOf().answer(dialer.fields(plain)) as LinkRefusal);
      }
    }).toThrow("it answers each request with another challenge");
    expect(asked).toBe(9);
  });

  it.each([
    [
      "a node",
      { role: "node", instance: "n2", versions: [1, 2] },
      ["proxy"],
      "a node, not a gateway",
    ],
    [
      "a gateway that takes proxies only",
      { role: "gateway", instance: "g1", versions: [1, 2] },
      ["proxy"],
      "A gateway takes no links of a node",
    ],
    [
      "a gateway of a later release",
      { role: "gateway", instance: "g1", versions: [3, 4] },
      ["node"],
      "versions 3 to 4 of the link, and this one 1 to 2",
    ],
  ] as const)(
    "a dialer with the key is told before the upgrade that it called %s",
    (_, own, roles, message) => {
      const acceptor = acceptorOf({ own, roles });
      const { dialer, fields } = challenged(acceptor);
      const verdict = acceptor.answer(fields) as LinkRefusal;
      expect(verdict.status).toBe(403);
      expect(() => dialer.refused(verdict)).toThrow(message);
      // Only a service with the key can say that.
      const [said] = verdict.body.split("\n");
      expect(() => dialer.refused({ ...verdict, body: `${said}\nx` })).toThrow("trustKey");
      expect(() => dialerOf().refused(verdict)).toThrow("it answered 403");
    },
  );

  it("nobody is proven by an empty key, which everybody knows", () => {
    for (const key of ["", [], ["", "a key"], ["a key", ""]]) {
      expect(() => dialerOf({ trustKey: key })).toThrow("A link needs a trustKey");
      expect(() => acceptorOf({ trustKey: key })).toThrow("A link needs a trustKey");
    }
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
      const dialer = dialerOf({ own: { role: "node", instance: "n1", versions: dials } });
      const acceptor = acceptorOf({ own: { role: "gateway", instance: "g1", versions: accepts } });
      const { dialed, verdict } = talk(dialer, acceptor);
      expect([dialed.version, verdict.version]).toEqual([version, version]);
    },
  );

  it.each([
    ["versions the wrong way round", { versions: [2, 1] }],
    ["a line break in its instance", { instance: "n1\nfake line of a log" }],
    ["an instance that is long", { instance: "n".repeat(129) }],
    ["no versions", { versions: undefined }],
    ["a text for versions", { versions: ["1", "1"] }],
    ["no role", { role: 1 }],
    ["a line break in its build", { build: "b\n" }],
  ])("an end with the key that says nonsense of itself gets no link: %s", (_, more) => {
    const own = { role: "node", instance: "n1", versions: [1, 2], ...more } as never;
    const acceptor = acceptorOf();
    const { dialer, fields } = challenged(acceptor, { own });
    const verdict = acceptor.answer(fields);
    expect(verdict).toMatchObject({
      status: 400,
      body: expect.stringContaining("Invalid introduction"),
    });
    expect(() => dialer.refused(verdict as LinkRefusal)).toThrow("it answered 400");
    const odd = acceptorOf({ own: { ...(own as object), role: "gateway", ...more } as never });
    expect(() => talk(dialerOf(), odd)).toThrow("Invalid introduction");
  });

  it.each([
    ["another status", { status: 404, headers: {}, body: "" }],
    ["a 401 without a challenge", { status: 401, headers: {}, body: "" }],
    [
      "a challenge that breaks the header",
      { status: 401, headers: { [linkHeaders.challenge]: "a\r\nx: y" }, body: "" },
    ],
    [
      "a challenge that is long",
      { status: 401, headers: { [linkHeaders.challenge]: "a".repeat(201) }, body: "" },
    ],
    ["two challenges", { status: 401, headers: { [linkHeaders.challenge]: ["a", "b"] }, body: "" }],
    [
      "a refusal without a reason that it knows",
      { status: 403, headers: { [linkHeaders.refused]: "other" }, body: "" },
    ],
  ])("%s means that there are no links", (_, answer) => {
    expect(() => dialerOf().refused(answer)).toThrow(
      `it answered ${answer.status} when asked for a link`,
    );
  });
});
