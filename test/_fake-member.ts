// A member of a gateway that a test plays. It proves the key as services do, and then speaks frames itself, so
// it can also do what no service of ours would: fall silent, break off, lie, send anything.
//
// In memory it dials with `memoryLinks(network)`, and over a socket with `createLinkHost()`.

import { createLinkHost } from "../server/http/links/dial.ts";
import { nodeHost } from "../server/http/host.ts";
import { memoryLinks } from "../server/local/memory-links.ts";
import type { Channel, LinkHost } from "../src/base/ports/links.ts";
import type { CallFrom } from "../src/base/ports.ts";
import { FrameReader, kinds, type OnFrame } from "../src/link/frames.ts";
import { FrameWriter } from "../src/link/frame-writer.ts";
import { Dialer, type Introduction } from "../src/link/handshake.ts";
import { readAnswerHead, readCallHead } from "../src/link/heads.ts";
import { addGoodbye, addHeadFrame, bodyFollows, headIn, numberIn } from "../src/link/payload.ts";
import type { MemoryNetwork } from "../src/roles/memory-network.ts";
import { key } from "./_cluster.ts";
import { chunkBytes } from "../src/link/limits.ts";

/** A message that it sends: the text of a head, and a body with it, or parts of one that follow. */
export interface RawAnswer {
  readonly head: string;
  readonly body?: string | readonly string[];
}

/** A message that it sends, in the terms of HTTP. */
export interface FakeAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | readonly string[];
}

/** A call that came, with its body if that came with its head. */
export interface FakeCall {
  readonly from: CallFrom;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/**
 * Its handling of a call. `break` gives it up before an answer. `undefined` leaves it waiting, until the
 * test has it {@link FakeMember.release released}.
 */
export type Behaviour = RawAnswer | FakeAnswer | "break" | undefined;
export type Behave = (call: FakeCall) => Behaviour | Promise<Behaviour>;

/** A gateway's answer to a request of the member's own. */
export interface GatewayAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Its announcement, as a node's. */
export interface Announced {
  readonly url?: string;
  readonly procedures?: readonly string[];
  readonly [field: string]: unknown;
}

export interface FakeMemberOptions {
  /** The gateway's address. */
  readonly gateway?: string;
  /** Opens its connections: of a network, or of sockets. */
  readonly dial: LinkHost<never>["dial"];
  /** Where it says that it is [http:// and its instance]. */
  readonly url?: string;
  readonly instance?: string;
  readonly build?: string;
  readonly trustKey?: string;
  /** The role that it claims to have [node]. */
  readonly role?: string;
  /** Other fields of its introduction. */
  readonly own?: Partial<Introduction>;
  /** The role that it may dial [a gateway]. */
  readonly roles?: readonly string[];
  /** How many calls it takes at once [1,000]. */
  readonly credit?: number;
  /** Handles calls [answers with its instance]. */
  readonly behave?: Behave;
}

const callFrom: Readonly<Record<number, CallFrom>> = {
  [kinds.callOutside]: "outside",
  [kinds.callTrusted]: "trusted",
  [kinds.callService]: "service",
  [kinds.callOwn]: "key",
};
const frameOf = {
  outside: kinds.callOutside,
  trusted: kinds.callTrusted,
  service: kinds.callService,
  key: kinds.callOwn,
} as const;

/** The bytes of a body that the other end may send at once. */
const windowBytes = 256 * 1024;

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** A refusal: the call hasn't begun, and may go to another member. */
export function notBegun(why: "leaving" | "starting" | "overload"): FakeAnswer {
  return { status: 503, headers: { "x-svc-not-started": why }, body: "not now" };
}

/** Dials the roles of a network in memory, as the service at `own`, which must be there if it is given. */
export function memoryDial(network: Pick<MemoryNetwork, "roles">): LinkHost<never>["dial"] {
  return memoryLinks(network).dial;
}

/** Dials services that listen. */
export function socketDial(): LinkHost<never>["dial"] {
  return createLinkHost().dial;
}

/** A member with these procedures, which has joined. */
export async function fakeMember(
  options: FakeMemberOptions,
  announced: Announced,
): Promise<FakeMember> {
  const member = await dialAsMember(options);
  await member.join(announced);
  return member;
}

/** The same, before it announces anything. */
export async function dialAsMember(options: FakeMemberOptions): Promise<FakeMember> {
  const member = new FakeMember(options);
  await member.dial();
  return member;
}

export class FakeMember {
  readonly url: string;
  readonly instance: string;
  /** Calls of procedures and routes that it got. */
  readonly calls: FakeCall[] = [];
  /** Other requests that it got. */
  readonly asked: FakeCall[] = [];
  /** Its answer to questions about its health. `undefined` leaves them waiting. */
  isHealthy: boolean | undefined = true;
  /** Handles calls. */
  behave: Behave;
  /** How often it was asked whether it lives, answered or not. */
  pings = 0;
  #isSilent = false;
  /** The other end has ended the link, or this one has. */
  isClosed = false;
  /** The other end takes no more requests. */
  isDraining = false;
  readonly #options: FakeMemberOptions;
  readonly #writer = new FrameWriter();
  #channel: Channel | undefined;
  /** Its own requests. */
  readonly #sent = new Map<number, OwnRequest>();
  /** Calls that it hasn't answered. */
  readonly #open = new Map<number, FakeCall>();
  /** Bytes that came while it hung. */
  readonly #held: Parameters<OnFrame>[] = [];

