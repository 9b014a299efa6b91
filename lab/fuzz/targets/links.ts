// Each end of a link, before and after it has shown the key: bytes at random, and conversations that were
// changed on their way.

import { deriveKey, equalSecrets, sign } from "../../../server/http/host.ts";
import type { Clock, HttpRequest, HttpResponse, PeerResponse } from "../../../src/base/ports.ts";
import type {
  Channel,
  ChannelReceiver,
  LinkAnswer,
  LinkDialing,
  LinkRefusal,
  LinkUpgrade,
} from "../../../src/base/ports/links.ts";
import { linkHeaders } from "../../../src/base/protocol.ts";
import { discard } from "../../../src/http/bodies.ts";
import { FrameWriter } from "../../../src/link/frame-writer.ts";
import { type Kind, kinds, ProtocolError } from "../../../src/link/frames.ts";
import { Acceptor, Dialer, HandshakeError } from "../../../src/link/handshake.ts";
import {
  createAccepting,
  dialLink,
  type LinkService,
  type ProvenLink,
} from "../../../src/link/proven-link.ts";
import { mutateBytes } from "../mutate.ts";
import type { Random } from "../random.ts";
import { Finding, type Target } from "../target.ts";

const trustKey = "the key of this deployment";
const hashes = { deriveKey, equalSecrets, sign };
const still: Clock = { now: () => 0, after: () => () => {} };

/** A link's end that is fed with bytes, and the memory that it holds. */
class Fed implements Channel {
  readonly queued = 0;
  receiver: ChannelReceiver | undefined;
  held = 0;
  sent = 0;
  isClosed = false;
  send(bytes: Uint8Array): void {
    this.sent += bytes.length;
  }

  close(): void {
    this.isClosed = true;
  }

  open(receiver: ChannelReceiver): void {
    this.receiver = receiver;
  }

  hold(bytes: number): void {
    this.held += bytes;
  }

  fits(bytes: number): boolean {
    return this.held + bytes < 1_000_000;
  }
}

/** Answers as handlers do: at once, in parts, never, after the body, or with a mistake. */
async function answer(request: HttpRequest): Promise<HttpResponse> {
  switch (request.target.charCodeAt(1) % 6) {
    case 0:
      return await new Promise<never>(() => {});
    case 1:
      return { status: 200, headers: {}, body: new Uint8Array(200_000) };
    case 2:
      return { status: 200, headers: { "x-odd": "a\nb" }, body: "" };
    case 3:
      return { status: 200, headers: { "set-cookie": ["a=1", "b=2"] }, body: request.body };
    default:
      // Its sender may break off.
      return await Promise.resolve(request.readBody(100_000)).then(
        (body) => ({ status: 200, headers: {}, body }),
        () => ({ status: 400, headers: {}, body: "" }),
      );
  }
}

const heads = [
  "POST\n/a/b\nx-a\n1\nset-cookie\na=1",
  "GET\n/b",
  "200\nx-a\n1",
  "503",
  "",
  "PUT\n/e\n",
];
const dictionary: readonly string[] = [
  ...Object.values(kinds).map((kind) => String.fromCharCode(kind)),
  ...heads,
  "\0\0\0\x06",
  "\0\0\0\x0a",
  "\0\x04\0\0",
  "\xff\xff\xff\xff",
  "\x80",
  "__proto__",
];

function number(random: Random): number {
  return random.once(3) ? random.below(2 ** 32) : random.below(300_000);
}

/** A frame of any kind, most of them with the payload that it should have. */
function addFrame(random: Random, writer: FrameWriter): void {
  const kind = random.once(30) ? (random.below(128) as Kind) : random.pick(Object.values(kinds));
  const stream = random.once(10) ? random.below(2 ** 32) : random.below(12);
  const bytes = new Uint8Array(random.once(8) ? random.below(70_000) : random.below(60));
  if (kind === kinds.answer || (kind >= kinds.callOutside && kind <= kinds.callService))
    writer.addText(kind, stream, random.pick(heads), random.below(3), random.once(2) ? bytes : "");
  else if (kind === kinds.window || kind === kinds.credit || kind === kinds.arrived)
    writer.addNumber(kind, stream, number(random));
  else if (kind === kinds.chunk) writer.add(kind, stream, bytes.length);
  else if (kind === kinds.goAway && !random.once(10)) writer.addNumber(kinds.end, stream);
  else writer.add(kind, stream, random.once(3) ? bytes.length : 0);
}

type Step = (writer: FrameWriter) => void;

/** A body in parts, and its end, or not. */
function* bodyOf(random: Random, stream: number): Generator<Step> {
  for (let parts = random.few(6); parts > 0; parts--) {
    const size = random.once(3) ? random.below(65_537) : random.below(2_000);
    yield (writer) => void writer.add(kinds.chunk, stream, size);
    if (random.once(3)) yield (writer) => writer.addNumber(kinds.window, stream, number(random));
  }
  const last = random.pick([kinds.end, kinds.end, kinds.end, kinds.cancel]);
  if (!random.once(5)) yield (writer) => writer.addNumber(last, stream);
}

