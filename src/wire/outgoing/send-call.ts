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
  TransportError,
} from "../../base/ports.ts";
import { headers, jsonType, rpcPath, versionParameter } from "../../base/protocol.ts";
import { relayHeaders } from "../../http/relay-headers.ts";
import type { Answer, OutgoingCall } from "../../types/outgoing-call.ts";
import type { StateCarrier } from "../call-state.ts";
import type { Limits } from "../../base/limits.ts";
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
  /** The departure of a context's caller [its signal]. */
  readonly departure?: (context: Context) => AbortNotice;
  /** Completes a call whose arguments are encoded. A page may have to wait for its headers. */
  readonly prepare?: (call: OutgoingCall) => OutgoingCall | Promise<OutgoingCall>;
  /** The state that inner calls share with the call that makes them. A page doesn't have one. */
  readonly states?: StateCarrier;
}

/** Makes remote calls. Each is sent once; the error that the procedure threw is thrown here. */
export function createSender(options: SenderOptions): (call: OutgoingCall) => Promise<Answer> {
  const { transport, from, codec, sentHeaders, limits, clock, states, prepare } = options;
  const { departure = ({ signal }) => signal } = options;
  const endpoint = options.base.replace(/\/$/, "") + rpcPath;
  // Not async, like the rest of a call's way where possible: each promise costs a call 0.1 µs, as contexts
  // are carried across all of them.
  const send = (
    { fqn, version, context }: OutgoingCall,
    start: number,
    { body, encoding }: EncodedCall,
  ): Promise<Answer> => {
    const late = (): DeadlineExceeded => new DeadlineExceeded(`'${fqn}' was not answered in time`);
    const end = Math.min(endOf(context, clock), start + limits.callTimeoutMs);
    const left = end - clock.now();
    if (left <= 0) throw late();
    const caller = departure(context);
    caller.throwIfAborted();
    const path = encodeURIComponent(fqn).replaceAll("%2F", "/");
    const fields: Record<string, string> = Object.assign(
      {},
      { "content-type": (body as Partial<Blob>).type ?? jsonType, [headers.encoding]: encoding },
      relayHeaders(context.hops, left),
      // Throws for locals that can't travel, so nothing is held for the call before.
      states?.fields(context),
      sentHeaders(context),
    );
    const noted = states?.sends(context, fqn);
    const ending = new Ending(caller, clock, left, late);
    const received = (answer: IncomingResponse): Answer | Promise<Answer> => {
      ending.settled();
      noted?.answered(answer.status);
      states?.received(context, answer);
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
    const sent = transport.send({
      url: `${endpoint}${path}?${versionParameter}=${version}`,
      method: "POST",
      headers: Object.assign(fields, noted?.headers),
      body,
      from,
      signal: ending,
    });
    return sent.then(
      ({ status, headers: got, body: answer }) =>
        answer instanceof Uint8Array
          ? received({ status, headers: got, body: answer })
          : answer.bytes().then((bytes) => received({ status, headers: got, body: bytes }), failed),
      failed,
    );
  };
  return (call) => {
    const start = clock.now();
    try {
      const encoded = codec.encode(call.args);
      const prepared = prepare === undefined ? call : prepare(call);
      if (prepared instanceof Promise)
        return Promise.all([prepared, encoded]).then(([complete, body]) =>
          send(complete, start, body),
        );
      return encoded instanceof Promise
        ? encoded.then((body) => send(prepared, start, body))
        : send(prepared, start, encoded);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  };
}

/** When a call has to be answered, by this clock: the options of a call may count by another one. */
function endOf(context: Context & { readonly clock?: Clock | undefined }, clock: Clock): number {
  const { endsAt = Infinity, clock: own = clock } = context;
  return own === clock ? endsAt : endsAt - own.now() + clock.now();
}

/** Ends a call early: its caller leaves, or its time is over. */
class Ending extends Abort {
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

  /** Nothing can end it any more. */
  settled(): void {
    this.#cancel();
    this.#departure.removeEventListener("abort", this);
  }
}