  constructor(options: FakeMemberOptions) {
    const { instance = crypto.randomUUID(), url = `http://${instance}` } = options;
    this.#options = options;
    this.instance = instance;
    this.url = url;
    this.behave = options.behave ?? (() => ({ status: 200, body: instance }));
  }

  /** It hangs: it reads and sends nothing, not even that it lives. Then it goes on with what has come. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  set isSilent(isSilent: boolean) {
    this.#isSilent = isSilent;
    if (isSilent) return;
    for (const frame of this.#held.splice(0)) this.#onFrame(...frame);
  }

  /** Opens a link. After `die`, it opens another one. */
  async dial(): Promise<void> {
    const { dial, gateway = "http://gateway", trustKey = key, own, roles } = this.#options;
    const { role = "node", build, credit = 1_000 } = this.#options;
    const { instance } = this;
    const dialer = new Dialer({
      host: nodeHost(),
      trustKey,
      own: { versions: [1, 1], role, instance, build, ...own },
      roles: roles ?? ["gateway"],
    });
    const channel = await dial(gateway, undefined, dialer);
    this.#channel = channel;
    this.isClosed = this.isDraining = false;
    const welcomed = new Promise<void>((resolve, reject) => {
      const reader = new FrameReader((kind, ...frame) => {
        if (kind !== kinds.welcome) return this.#onFrame(kind, ...frame);
        try {
          dialer.welcomed(decoder.decode(frame[1]));
          resolve();
        } catch (error) {
          reject(error);
        }
      });
      channel.open({
        onBytes: (bytes) => reader.push(bytes),
        onDrain() {},
        onClose: () => {
          this.#over();
          reject(new Error("The link has ended before its welcome"));
        },
      });
    });
    await welcomed;
    this.#writer.addNumber(kinds.credit, 0, credit);
    this.#flush();
  }

  /** Announces what it has, and resolves to the gateway's answer. */
  async announce(announced: Announced): Promise<GatewayAnswer> {
    const body = JSON.stringify({ url: this.url, ...announced });
    return await this.request("POST", "/nodes", body);
  }

  /** The same. Throws if the gateway doesn't take it. */
  async join(announced: Announced): Promise<this> {
    const { status, text } = await this.announce(announced);
    if (status !== 201) throw new Error(`The member can't join: ${status} ${text}`);
    return this;
  }

  /** Says goodbye, and goes on answering. */
  async leave(): Promise<GatewayAnswer> {
    return await this.request("DELETE", "/nodes");
  }

