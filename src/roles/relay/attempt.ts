// One try at having another service answer an exchange: a member of a gateway, or the service behind a proxy. Its
// head is made here. Its body goes on as bytes.

import { Abort, abortWith } from "../../base/aborts.ts";
import { DeadlineExceeded } from "../../base/errors.ts";
import {
  type AbortNotice,
  type Clock,
  type HeaderFields,
  type OutgoingRequest,
  type Peer,
  type PeerResponse,
  TransportError,
  unsentOf,
} from "../../base/ports.ts";
import { anyUpstream, headers } from "../../base/protocol.ts";
import { connectionOptions } from "../../http/forwarded.ts";
import { crossSiteHeader, maskHeader, relayHeaders } from "../../http/relay-headers.ts";
import { noted } from "../../http/tracing/sent-notes.ts";
import { passedOnFor } from "../../http/trust.ts";
import type { Exchange } from "../../wire/exchange.ts";
import { addField, addRequestedOrigin, isEndToEnd } from "./forward.ts";
import { answerMs } from "../common/times.ts";

/** The content of an exchange to send on: as received, or as middleware left it. */
export interface Content<Body = Uint8Array | AsyncIterable<Uint8Array>> {
  readonly method: string;
  readonly target: string;
  /** A stream can be sent once. */
  readonly body: Body;
  /** Replace the caller's when middleware may have changed them. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends it to another service. Resolves with an answer, whose body may still be on its way. */
export type Send = (exchange: Exchange, content: Content) => Promise<PeerResponse>;

/** A slow network brings this much of a body in a millisecond. */
const bytesPerMs = 1_000;

export class Attempt {
  readonly #exchange: Exchange;
  readonly #content: Content;
  readonly #clock: Clock;
  /** The caller leaves, or the time of the procedure is over. */
  readonly #abort: AbortNotice;
  readonly #cancel: (() => void) | undefined;
  /** Set when the procedure's time has ended the attempt. */
  #late: DeadlineExceeded | undefined;

  /** `timeoutMs`: how long the procedure may take there, if that is limited. */
  constructor(exchange: Exchange, content: Content, clock: Clock, timeoutMs: number | undefined) {
    this.#exchange = exchange;
    this.#content = content;
    this.#clock = clock;
    this.#abort = exchange.departure;
    if (timeoutMs === undefined) return;
    const abort = (this.#abort = new Abort());
    abortWith(abort, exchange.departure);
    const { body } = content;
    const transferMs = body instanceof Uint8Array ? body.length / bytesPerMs : 0;
    this.#cancel = clock.after(timeoutMs + answerMs.late + transferMs, () => {
      const message = `'${exchange.fqn}' did not answer within its ${timeoutMs} ms`;
      abort.abort((this.#late = new DeadlineExceeded(message)));
    });
  }

  /**
   * Resolves with an answer, whose body may still be on its way, and which may have settings for this service.
   * `own` are fields for this peer alone.
   */
  send(peer: Peer, own?: Readonly<Record<string, string>>): Promise<PeerResponse> {
    const exchange = this.#exchange;
    const { method, target, body, headers: changed } = this.#content;
    const left = exchange.deadline - this.#clock.now();
    if (left <= 0) throw new DeadlineExceeded();
    // Our fields first: if a proxy on the way drops fields past a limit, it drops the caller's.
    const fields: Record<string, string> = Object.assign(
      {},
      crossSiteHeader(exchange.crossSite),
      maskHeader(exchange.masksErrors),
      own,
      relayHeaders(exchange.hops, left),
      exchange.state.relayedFields(),
    );
    addRequestedOrigin(fields, exchange.requestedOrigin);
    if (changed === undefined) addPassedFields(fields, exchange.request.headers);
    else for (const name in changed) addField(fields, name, changed[name]!);
    const isWhole = body instanceof Uint8Array;
    // A stream is sent with the length that its head promised, so that a limit can refuse it at once.
    const length = isWhole ? undefined : exchange.request.headers["content-length"];
    if (typeof length === "string") fields["content-length"] = length;
    const notes = exchange.request.notes?.sends?.(exchange.fqn);
    if (notes !== undefined) Object.assign(fields, notes.headers);
    const request: OutgoingRequest = {
      url: anyUpstream + target,
      method,
      headers: fields,
      from: passedOnFor(exchange.trust),
      signal: this.#abort,
    };
    return noted(peer.send(isWhole && body.length === 0 ? request : { body, ...request }), notes);
  }

  /** The attempt was answered. The caller may still leave while the answer's body comes. */
  answered(): void {
    this.#cancel?.();
  }

  /**
   * The attempt wasn't answered. Returns the error to report: the one that sending rejected with, or the timeout.
   */
  failed(thrown: unknown): unknown {
    this.#cancel?.();
    const late = this.#exchange.departure.aborted ? undefined : this.#late;
    return late === undefined || unsentOf(thrown) !== undefined
      ? thrown
      : new TransportError(late.message, true, { cause: late });
  }
}

const isEncoding = (name: string): boolean => name === headers.encoding;

/** The fields of a call as it came, as texts. */
function addPassedFields(fields: Record<string, string>, received: HeaderFields): void {
  const dropped = connectionOptions(received["connection"]);
  for (const name in received) {
    const value = received[name];
    if (value !== undefined && isEndToEnd(name, dropped, isEncoding))
      addField(fields, name, typeof value === "string" ? value : value.join(", "));
  }
}
