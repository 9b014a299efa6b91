// Sends a remote call: address, header fields, time limit, and the errors of a failed transport. A codec makes the
// body and reads the answer. Works unchanged in browsers and on Node.

import { Abort } from "../../base/aborts.ts";
import type { Args } from "../../base/call.ts";
import type { Context } from "../../base/context.ts";
import { BadGateway, DeadlineExceeded, NodeNotAvailable } from "../../base/errors.ts";
import {
  type AbortNotice,
  type CallFrom,
  type Clock,
  type IncomingResponse,
  type Peer,
  type PeerResponse,
  TransportError,
} from "../../base/ports.ts";
import { headers, jsonType, rpcPath, versionParameter } from "../../base/protocol.ts";
import { relayHeaders } from "../../http/relay-headers.ts";
import type { Answer, OutgoingCall } from "../../types/outgoing-call.ts";
import type { StateCarrier } from "../call-state.ts";
import { cleanUpMs, type Limits } from "../../base/limits.ts";
import type { Encoding } from "../encoding.ts";
import type { EncodedCall } from "../superjson.ts";

/** Calls name both: a result may have a cycle even if the arguments don't. */
export const bothEncodings: Encoding = "serialized, superjson";

/**
 * Converts values to the bodies of calls, and the bodies of answers to values. Returns a promise only if it has to
 * wait.
 */
export interface CallCodec {
  /** Throws ValueNotSerializable. */
  encode(args: Args): EncodedCall | Promise<EncodedCall>;
  /** Returns the value, or throws the error that the answer carries. */
  decode(response: IncomingResponse): Answer | Promise<Answer>;
}

export interface SenderOptions {
  readonly transport: Peer;
  /** Address of a gateway or node, or the page's origin. */
  readonly base: string;
  /** The sender of these calls. A page doesn't set it. */
  readonly from?: CallFrom;
  readonly codec: CallCodec;
  readonly limits: Pick<Limits, "callTimeoutMs">;
  readonly clock: Clock;
  /** The fields that a call takes along from its context. */
  readonly sentHeaders: (context: Context) => Readonly<Record<string, string>>;
  /** Whether the code of this context's call is running now. A page can't tell. */
  readonly isRunning?: (context: Context) => boolean;
  /** The departure of a context's caller [its signal]. */
  readonly departure?: (context: Context) => AbortNotice;
  /** Completes a call whose arguments are encoded. A page may have to wait for its headers. */
  readonly prepare?: (call: OutgoingCall) => OutgoingCall | Promise<OutgoingCall>;
  /** The state that inner calls share with the call that makes them. A page doesn't have one. */
  readonly states?: StateCarrier;
}

/** A call that was sent, and has an answer whose body may still be on its way. */
export interface Answered {
  readonly answer: PeerResponse;
  /** Its body is read as a stream: the call's time is over, and only its caller can end it. */
  readonly begun: (answer: PeerResponse) => void;
  /** The whole answer is here: returns what it carries, or throws its error. */
  readonly received: (answer: IncomingResponse) => Answer | Promise<Answer>;
  /** Throws the error for the caller when the rest of the answer doesn't come. */
  readonly failed: (thrown: unknown) => never;
  readonly ending: Ending;
}

/** Makes remote calls. Each is sent once. */
export interface Sender {
  /** The error that the procedure threw is thrown here. */
  readonly call: (call: OutgoingCall) => Promise<Answer>;
  /**
   * Hands over the answer as soon as its head is there. `accept` are the media types that are expected, `peer` sends the
   * call [the transport of all].
   */
  readonly open: <T>(
    call: OutgoingCall,
    accept: string | undefined,
    take: (answered: Answered) => T | Promise<T>,
    peer?: Peer,
  ) => Promise<T>;
}

