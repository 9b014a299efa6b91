// A service's remote calls, which carry every value.

import { CallContext, departureOf } from "../../runtime/call-context.ts";
import type { Answer, OutgoingCall } from "../../types/outgoing-call.ts";
import { type CodecOptions, createCodec } from "./remote-codec.ts";
import { plainAnswer } from "./plain-call.ts";
import { createSender, type SenderOptions } from "./send-call.ts";

export type RemoteOptions = Omit<SenderOptions, "codec" | "sentHeaders" | "departure"> &
  CodecOptions;

/** Makes remote calls. Each is sent once; the error that the procedure threw is thrown here. */
export function createRemote(options: RemoteOptions): (call: OutgoingCall) => Promise<Answer> {
  const { encode, decode } = createCodec(options);
  return createSender({
    ...options,
    sentHeaders: CallContext.sentBy,
    departure: departureOf,
    codec: { encode, decode: (answer) => plainAnswer(answer) ?? decode(answer) },
  });
}