  /**
   * Sends a request. It is one of the service itself, unless `from` says another. Its head is written here, as
   * the code of links would leave out some fields.
   */
  async request(
    method: string,
    target: string,
    body: string | Uint8Array = "",
    headers: Readonly<Record<string, string>> = { "content-type": "application/json" },
    from: CallFrom = "key",
  ): Promise<GatewayAnswer> {
    if (this.isClosed) throw new Error(`The link of ${this.url} is over`);
    // The numbers of those who dial are odd, and used again.
    let stream = 1;
    while (this.#sent.has(stream)) stream += 2;
    const content = typeof body === "string" ? encoder.encode(body) : body;
    const isShort = content.length <= chunkBytes;
    const head = [method, target, ...Object.entries(headers).flat()].join("\n");
    addHeadFrame(this.#writer, frameOf[from], stream, head, isShort ? content : undefined);
    const upload = isShort ? undefined : { content, at: 0, credit: 0 };
    return await new Promise((resolve, reject) => {
      this.#sent.set(stream, { parts: [], head: "", done: { resolve, reject }, upload });
      // A longer one waits until it is read.
      if (content.length <= windowBytes) this.#granted(stream, windowBytes);
      this.#flush();
    });
  }

  /** Answers calls that were left waiting for this. */
  release(target: string, answer: Exclude<Behaviour, undefined>): void {
    const streams = [...this.#open].filter(([, call]) => call.target === target);
    if (streams.length === 0) throw new Error(`No call waits for ${target}`);
    for (const [stream] of streams) this.#answer(stream, answer);
  }

  /** Takes no more calls, and goes on answering those that it has. */
  drain(): void {
    this.#writer.addNumber(kinds.goAway, 0);
    this.#flush();
  }

  /** Says that it goes now, and has taken this many calls [all that came]. */
  goAway(taken: number = this.calls.length + this.asked.length): void {
    addGoodbye(this.#writer, taken, new Error("The member goes"));
    this.#flush();
    this.die();
  }

  /** Its link ends without a word. */
  die(): void {
    this.#channel?.close();
    this.#over();
  }

  /** Sends these bytes, whatever they are. */
  send(bytes: Uint8Array): void {
    this.#channel?.send(bytes);
  }

  #over(): void {
    this.isClosed = true;
    const error = new Error(`The link of ${this.url} has ended`);
    for (const { done } of this.#sent.values()) done.reject(error);
    this.#sent.clear();
    this.#open.clear();
    this.#held.length = 0;
  }

  #flush(): void {
    if (this.#channel !== undefined) this.#writer.sendTo(this.#channel);
  }

  readonly #onFrame: OnFrame = (kind, stream, payload, isKept, cut) => {
    if (this.isClosed) return;
    // Those with a mark ask how long a round trip takes, or say what was sent.
    if (kind === kinds.ping && payload.length !== 1) this.pings++;
    if (this.#isSilent) {
      // The memory of a payload is used again.
      this.#held.push([kind, stream, payload.slice(), isKept, cut]);
      return;
    }
    switch (kind) {
      case kinds.callOutside:
      case kinds.callTrusted:
      case kinds.callService:
      case kinds.callOwn:
        return this.#called(callFrom[kind]!, stream, payload);
      case kinds.answer:
        return this.#answered(stream, payload);
      case kinds.chunk:
        this.#sent.get(stream)?.parts.push(payload.slice());
        // For as many bytes as came, with the frame's own.
        this.#writer.addNumber(kinds.arrived, 0, payload.length + (cut === "rest" ? 0 : 10));
        this.#writer.addNumber(kinds.window, stream, Math.max(payload.length, 256));
        return this.#flush();
      case kinds.window:
        this.#granted(stream, numberIn(payload));
        return this.#flush();
      case kinds.end:
        return this.#complete(stream);
      case kinds.cancel:
        return this.#cancelled(stream);
      case kinds.ping:
        this.#writer.add(kinds.pong, 0, payload.length).set(payload);
        return this.#flush();
      case kinds.goAway:
        this.isDraining = true;
        return;
      default:
        return;
    }
  };

  #called(from: CallFrom, stream: number, payload: Uint8Array): void {
    const { text, flags, rest } = headIn(payload);
    const { method, target, headers } = readCallHead(text);
    const call: FakeCall = { from, method, target, headers, body: decoder.decode(rest) };
    if ((flags & bodyFollows) !== 0) {
      this.#writer.addNumber(kinds.window, stream, windowBytes);
      this.#flush();
    }
    this.#open.set(stream, call);
    if (/^\/(?:health|svc)\//.test(target)) {
      this.asked.push(call);
      const isHealth = target.startsWith("/health/");
      if (isHealth && this.isHealthy === undefined) return;
      const answer = isHealth ? { status: 200, body: String(this.isHealthy) } : { status: 404 };
      return this.#answer(stream, answer);
    }
    this.calls.push(call);
    void Promise.resolve(this.behave(call)).then((behaviour) => {
      const isOpen = this.#open.get(stream) === call && !this.isSilent;
      if (behaviour !== undefined && isOpen) this.#answer(stream, behaviour);
    });
  }

  /** The caller has left, or the answer to a request of its own has broken. */
  #cancelled(stream: number): void {
    const request = this.#sent.get(stream);
    this.#sent.delete(stream);
    if (request !== undefined) request.done.reject(new Error("The answer has broken"));
    else if (this.#open.has(stream)) this.#give(stream);
  }

  /** The gateway takes more of the body of a request of its own. */
  #granted(stream: number, bytes: number): void {
    const upload = this.#sent.get(stream)?.upload;
    if (upload === undefined) return;
    upload.credit += bytes;
    const { content } = upload;
    while (upload.credit > 0 && upload.at < content.length) {
      const part = content.subarray(upload.at, upload.at + Math.min(chunkBytes, upload.credit));
      this.#writer.addBytes(kinds.chunk, stream, part);
      upload.at += part.length;
      upload.credit -= part.length;
      if (upload.at === content.length) this.#writer.addNumber(kinds.end, stream);
    }
  }

  /** Gives up a call. */
  #give(stream: number): void {
    this.#open.delete(stream);
    this.#writer.addNumber(kinds.cancel, stream);
    this.#flush();
  }

