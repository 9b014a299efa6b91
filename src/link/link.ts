// One end of a link: calls in both directions over one channel, many at a time. Both ends have proven
// who they are before there is a link (handshake.ts).

import type { Channel } from "../base/ports/links.ts";
import {
  type CallFrom,
  type HttpResponse,
  type PeerResponse,
  TransportError,
  UnsentError,
} from "../base/ports.ts";
import { pathOf } from "../http/router.ts";
import { headBytes, type Kind, lengthBytes, kinds, type OnFrame, ProtocolError } from "./frames.ts";
import { addGoodbye, goodbyeIn, numberIn } from "./payload.ts";
import { callHead } from "./heads.ts";
import { Outbox, tripMark } from "./outbox.ts";
import { ReceivedCall } from "./received-call.ts";
import { SentCall } from "./sent-call.ts";
import { Streams } from "./streams.ts";
import { Pulse } from "./pulse.ts";
import type { LinkCall, LinkOptions } from "./calls.ts";
import { firstCalls, leastCost, mostTogether } from "./limits.ts";

/** Names of the senders of calls, for messages. */
const names = {
  key: "its own",
  service: "of its procedures",
  trusted: "of callers with the trust key",
  outside: "of callers outside",
};

/** Marks the ping after which no more calls come. */
const lastMark = 1;

export class Link {
  readonly #channel: Channel;
  readonly #options: LinkOptions;
  readonly #outbox: Outbox;
  readonly #pulse: Pulse;
  readonly #sent: Streams<SentCall>;
  readonly #received: Streams<ReceivedCall>;
  #sentCalls = 0;
  #arrivedCalls = 0;
  /** Calls that have begun since the last read. */
  #begun = 0;
  /** More calls of the same read: they begin in groups, before the answers of those leave. */
  #late: ReceivedCall[] = [];
  /** Received calls whose bodies are still being transferred. */
  #transfers = 0;
  #isDraining = false;
  #drained: (() => void)[] | undefined;
  #isClosed = false;

  constructor(channel: Channel, options: LinkOptions) {
    this.#channel = channel;
    this.#options = options;
    this.#outbox = new Outbox(channel, options);
    this.#sent = new Streams(options.isDialer ? 1 : 0, firstCalls);
    this.#received = new Streams(options.isDialer ? 0 : 1, firstCalls);
    this.#outbox.trips.measure();
    this.allow(options.mostCalls);
    this.#pulse = new Pulse(this.#outbox, options, (cause) => this.closed(cause));
  }

  /** The other end's name in errors. */
  get name(): string {
    return this.#outbox.name;
  }

  rename(name: string): void {
    this.#outbox.name = name;
  }

  /** Whether the other end takes one more call now. */
  get hasRoom(): boolean {
    return !this.#isClosed && !this.#isDraining && this.#sent.hasRoom;
  }

  /** The same, with `reserved` places kept free for other requests. */
  hasRoomBeside(reserved: number): boolean {
    return this.hasRoom && this.#sent.hasRoomBeside(reserved);
  }

