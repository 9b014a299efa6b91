// /svc/stream.js: streams of procedures. /svc/remote.js loads it with a page's first stream.

import type { Clock } from "../src/base/ports.ts";
import type { SendStream } from "../src/types/outgoing-call.ts";
import type { CallCodec, Sender } from "../src/wire/outgoing/send-call.ts";
import { createStreams } from "../src/wire/outgoing/send-stream.ts";
import { streamIdleMs } from "./times.ts";

export { bindStream } from "../src/runtime/bound-stream.ts";

/** What /svc/remote.js shares with this file. */
interface PageSender {
  readonly open: Sender["open"];
  readonly codec: Pick<CallCodec, "decode">;
  readonly clock: Clock;
}

export function createPageStreams(sender: PageSender): SendStream {
  return createStreams({
    ...sender,
    departure: ({ signal }) => signal,
    idleMs: streamIdleMs,
  });
}
