// Sends a remote call: address, header fields, time limit, and what a failed transport means. A codec
// makes the body and reads the answer. Works unchanged in browsers and on Node.

import { bounded } from "../../base/aborts.ts";
import type { Args } from "../../base/call.ts";
import type { Context } from "../../base/context.ts";
import { BadGateway, DeadlineExceeded, NodeNotAvailable } from "../../base/errors.ts";
import { type Clock, type IncomingResponse, type Peer, TransportError } from "../../base/ports.ts";
import { headers, jsonType, rpcPath, versionParameter } from "../../base/protocol.ts";
import { relayHeaders } from "../../http/relay-headers.ts";
import type { Answer, OutgoingCall } from "../../types/outgoing-call.ts";
import type { StateCarrier } from "../call-state.ts";
import type { Limits } from "../../codec/values/limits.ts";
import type { Encoding } from "../encoding.ts";
import type { EncodedCall } from "../superjson.ts";
import { collected } from "../../http/bodies.ts";

/** What a call names: its result may have a cycle even if its arguments don't. */
export const bothEncodings: Encoding = "serialized, superjson";

/** Between values and the bodies of calls and answers. */
export interface CallCodec {
  /** Throws ValueNotSerializable. */
  encode(args: Args): EncodedCall | Promise<EncodedCall>;
  /** Returns the value, or throws the error that the answer carries. */
  decode(response: IncomingResponse): Promise<Answer>;
}

export interface SenderOptions {
  readonly transport: Peer;
  /** Address of a gateway or node, or the page's origin. */
  readonly base: string;
  /** Header fields that identify the caller. A page has none. */
  readonly credential?: Readonly<Record<string, string>>;
  readonly codec: CallCodec;
  readonly limits: Pick<Limits, "callTimeoutMs">;
  readonly clock: Clock;
  /** The fields that a call takes along from its context. */
  readonly sentHeaders: (context: Context) => ReadonlyMap<string, string>;
  /** For the state that inner calls share with the call that makes them. A page has none. */
  readonly states?: StateCarrier;
}

/** Makes remote calls. Each is sent once; the error that the procedure threw is thrown here. */
export function createSender(options: SenderOptions): (call: OutgoingCall) => Promise<Answer> {
  const { transport, credential, codec, sentHeaders, limits, clock, states } = options;
  const endpoint = options.base.replace(/\/$/, "") + rpcPath;
  return async ({ fqn, version, args, context }) => {
    const start = clock.now();
    const late = (): DeadlineExceeded => new DeadlineExceeded(`'${fqn}' was not answered in time`);
    const { body, encoding } = await codec.encode(args);
    const end = Math.min(context.deadline ?? Infinity, start + limits.callTimeoutMs);
    const left = end - clock.now();
    if (left <= 0) throw late();
    const fields: Record<string, string> = Object.assign(
      {},
      credential,
      { "content-type": (body as Partial<Blob>).type ?? jsonType, [headers.encoding]: encoding },
      relayHeaders(context.hops, left),
      states?.fields(context),
      Object.fromEntries(sentHeaders(context)),
    );
    const path = encodeURIComponent(fqn).replaceAll("%2F", "/");
    const url = `${endpoint}${path}?${versionParameter}=${version}`;
    const response = await bounded(context.signal, clock, left, late, (signal) =>
      collected(transport.send({ url, method: "POST", headers: fields, body, signal })),
    ).catch((thrown: unknown) => {
      if (!(thrown instanceof TransportError)) throw thrown;
      throw thrown.sent
        ? new BadGateway(`'${fqn}' was sent, but no answer came`, { cause: thrown })
        : new NodeNotAvailable(`'${fqn}' could not be sent`, { cause: thrown });
    });
    states?.received(context, response);
    return await codec.decode(response);
  };
}