  #answer(stream: number, behaviour: Exclude<Behaviour, undefined>): void {
    if (behaviour === "break") return this.#give(stream);
    this.#open.delete(stream);
    const { body = "" } = behaviour;
    const head = "head" in behaviour ? behaviour.head : headOf(behaviour);
    const isWhole = typeof body === "string";
    addHeadFrame(this.#writer, kinds.answer, stream, head, isWhole ? body : undefined);
    if (!isWhole) {
      for (const part of body) this.#writer.addBytes(kinds.chunk, stream, encoder.encode(part));
      this.#writer.addNumber(kinds.end, stream);
    }
    this.#flush();
  }

  #answered(stream: number, payload: Uint8Array): void {
    const { text, flags, rest } = headIn(payload);
    const request = this.#sent.get(stream);
    if (request === undefined) return;
    request.head = text;
    if ((flags & bodyFollows) !== 0) return;
    request.parts.push(rest.slice());
    this.#complete(stream);
  }

  #complete(stream: number): void {
    const request = this.#sent.get(stream);
    if (request === undefined) return;
    this.#sent.delete(stream);
    const { status, headers } = readAnswerHead(request.head);
    request.done.resolve({ status, headers, text: Buffer.concat(request.parts).toString() });
  }
}

interface OwnRequest {
  readonly parts: Uint8Array[];
  head: string;
  readonly done: {
    readonly resolve: (answer: GatewayAnswer) => void;
    readonly reject: (error: Error) => void;
  };
  readonly upload: { readonly content: Uint8Array; at: number; credit: number } | undefined;
}

/** Written here, and not by the code of links: that refuses what a test may want to send. */
function headOf({ status, headers = {} }: FakeAnswer): string {
  const fields = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((each) => `\n${name}\n${each}`),
  );
  return `${status}${fields.join("")}`;
}
