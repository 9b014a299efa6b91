// A remote call: sends the request, and returns the value or throws the error that comes back.
// Works unchanged in browsers and on Node.

import { bounded } from "../base/bounded.ts";
import {
  BadGateway,
  DeadlineExceeded,
  NodeNotAvailable,
  ValueNotSerializable,
} from "../base/errors.ts";
import type { Context } from "../base/context.ts";
import { type Clock, type IncomingResponse, type Peer, TransportError } from "../base/ports.ts";
import { headers, jsonType, rpcPath, versionParameter } from "../base/protocol.ts";
import { relayHeaders } from "../http/relay-headers.ts";
import type { Answer, OutgoingCall } from "../types/outgoing-call.ts";
import type { ClassTable } from "../codec/class-table.ts";
import type { StateCarrier } from "./call-state.ts";
import type { Limits } from "../codec/values/limits.ts";
import { decodeAnswer } from "./decode-answer.ts";
import { encodeCall } from "./superjson.ts";
import { collected } from "../http/bodies.ts";

export interface RemoteOptions {
  readonly transport: Peer;
  /** Address of a gateway or node, or the page's origin. */
  readonly base: string;
  /** Header fields that identify the caller. A page has none. */
  readonly credential?: Readonly<Record<string, string>>;
  readonly classes: ClassTable;
  readonly limits: Pick<Limits, "callTimeoutMs">;
  readonly clock: Clock;
  /** The headers that a call in this context is sent with. */
  readonly sentHeaders: (context: Context) => ReadonlyMap<string, string>;
  /** For the state that inner calls share with the call that makes them. A page has none. */
  readonly states?: StateCarrier;
  /** Called with each error that a response carries. */
  readonly onError?: (error: unknown, response: IncomingResponse) => void;
}

/** Makes remote calls. Each is sent once; the error that the procedure threw is thrown here. */
export function createRemote(options: RemoteOptions): (call: OutgoingCall) => Promise<Answer> {
  const { transport, credential, classes, limits, clock, states } = options;
  const endpoint = options.base.replace(/\/$/, "") + rpcPath;
  return async ({ fqn, version, args, context }) => {
    const start = clock.now();
    const late = (): DeadlineExceeded => new DeadlineExceeded(`'${fqn}' was not answered in time`);
    // Names both encodings, as the result may have a cycle even if the arguments don't.
    const { body, encoding } = await withClasses(classes, () =>
      encodeCall(args, { classes }, "serialized, superjson"),
    );
    const end = Math.min(context.deadline ?? Infinity, start + limits.callTimeoutMs);
    const left = end - clock.now();
    if (left <= 0) throw late();
    const fields: Record<string, string> = {
      ...credential,
      "content-type": (body as Partial<Blob>).type ?? jsonType,
      [headers.encoding]: encoding,
      ...relayHeaders(context.hops, left),
      ...states?.fields(context),
      ...Object.fromEntries(options.sentHeaders(context)),
    };
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
    return await decodeAnswer(response, { classes, onError: options.onError });
  };
}

/** Encodes, and once more after loading the remaining classes if one is missing. */
export async function withClasses<T>(
  classes: ClassTable,
  encode: () => T | Promise<T>,
): Promise<T> {
  try {
    return await encode();
  } catch (thrown) {
    if (classes.load === undefined || !(thrown instanceof ValueNotSerializable)) throw thrown;
    await classes.load();
    return await encode();
  }
}
