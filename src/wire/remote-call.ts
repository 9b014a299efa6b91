// A call that runs elsewhere: out as a request, back as a value or as the error that was thrown there (§1.5, §1.7).
// Works unchanged in browsers and on Node.

import type { Args } from "../call.ts";
import type { Context } from "../context.ts";
import { BadGateway, DeadlineExceeded, NodeNotAvailable, ValueNotSerializable } from "../errors.ts";
import { forwardedHeaders } from "../forwarded.ts";
import { type Clock, type Transport, TransportError } from "../ports.ts";
import { headers, jsonType, rpcPath, versionParameter } from "../protocol.ts";
import type { ClassSource } from "../serializer/classes.ts";
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
  readonly trustKey?: string | undefined;
  readonly classes: ClassSource;
  readonly limits: Pick<Limits, "time">;
  readonly clock: Clock;
}

/** Sends calls away and gives back what came of them: the value, or the error as it was thrown there. A call is sent once. */
export function createRemote(options: RemoteOptions): (call: OutgoingCall) => Promise<Answer> {
  const { transport, trustKey, classes, limits, clock } = options;
  const door = options.base.replace(/\/$/, "") + rpcPath;
  return async ({ fqn, version, args, context }) => {
    const start = clock.now();
    const late = (): DeadlineExceeded => new DeadlineExceeded(`'${fqn}' was not answered in time`);
    // Both are named, as the answer may have a cycle where the arguments have none.
    const { body, encoding } = await withClasses(classes, () => encodeCall(args, { classes }, "serialized, superjson"));
    const left = (context.deadline ?? start + limits.time) - clock.now();
    if (left <= 0) throw late();
    const fields: Record<string, string> = {
      ...Object.fromEntries(forwardedHeaders(context.headers)),
      "content-type": jsonType,
      [headers.encoding]: encoding,
      [headers.hops]: String(context.hops + 1),
      [headers.deadline]: String(Math.ceil(left)),
      ...(trustKey !== undefined && { [headers.trustKey]: trustKey, [headers.origin]: "trusted" }),
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
    return await decodeAnswer(response, { classes });
  };
}

/** Encodes; where a class is missing that can still be loaded, loads it and encodes again. */
export async function withClasses<T>(classes: ClassSource, encode: () => T | Promise<T>): Promise<T> {
  try {
    return await encode();
  } catch (thrown) {
    if (classes === "opaque" || classes.load === undefined || !(thrown instanceof ValueNotSerializable)) throw thrown;
    await classes.load();
    return await encode();
  }
}

/** Runs `act` under a signal that follows the caller's and the clock. */
async function bounded<T>(
  outer: AbortSignal,
  clock: Clock,
  left: number,
  late: () => Error,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const leave = follow(outer, () => controller.abort(outer.reason));
  const cancel = clock.after(left, () => controller.abort(late()));
  try {
    controller.signal.throwIfAborted();
    return await act(controller.signal);
  } catch (thrown) {
    // Transports differ in what they make of an abort: the reason is what counts.
    throw controller.signal.aborted ? controller.signal.reason : thrown;
  } finally {
    cancel();
    leave();
  }
}

const followers = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls `act` when the signal aborts. One listener serves all calls: Node warns of a leak at the eleventh, and a procedure may make more at once. */
function follow(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) act();
  let acts = followers.get(signal);
  if (acts === undefined) {
    const all = new Set<() => void>();
    followers.set(signal, (acts = all));
    signal.addEventListener("abort", () => all.forEach((one) => one()), { once: true });
  }
  acts.add(act);
  return () => acts.delete(act);
}