export function createSender(options: SenderOptions): Sender {
  const { transport, from, codec, sentHeaders, limits, clock, states, prepare } = options;
  const { departure = ({ signal }) => signal } = options;
  const endpoint = options.base.replace(/\/$/, "") + rpcPath;
  // Not async, like the rest of a call's way where possible: each promise costs a call 0.1 µs, as contexts
  // are carried across all of them.
  const send = <T>(
    { fqn, version, context }: OutgoingCall,
    begin: Beginning,
    { body, encoding }: EncodedCall,
    accept: string | undefined,
    take: (answered: Answered) => T | Promise<T>,
    peer: Peer,
  ): Promise<T> => {
    const late = (): DeadlineExceeded => new DeadlineExceeded(`'${fqn}' was not answered in time`);
    const { start, leaving, caller, isCleanUp } = begin;
    const end = isCleanUp
      ? start + cleanUpMs
      : Math.min(endOf(context, clock), start + limits.callTimeoutMs);
    const left = end - clock.now();
    if (left <= 0) throw late();
    if (!isCleanUp) leaving.throwIfAborted();
    caller.throwIfAborted();
    const path = encodeURIComponent(fqn).replaceAll("%2F", "/");
    const fields: Record<string, string> = Object.assign(
      {},
      { "content-type": (body as Partial<Blob>).type ?? jsonType, [headers.encoding]: encoding },
      accept === undefined ? undefined : { accept },
      relayHeaders(context.hops, left),
      // Throws for locals that can't travel, so nothing is held for the call before.
      states?.fields(context),
      sentHeaders(context),
    );
    const noted = states?.sends(context, fqn);
    const ending = new Ending(caller, clock, left, late);
    const hasHead = (answer: PeerResponse): void => {
      noted?.answered(answer.status);
      states?.received(context, answer);
    };
    const begun = (answer: PeerResponse): void => {
      ending.untimed();
      hasHead(answer);
    };
    const received = (answer: IncomingResponse): Answer | Promise<Answer> => {
      ending.settled();
      hasHead(answer);
      return codec.decode(answer);
    };
    const failed = (thrown: unknown): never => {
      ending.settled();
      noted?.failed(thrown);
      // Transports throw different errors for an abort, so use the reason.
      if (ending.aborted) throw ending.reason;
      if (!(thrown instanceof TransportError)) throw thrown;
      throw thrown.sent
        ? new BadGateway(`'${fqn}' was sent, but no answer came`, { cause: thrown })
        : new NodeNotAvailable(`'${fqn}' could not be sent`, { cause: thrown });
    };
    const sent = peer.send({
      url: `${endpoint}${path}?${versionParameter}=${version}`,
      method: "POST",
      headers: Object.assign(fields, noted?.headers),
      body,
      from,
      signal: ending,
    });
    return sent.then((answer) => take({ answer, begun, received, failed, ending }), failed);
  };
  const open: Sender["open"] = (call, accept, take, peer = transport) => {
    const { context } = call;
    try {
      const leaving = departure(context);
      const { caller = leaving } = call;
      const isCleanUp = leaving.aborted && options.isRunning?.(context) === true;
      const begin = {
        start: clock.now(),
        leaving,
        caller: isCleanUp && caller === leaving ? never : caller,
        isCleanUp,
      };
      const encoded = codec.encode(call.args);
      const prepared = prepare === undefined ? call : prepare(call);
      if (prepared instanceof Promise)
        return Promise.all([prepared, encoded]).then(([complete, body]) =>
          send(complete, begin, body, accept, take, peer),
        );
      return encoded instanceof Promise
        ? encoded.then((body) => send(prepared, begin, body, accept, take, peer))
        : send(prepared, begin, encoded, accept, take, peer);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  };
  return { open, call: (call) => open(call, undefined, wholeOf) };
}

/** The value of an answer, or its error, once all of it is here. */
export function wholeOf({ answer, received, failed }: Answered): Answer | Promise<Answer> {
  const { status, headers: fields, body } = answer;
  return body instanceof Uint8Array
    ? received({ status, headers: fields, body })
    : body.bytes().then((bytes) => received({ status, headers: fields, body: bytes }), failed);
}

/** The circumstances in which a call begins. */
interface Beginning {
  readonly start: number;
  /** The caller in its context. */
  readonly leaving: AbortNotice;
  /** Can end the call early. */
  readonly caller: AbortNotice;
  /**
   * The caller had left before the call was made, so it is part of a clean-up, which has a time of its own.
   */
  readonly isCleanUp: boolean;
}

const never = new Abort();

/** When a call has to be answered, by this clock: the options of a call may count by another one. */
function endOf(context: Context & { readonly clock?: Clock | undefined }, clock: Clock): number {
  const { endsAt = Infinity, clock: own = clock } = context;
  return own === clock ? endsAt : endsAt - own.now() + clock.now();
}

/** Ends a call early: its caller leaves, or its time is over. */
export class Ending extends Abort {
  readonly #departure: AbortNotice;
  readonly #cancel: () => void;

  constructor(departure: AbortNotice, clock: Clock, ms: number, late: () => Error) {
    super();
    this.#departure = departure;
    this.#cancel = clock.after(ms, () => this.abort(late()));
    departure.addEventListener("abort", this);
  }

  /** The caller leaves. */
  handleEvent(): void {
    this.abort(this.#departure.reason);
  }

  /** It has as much time as its caller from now on. */
  untimed(): void {
    this.#cancel();
  }

  /** Nothing can end it any more. */
  settled(): void {
    this.#cancel();
    this.#departure.removeEventListener("abort", this);
  }
}