  /** Calls are in flight, and nothing has come for 600 ms. New calls are better sent elsewhere. */
  get isSilent(): boolean {
    return this.#pulse.isSilent;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Calls that this end has sent and that aren't over. */
  get calls(): number {
    return this.#sent.count;
  }

  /** Calls of the other end that run here. */
  get running(): number {
    return this.#received.count;
  }

  /** Sets the limit of concurrent calls from the other end. Calls on their way may exceed it. */
  allow(calls: number): void {
    this.#received.raise(calls);
    this.#outbox.control().addNumber(kinds.credit, 0, calls);
    this.#outbox.flushLater();
  }

  /** See {@link Peer.send}. `reserved` places stay free. */
  send(call: LinkCall, reserved = 0): Promise<PeerResponse> {
    const { name } = this.#outbox;
    if (this.#isClosed)
      return Promise.reject(new UnsentError(`The link to ${name} is closed`, "refused"));
    if (this.#isDraining)
      return Promise.reject(new UnsentError(`${name} takes no more calls: it stops`, "refused"));
    if (!this.hasRoomBeside(reserved))
      return Promise.reject(
        new UnsentError(`${name} takes no more calls over its link now`, "local"),
      );
    if (call.signal?.aborted === true) return Promise.reject(call.signal.reason);
    this.#pulse.used();
    return new Promise((resolve, reject) => {
      // Throws for an invalid head, before anything is written.
      const head = callHead(call);
      const order = (this.#sentCalls = (this.#sentCalls + 1) >>> 0);
      const { onBadAnswer } = this.#options;
      new SentCall(this.#outbox, this.#sent, order, call, resolve, reject, onBadAnswer).begin(
        head,
        call,
      );
    });
  }

  /** For the reader of the channel. Throws a {@link ProtocolError} for frames that violate the protocol. */
  readonly onFrame: OnFrame = (kind, stream, payload, isKept, cut) => {
    if (this.#isClosed) return;
    if (kind === kinds.chunk) this.#chunk(stream, payload, isKept, cut);
    else this.#receive(kind, stream, payload, isKept);
  };

  /** Bytes have come. */
  heard(): void {
    this.#begun = 0;
    this.#pulse.heard();
  }

  /** The channel has room. */
  drained(): void {
    this.#outbox.flush();
  }

  /**
   * Tells the other end to send no more calls. Resolves when the calls that it had sent before have arrived, or
   * the link is over.
   */
  drain(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      if (this.#drained !== undefined) return void this.#drained.push(resolve);
      this.#drained = [resolve];
      // In the lane of calls: calls that wait for a crowded channel go first.
      this.#outbox.calls.addNumber(kinds.goAway, 0);
      this.#outbox.calls.add(kinds.ping, 0, 1)[0] = lastMark;
      this.#outbox.flush();
      this.#pulse.used();
    });
  }

  /** Resolves when all received calls are over, with the bodies of their answers. */
  finished(): Promise<void> {
    return this.#received.emptied();
  }

  /** Drains, and closes the link when no call is in flight in either direction. */
  async retire(reason: Error): Promise<void> {
    await this.drain();
    await Promise.all([this.#sent.emptied(), this.#received.emptied()]);
    this.close(reason);
  }

  /** Ends the received calls that still run, and returns their number. */
  cut(reason: Error): number {
    const calls = this.#received.all();
    for (const call of calls) call.cutter?.cut(reason);
    return calls.length;
  }

  /** Ends the link. Calls that wait for an answer fail. */
  close(cause: unknown): void {
    if (this.#isClosed) return;
    addGoodbye(this.#outbox.control(), this.#arrivedCalls, cause);
    this.closed(cause);
  }

  /** The channel is closed, or about to be. */
  closed(cause: unknown): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#pulse.stop();
    const why = cause instanceof Error ? cause.message : String(cause);
    const what = `The link to ${this.#outbox.name} broke before the answer came (${why})`;
    for (const call of this.#sent.all()) call.lost(new TransportError(what, true, { cause }));
    for (const call of this.#received.all()) call.lost(cause);
    this.#outbox.close();
    this.#channel.close();
    this.#drained?.forEach((resolve) => resolve());
    this.#options.onClose(cause);
  }

  #chunk(stream: number, payload: Uint8Array, isKept: boolean, cut?: "first" | "rest"): void {
    this.#outbox.arrived(payload.length + (cut === "rest" ? 0 : lengthBytes + headBytes));
    const call = this.#sent.at(stream) ?? this.#received.at(stream);
    call?.chunk(payload, isKept, cut === undefined ? leastCost : 0);
  }

  #receive(kind: Kind, stream: number, payload: Uint8Array, isKept: boolean): void {
    switch (kind) {
      case kinds.callOutside:
        return this.#arrived("outside", stream, payload, isKept);
      case kinds.callTrusted:
        return this.#arrived("trusted", stream, payload, isKept);
      case kinds.callService:
        return this.#arrived("service", stream, payload, isKept);
      case kinds.callOwn:
        return this.#arrived("key", stream, payload, isKept);
      case kinds.answer:
        return this.#sent.at(stream)?.answered(payload, isKept);
      case kinds.end:
        return (this.#sent.at(stream) ?? this.#received.at(stream))?.ended();
      case kinds.cancel:
        return (this.#sent.at(stream) ?? this.#received.at(stream))?.cancelled();
      case kinds.window:
        return (this.#sent.at(stream) ?? this.#received.at(stream))?.granted(numberIn(payload));
      case kinds.arrived:
        return this.#outbox.confirmed(numberIn(payload));
      case kinds.credit:
        this.#sent.limit(numberIn(payload));
        return this.#options.onCredit?.();
      case kinds.ping:
        this.#outbox.control().add(kinds.pong, 0, payload.length).set(payload);
        return this.#outbox.flushSoon();
      case kinds.pong:
        if (payload[0] === lastMark) this.#drained?.splice(0).forEach((resolve) => resolve());
        else if (payload[0] === tripMark) this.#outbox.trips.measured();
        return;
      case kinds.goAway:
        return this.#goneAway(payload);
      default:
        throw new ProtocolError(`Unexpected frame of kind ${kind}`);
    }
  }

  #goneAway(payload: Uint8Array): void {
    this.#isDraining = true;
    if (payload.length === 0) return this.#options.onDraining();
    const { taken, cause } = goodbyeIn(payload);
    const what = `${this.#outbox.name} ended the link before it took the call`;
    for (const call of this.#sent.all())
      if (((call.order - taken) | 0) > 0) call.lost(new UnsentError(what, "refused", { cause }));
    this.closed(cause);
  }

  #arrived(from: CallFrom, stream: number, payload: Uint8Array, isKept: boolean): void {
    if (!this.#received.isFree(stream))
      throw new ProtocolError(`Stream ${stream} can't begin a call`);
    const call = new ReceivedCall(
      this.#outbox,
      this.#received,
      stream,
      from,
      payload,
      isKept,
      this.#transferred,
    );
    const { method, target } = call;
    if (!this.#options.takes(from, method, target)) {
      const request = JSON.stringify(`${method} ${pathOf(target).slice(0, 100)}`);
      throw new ProtocolError(
        `The other end sent a call that it may not send (${names[from]}: ${request})`,
      );
    }
    this.#arrivedCalls = (this.#arrivedCalls + 1) >>> 0;
    if (this.#late.length === 0 && this.#begun++ < mostTogether) return this.#begin(call);
    this.#late.push(call);
    // All groups are scheduled now, so that their answers go in one write.
    if (this.#late.length % mostTogether === 1) this.#options.soon(this.#beginLate);
  }

  readonly #beginLate = (): void => {
    for (const call of this.#late.splice(0, mostTogether))
      if (call.isUnwanted) call.fail();
      else this.#begin(call);
  };

  #begin(call: ReceivedCall): void {
    void this.#options.handle(call).then(
      (answer) => this.#answer(call, answer),
      (error: unknown) => {
        call.fail();
        this.#options.onFault(error);
      },
    );
  }

  /** A body in transfer frees its call's place, so a peer that sends or reads byte by byte can't block others. */
  readonly #transferred = (begins: boolean): void => {
    this.#transfers += begins ? 1 : -1;
    if (!this.#isClosed) this.allow(this.#options.mostCalls + this.#transfers);
  };

  #answer(call: ReceivedCall, answer: HttpResponse): void {
    try {
      call.answer(answer, this.#options.onFault);
    } catch (error) {
      call.fail();
      this.#options.onFault(error);
    }
  }
}
