// A call that runs elsewhere: out as a request, back as a value or as the error that was thrown there (§1.5, §1.7).
// Works unchanged in browsers and on Node.

import { bounded } from "../bounded.ts";
import type { Args } from "../call.ts";
import type { Context } from "../context.ts";
import { BadGateway, DeadlineExceeded, NodeNotAvailable, ValueNotSerializable } from "../errors.ts";
import { forwardedHeaders } from "../forwarded.ts";
import { type Clock, type IncomingResponse, type Transport, TransportError } from "../ports.ts";
import { headers, jsonType, rpcPath, versionParameter } from "../protocol.ts";
import type { ClassTable } from "../serializer/class-table.ts";
import type { Limits } from "../serializer/limits.ts";
import { type Answer, decodeAnswer } from "./decode-answer.ts";
import { encodeCall } from "./superjson.ts";

export { type Answer, decodeAnswer };

export interface OutgoingCall {
  readonly fqn: string;
  readonly version: string;
  readonly args: Args;
  readonly context: Context;
}

export interface RemoteOptions {
  readonly transport: Transport;
  /** Address of the gateway, node or page's origin. */
  readonly base: string;
  /** Header fields that say who calls; a page has none. */
  readonly credential?: Readonly<Record<string, string>>;
  readonly classes: ClassTable;
  readonly limits: Pick<Limits, "time">;
  readonly clock: Clock;
  /** Hears of each error that an answer brought. */
  readonly onError?: (error: unknown, response: IncomingResponse) => void;
}

/** Sends calls away and gives back what came of them: the value, or the error as it was thrown there. A call is sent once. */
export function createRemote(options: RemoteOptions): (call: OutgoingCall) => Promise<Answer> {
  const { transport, credential, classes, limits, clock } = options;
  const door = options.base.replace(/\/$/, "") + rpcPath;
  return async ({ fqn, version, args, context }) => {
    const start = clock.now();
    const late = (): DeadlineExceeded => new DeadlineExceeded(`'${fqn}' was not answered in time`);
    // Both are named, as the answer may have a cycle where the arguments have none.
    const { body, encoding } = await withClasses(classes, () =>
      encodeCall(args, { classes }, "serialized, superjson"),
    );
    const left = (context.deadline ?? start + limits.time) - clock.now();
    if (left <= 0) throw late();
    const fields: Record<string, string> = {
      ...credential,
      "content-type": jsonType,
      [headers.encoding]: encoding,
      [headers.hops]: String(context.hops + 1),
      [headers.deadline]: String(Math.ceil(left)),
      ...Object.fromEntries(forwardedHeaders(context.headers)),
    };
    const path = encodeURIComponent(fqn).replaceAll("%2F", "/");
    const url = `${door}${path}?${versionParameter}=${version}`;
    const response = await bounded(context.signal, clock, left, late, (signal) =>
      transport.send({ url, method: "POST", headers: fields, body, signal }),
    ).catch((thrown: unknown) => {
      if (!(thrown instanceof TransportError)) throw thrown;
      throw thrown.sent
        ? new BadGateway(`'${fqn}' was sent, but no answer came`, { cause: thrown })
        : new NodeNotAvailable(`'${fqn}' could not be sent`, { cause: thrown });
    });
    return await decodeAnswer(response, { classes, onError: options.onError });
  };
}

/** Encodes; where a class is missing that can still be loaded, loads it and encodes again. */
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
