// Notes the outcomes of outbound calls.

import type { PeerResponse } from "../../base/ports.ts";
import type { SentNotes } from "../../base/ports/telemetry.ts";

/** Notes the outcome of a call, and returns it unchanged. */
export function noted(
  sending: Promise<PeerResponse>,
  notes: SentNotes | undefined,
): Promise<PeerResponse> {
  if (notes !== undefined)
    sending.then(
      ({ status }) => notes.answered(status),
      (thrown: unknown) => notes.failed(thrown),
    );
  return sending;
}
