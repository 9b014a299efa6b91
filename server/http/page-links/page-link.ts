// The service's end of a page's link, over any socket that carries texts. README.md has the messages.

import { mostHeadBytes, pageLinkHeaders } from "../../../src/base/page-link.ts";
import type { Clock, HeaderFields, HttpRequest, HttpResponse } from "../../../src/base/ports.ts";
import { refusedStart } from "../../../src/http/refusals.ts";
import type { HeldMemory } from "../../host/held-memory.ts";
import { leastTurnBytes, mostReplyBytes, mostWaitingBytes } from "../connection/limits.ts";
import { leavingMs, pingMs } from "../connection/times.ts";
import { answerPace } from "../writing/pace.ts";
import { refusal } from "../writing/write-answer.ts";
import { PageStream, type StreamOwner } from "./page-stream.ts";
import { type Handshake, type HeadRules, lastingFields, readHead } from "./stream-head.ts";

/** A WebSocket, as a link needs it. */
export interface PageSocket {
  /** Bytes that were sent and haven't left. */
  readonly queued: number;
  /** Sends a text, which is in UTF-8 already. */
  send(text: Uint8Array): void;
  ping(): void;
  /** Stops reading, and goes on. */
  pause(): void;
  resume(): void;
  /** Closes it with a code and a reason of at most 123 bytes (RFC 6455, section 7.4). */
  close(code: number, reason: string): void;
  /** Cuts it. */
  destroy(): void;
}

export interface PageLinkParts {
  readonly socket: PageSocket;
  readonly handshake: Handshake;
  readonly clock: Clock;
  readonly memory: HeldMemory;
  readonly rules: HeadRules;
  readonly streamsPerLink: number;
  handle(request: HttpRequest): Promise<HttpResponse>;
  readonly onFault: (fault: unknown) => void;
  readonly onCookie: () => void;
}

const codes = { leaving: 1001, binary: 1003, policy: 1008 } as const;

export class PageLink implements StreamOwner {
  readonly memory: HeldMemory;
  readonly #parts: PageLinkParts;
  readonly #lasting: HeaderFields;
  readonly #streams = new Map<number, PageStream>();
  /** Streams with text and credit, in the order of their turns. */
  readonly #turns: PageStream[] = [];
  #last = 0;
  #isSending = false;
  #isPaused = false;
  /** Something has come since the last ping. */
  #isHeard = true;
  #isLeaving = false;
  #isOver = false;
  #cancelPing: () => void;
  #cancelLeaving = (): void => {};

  constructor(parts: PageLinkParts) {
    this.#parts = parts;
    this.memory = parts.memory;
    this.#lasting = lastingFields(parts.handshake);
    const fixed = new Set(pageLinkHeaders);
    const headers = [...parts.rules.names].filter((name) => !fixed.has(name));
    this.say(`open 0 ${JSON.stringify({ headers })}`);
    this.#cancelPing = this.#pingLater();
  }