/** The frames of one call, in an order that makes sense. */
function* story(random: Random, stream: number, isAnswer: boolean): Generator<Step> {
  const kind = isAnswer
    ? kinds.answer
    : random.pick([kinds.callOutside, kinds.callTrusted, kinds.callOwn, kinds.callService]);
  if (isAnswer && random.once(2)) yield (writer) => writer.addNumber(kinds.window, stream, 262_144);
  const head = isAnswer ? "200\nx-a\n1" : `POST\n/${String.fromCharCode(97 + random.below(6))}`;
  const flags = random.once(3) ? 0 : 1;
  const rest = flags === 0 ? new Uint8Array(random.below(5_000)) : "";
  yield (writer) => writer.addText(kind, stream, head, flags, rest);
  if (flags === 1) yield* bodyOf(random, stream);
  else if (random.once(3)) yield (writer) => writer.addNumber(kinds.cancel, stream);
}

/** Stories of some calls at the same time, or frames at random, or no frames at all. */
function conversation(random: Random, isDialer: boolean): Uint8Array {
  if (random.once(8))
    return Uint8Array.from({ length: random.below(3_000) }, () => random.below(256));
  const writer = new FrameWriter();
  const isOdd = random.once(4);
  if (isOdd) for (let count = 1 + random.few(30); count > 0; count--) addFrame(random, writer);
  else {
    const stories = random.list(12, (at) => {
      const isAnswer = random.once(2);
      // Answers have the number of a call of the end that is fed.
      return story(random, 2 * (at + 1) - (isAnswer === isDialer ? 1 : 0), isAnswer);
    });
    while (stories.length > 0) {
      const at = random.below(stories.length);
      const { done, value } = stories[at]!.next();
      if (done === true) stories.splice(at, 1);
      else value(writer);
      if (random.once(100)) addFrame(random, writer);
    }
  }
  const bytes = writer.take();
  return random.once(3) ? mutateBytes(random, bytes, dictionary) : bytes;
}

interface End {
  readonly channel: Fed;
  readonly proven: Promise<ProvenLink>;
  readonly queue: (() => void)[];
}

const connection = { way: "socket", tls: undefined } as const;
const other = { role: "node", instance: "n", versions: [1, 1] } as const;

function serviceOf(role: string, queue: (() => void)[]): LinkService {
  return {
    host: { ...hashes, clock: still },
    trustKey,
    role,
    instance: "g",
    mostCalls: 20,
    soon: (run) => void queue.push(run),
    handle: answer,
    onFault: () => {},
  };
}

/** The answer of a dialer with the key to an acceptor's challenge. */
function asked(accept: (upgrade: LinkUpgrade) => LinkAnswer): Readonly<Record<string, string>> {
  const dialer = new Dialer({ host: hashes, trustKey, own: other, roles: ["gateway"] });
  dialer.refused(accept({ ...connection, headers: {}, from: undefined }) as LinkRefusal);
  return dialer.fields(connection);
}

/** An end whose other end has the key. */
function open(isDialer: boolean): End {
  const queue: (() => void)[] = [];
  const channel = new Fed();
  const service = serviceOf("gateway", queue);
  let proven: Promise<ProvenLink>;
  if (isDialer) {
    const { clock } = service.host;
    const acceptor = new Acceptor({
      host: { ...hashes, clock },
      trustKey,
      own: other,
      roles: ["gateway"],
      onRefusal() {},
    });
    const dial = async (dialing: LinkDialing): Promise<Channel> => {
      for (;;) {
        const headers = dialing.fields(connection);
        const verdict = acceptor.answer({ ...connection, headers, from: undefined });
        if ("welcome" in verdict) {
          queue.push(() => channel.receiver?.onBytes(welcomeOf(verdict.welcome)));
          return channel;
        }
        dialing.refused(verdict);
      }
    };
    proven = dialLink(service, { roles: ["node"], name: "the node", dial });
  } else {
    proven = new Promise((resolve) => {
      const accept = createAccepting(service, {
        roles: ["node"],
        onRefusal() {},
        onLink: resolve,
      });
      const verdict = accept({ ...connection, headers: asked(accept), from: undefined });
      if (verdict !== undefined && "open" in verdict) verdict.open(channel);
    });
  }
  proven.catch(() => {});
  return { channel, proven, queue };
}

/** The first frames of an acceptor: a link is there once it has said how many calls it takes. */
function welcomeOf(text: string): Uint8Array {
  const writer = new FrameWriter();
  const payload = new TextEncoder().encode(text);
  writer.add(kinds.welcome, 0, payload.length).set(payload);
  writer.addNumber(kinds.credit, 0, 20);
  return writer.take();
}

