// A service's remote calls, which carry every value.

import { CallContext, departureOf } from "../../runtime/call-context.ts";
import type { ContextCarrier } from "../../base/ports.ts";
import type { Limits } from "../../base/limits.ts";
import type { Remote } from "../../types/outgoing-call.ts";
import { type CodecOptions, createCodec } from "./remote-codec.ts";
import { plainAnswer } from "./plain-call.ts";
import { type CallCodec, createSender, type SenderOptions } from "./send-call.ts";
import { createStreams } from "./send-stream.ts";

export type RemoteOptions = Omit<
  SenderOptions,
  "codec" | "sentHeaders" | "departure" | "isRunning"
> &
  CodecOptions & {
    /** Tells which call runs now [none]. */
    readonly carrier?: Pick<ContextCarrier, "current">;
    readonly limits: Pick<Limits, "callTimeoutMs" | "streamIdleMs">;
  };

/** Makes remote calls. Each is sent once; the error that the procedure threw is thrown here. */
export function createRemote(options: RemoteOptions): Remote {
  const { encode, decode } = createCodec(options);
  const codec: CallCodec = { encode, decode: (answer) => plainAnswer(answer) ?? decode(answer) };
  const { call, open } = createSender({
    ...options,
    isRunning(context) {
      const running = CallContext.sourceOf(options.carrier?.current());
      return running !== undefined && running === CallContext.sourceOf(context);
    },
    sentHeaders: CallContext.sentBy,
    departure: departureOf,
    codec,
  });
  const { clock, limits } = options;
  const idleMs = limits.streamIdleMs;
  return { call, stream: createStreams({ open, codec, clock, departure: departureOf, idleMs }) };
}