  /** The page has sent a text. */
  onText(text: string): void {
    if (this.#isOver) return;
    this.#isHeard = true;
    const [, kind, digits, rest] =
      /^(open|credit|cancel) ([1-9]\d{0,8})(?: (.+))?$/s.exec(text) ?? [];
    const id = Number(digits);
    if (kind === "open" && rest !== undefined) return this.#open(id, rest);
    const isCredit = kind === "credit" && /^[1-9]\d{0,6}$/.test(rest ?? "");
    if (!isCredit && (kind !== "cancel" || rest !== undefined))
      return this.#refuse(codes.policy, "A message isn't one of a page's link");
    if (id > this.#last) return this.#refuse(codes.policy, `Stream ${id} isn't open`);
    // One that is over at this end: the page doesn't know yet.
    const stream = this.#streams.get(id);
    if (!isCredit) stream?.left();
    else if (stream?.credited(Number(rest)) === false)
      this.#refuse(codes.policy, `Stream ${id} got more credit than text`);
  }

  onBinary(): void {
    this.#refuse(codes.binary, "A page's link takes texts");
  }

  /** The page is there. */
  onPong(): void {
    this.#isHeard = true;
  }

  /** Some sent bytes have left the socket. */
  onDrain(): void {
    this.#readOn();
    this.#sendTexts();
  }

  /** The socket is closed, or half closed. */
  onClose(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelPing();
    this.#cancelLeaving();
    for (const stream of this.#streams.values()) stream.left();
    this.#turns.length = 0;
  }

  /** The service is about to stop: the page opens its next stream elsewhere. */
  leave(): void {
    if (this.#isLeaving || this.#isOver) return;
    this.#isLeaving = true;
    this.say("end 0");
    this.#closeIfIdle();
  }

  /** Ends its streams with an error, and returns their number. */
  stop(reason: Error): number {
    const { size } = this.#streams;
    for (const stream of this.#streams.values()) stream.stop(reason);
    return size;
  }

  /** Closes it, even with open streams. */
  close(): void {
    this.#refuse(codes.leaving, "This service has stopped");
  }

  say(message: string): void {
    this.#write(Buffer.from(message));
  }

  waits(stream: PageStream): void {
    if (stream.isInTurn) return;
    stream.isInTurn = true;
    this.#turns.push(stream);
    this.#sendTexts();
  }

  over(stream: PageStream): void {
    this.#streams.delete(stream.id);
    this.#readOn();
    this.#closeIfIdle();
  }

  onFault(fault: unknown): void {
    this.#parts.onFault(fault);
  }

  onCookie(): void {
    this.#parts.onCookie();
  }

  #open(id: number, text: string): void {
    if (id <= this.#last) return this.#refuse(codes.policy, `Stream ${id} was opened before`);
    this.#last = id;
    const { handshake, rules, streamsPerLink, handle } = this.#parts;
    try {
      if (Buffer.byteLength(text) > mostHeadBytes) throw new TypeError("it is too long");
      const head = readHead(text, handshake, this.#lasting, rules);
      const isFull = this.#streams.size >= streamsPerLink;
      const refused = head.refused ?? (isFull ? tooManyStreams(streamsPerLink) : undefined);
      const stream = new PageStream(id, head, handshake, this);
      this.#streams.set(id, stream);
      this.#readLess();
      void stream.run(
        refused === undefined ? handle : async () => await refusal(refused, head.headers),
      );
    } catch {
      this.#refuse(codes.policy, `The head of stream ${id} isn't one`);
    }
  }

  #sendTexts(): void {
    if (!this.#isSending && this.#turns.length > 0) void this.#sendInTurn();
  }

  async #sendInTurn(): Promise<void> {
    this.#isSending = true;
    while (this.#turns.length > 0 && this.#parts.socket.queued < mostWaitingBytes) {
      const turn = answerPace.piece(Math.max(leastTurnBytes, this.#turns[0]!.pieceSize));
      if (turn !== undefined) await turn;
      const stream = this.#turns.shift();
      if (stream === undefined) break;
      stream.isInTurn = false;
      // Meanwhile the page may have cancelled it.
      if (!stream.hasText) continue;
      const piece = stream.piece();
      this.#write(Buffer.concat([Buffer.from(`data ${stream.id} `), piece]));
      if (stream.hasText && !stream.isInTurn) {
        stream.isInTurn = true;
        this.#turns.push(stream);
      }
    }
    this.#isSending = false;
  }

  #write(text: Buffer): void {
    if (this.#isOver) return;
    this.#parts.socket.send(text);
    this.#readLess();
  }

  /** Whether many answers wait. Those past `streamsPerLink` are refusals, which leave without credit. */
  get #isCrowded(): boolean {
    const { socket, streamsPerLink } = this.#parts;
    return socket.queued >= mostReplyBytes || this.#streams.size >= 2 * streamsPerLink;
  }

  /** A page that asks for more than it reads gets no more of its messages read. */
  #readLess(): void {
    if (this.#isPaused || !this.#isCrowded) return;
    this.#isPaused = true;
    this.#parts.socket.pause();
  }

  #readOn(): void {
    if (!this.#isPaused || this.#isOver || this.#isCrowded) return;
    this.#isPaused = false;
    this.#parts.socket.resume();
  }

  #pingLater(): () => void {
    const { clock, socket } = this.#parts;
    return clock.after(pingMs, () => {
      if (!this.#isHeard) {
        socket.destroy();
        return this.onClose();
      }
      this.#isHeard = false;
      socket.ping();
      this.#cancelPing = this.#pingLater();
    });
  }

  /** The page closes it first, unless it doesn't know that it should. */
  #closeIfIdle(): void {
    if (!this.#isLeaving || this.#isOver || this.#streams.size > 0) return;
    this.#cancelLeaving();
    this.#cancelLeaving = this.#parts.clock.after(leavingMs, () => {
      if (this.#streams.size === 0) this.close();
    });
  }

  #refuse(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#parts.socket.close(code, reason);
    this.onClose();
  }
}

function tooManyStreams(limit: number): Error & ReturnType<typeof refusedStart> {
  return refusedStart(
    "overload",
    `This page has as many streams open as limits.streamsPerLink allows (${limit}); try again`,
  );
}