/** A dialer whose other end says something that no acceptor with the key has said to it. */
async function tryDialer(random: Random): Promise<void> {
  const queue: (() => void)[] = [];
  const channel = new Fed();
  const welcome = JSON.stringify({ ...other, nonce: random.below(2 ** 32) });
  const input = random.once(3)
    ? conversation(random, true)
    : mutateBytes(random, welcomeOf(`${welcome}\n${hashes.sign(trustKey, welcome)}`), dictionary);
  const proven = dialLink(serviceOf("gateway", queue), {
    roles: ["node"],
    name: "the node",
    dial: async (dialing) => {
      dialing.fields(connection);
      return await Promise.resolve(channel);
    },
  });
  proven.catch(() => {});
  await turn(queue);
  fed += input.length;
  for (let at = 0; at < input.length;) {
    const size = random.once(3) ? input.length : 1 + random.below(200);
    channel.receiver?.onBytes(input.slice(at, at + size));
    at += size;
  }
  channel.receiver?.onClose(new Error("The input is over"));
  const error: unknown = await proven.then(
    () => new Finding("takes a welcome that isn't proven", input),
    (thrown: unknown) => thrown,
  );
  if (error instanceof Finding) throw error;
  expectKnown(error, input);
  if (channel.sent > 0) throw new Finding(`says ${channel.sent} bytes to a stranger`, input);
}

/** An acceptor that is asked with what was changed on its way. */
async function tryAcceptor(random: Random): Promise<void> {
  await Promise.resolve();
  let wrong = 0;
  const acceptor = new Acceptor({
    host: { ...hashes, clock: still },
    trustKey,
    own: { ...other, role: "gateway" },
    roles: ["node"],
    onRefusal: () => wrong++,
  });
  const right = asked((upgrade) => acceptor.answer(upgrade) as LinkRefusal);
  const headers: Record<string, string | string[]> = { ...right };
  const name = random.pick(Object.keys(right));
  const bytes = mutateBytes(random, new TextEncoder().encode(right[name]), ["\0", ".", ",", '"']);
  headers[name] = Buffer.from(bytes).toString("latin1");
  if (random.once(20)) headers[name] = [right[name]!, right[name]!];
  fed += bytes.length;
  // A list may be written in other ways.
  const items = (value: unknown) =>
    String(value)
      .split(",")
      .map((item) => item.trim());
  const isSame = (field: string): boolean =>
    typeof headers[field] === "string" &&
    (field === linkHeaders.proof
      ? items(headers[field]).includes(right[field]!)
      : headers[field] === right[field]);
  const { status } = acceptor.answer({ ...connection, headers, from: undefined });
  const input = new TextEncoder().encode(JSON.stringify(headers));
  if (status === 101 && !Object.keys(right).every(isSame))
    throw new Finding("opens a link for a proof that was changed", input);
  if (![101, 401, 403].includes(status)) throw new Finding(`answers ${status}`, input);
  if ((status === 403) !== (wrong === 1)) throw new Finding("counts wrong proofs wrongly", input);
}

/** Reads an answer. */
async function bytesIn(body: PeerResponse["body"]): Promise<void> {
  if (!(body instanceof Uint8Array)) await body.bytes();
}

/** Bytes that were fed to links so far. */
let fed = 0;

async function turn(queue: (() => void)[]): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  for (const run of queue.splice(0)) run();
}

function expectKnown(cause: unknown, input: Uint8Array): void {
  const isKnown = cause instanceof ProtocolError || cause instanceof HandshakeError;
  const isSaid =
    cause instanceof Error && /^The (?:other end|connection|input)/.test(cause.message);
  if (!isKnown && !isSaid) throw new Finding(`ends a link with ${String(cause)}`, input);
}

const figures = (): string => `${(fed / 1e6).toFixed(1)} MB fed to links`;

function target(name: string, isDialer: boolean): Target {
  return {
    name,
    async attempt(random) {
      const input = conversation(random, isDialer);
      const { channel, proven, queue } = open(isDialer);
      await turn(queue);
      const link = await proven;
      const isReading = random.once(2);
      // Calls of its own, so that answers have something to answer.
      for (let count = 4 + random.few(6); count > 0; count--)
        link.peer
          .send({
            url: `http://x/${count}`,
            method: "POST",
            headers: {},
            body: new Uint8Array(random.once(2) ? 10 : 90_000),
          })
          .then(({ body }) => (isReading ? bytesIn(body) : discard(body)))
          .catch(() => {});
      const before = channel.sent;
      for (let at = 0; at < input.length;) {
        const size = random.once(3) ? input.length : 1 + random.below(200);
        const part = input.slice(at, at + size);
        channel.receiver?.onBytes(part);
        at += size;
        if (random.once(4)) await turn(queue);
      }
      fed += input.length;
      for (let turns = 0; turns < 3; turns++) await turn(queue);
      if (channel.sent - before > 40 * input.length + 3_000_000)
        throw new Finding(`answers ${input.length} bytes with ${channel.sent - before}`, input);
      channel.receiver?.onClose(new Error("The input is over"));
      expectKnown(await link.closed, input);
      await turn(queue);
      if (channel.held !== 0) throw new Finding(`holds ${channel.held} bytes for nothing`, input);
    },
    figures,
  };
}

export const linkTargets: readonly Target[] = [
  { name: "link-dialer-unproven", attempt: tryDialer, figures },
  { name: "link-acceptor-unproven", attempt: tryAcceptor, figures },
  target("link-dialer", true),
  target("link-acceptor", false),
];
