// `GET /svc/console/events`: server-sent events, a snapshot and then what changes. A reader pulls: who reads slowly is told less often, and
// what has gathered since is told at once, so nothing is kept for anybody.

import type { ConsoleChange, ConsoleState } from "./state.ts";

/** How much a reader has been told. */
export interface Cursor {
  call: number;
  rates: number;
  members: unknown;
  procedures: unknown;
  service: string;
}

/** What the stream reads from. */
export interface View {
  readonly stopped: boolean;
  snapshot(): { state: ConsoleState; cursor: Cursor };
  /** What is new, after which `cursor` is up to date; `undefined`: nothing but the time. */
  change(cursor: Cursor): ConsoleChange | undefined;
  /** Resolves after `ms`, when `signal` aborts, or when the service stops. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

/** Between two messages, in ms: a screen needs no more, and a thousand calls cost as much as one. */
const messageTime = 250;
/** A reader that hears nothing asks himself whether the service is there, and so does whatever lies between. */
const heartbeat = 10_000;
/** A browser tries again so soon, in ms. */
const retry = 1_000;

/** The body of the answer. `may` is asked before each message. */
export async function* streamOf(
  view: View,
  signal: AbortSignal,
  may: () => boolean,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  const message = (name: string, data: unknown): Uint8Array =>
    encoder.encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  const { state, cursor } = view.snapshot();
  yield encoder.encode(`retry: ${retry}\n\n`);
  yield message("snapshot", state);
  let silent = 0;
  for (;;) {
    await view.pause(messageTime, signal);
    if (signal.aborted || view.stopped || !may()) return;
    const change = view.change(cursor);
    silent += messageTime;
    // Seconds pass also when nobody calls: the figures go along as long as there is something in them.
    if (change !== undefined) yield message("change", change);
    else if (silent >= heartbeat) yield encoder.encode(": still here\n\n");
    else continue;
    silent = 0;
  }
}
