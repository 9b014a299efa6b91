// A service's remote calls, which carry every value.

import { sentHeaders } from "../../runtime/options-context.ts";
import type { Answer, OutgoingCall } from "../../types/outgoing-call.ts";
import { type CodecOptions, createCodec } from "./remote-codec.ts";
import { createSender, type SenderOptions } from "./send-call.ts";

export type RemoteOptions = Omit<SenderOptions, "codec" | "sentHeaders"> & CodecOptions;

/** Makes remote calls. Each is sent once; the error that the procedure threw is thrown here. */
export function createRemote(options: RemoteOptions): (call: OutgoingCall) => Promise<Answer> {
  return createSender({ ...options, sentHeaders, codec: createCodec(options) });
}
