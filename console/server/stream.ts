// `GET /svc/console/events`: server-sent events, first a snapshot and then changes. Readers pull,
// so a slow one gets fewer, larger messages, and nothing is buffered.

import type { View } from "./view.ts";
import { heartbeatMs, messageMs, retryMs } from "./base/times.ts";

/** The body of the answer. Calls `isAllowed` before each message. */
export async function* streamEvents(
  view: View,
  signal: AbortSignal,
  isAllowed: () => boolean,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  const message = (name: string, data: unknown): Uint8Array =>
    encoder.encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  const { state, ...start } = view.snapshot();
  let { cursor } = start;
  yield encoder.encode(`retry: ${retryMs}\n\n`);
  yield message("snapshot", state);
  let silentMs = 0;
  for (;;) {
    await view.pause(messageMs, signal);
    if (signal.aborted || view.stopped || !isAllowed()) return;
    const update = view.since(cursor);
    ({ cursor } = update);
    silentMs += messageMs;
    if (update.change !== undefined) yield message("change", update.change);
    else if (silentMs >= heartbeatMs) yield encoder.encode(": still here\n\n");
    else continue;
    silentMs = 0;
  }
}
