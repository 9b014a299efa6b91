// W3C Trace Context: what a request says of the trace that it belongs to, and what is said onwards.

import type { HeaderFields } from "../../base/ports.ts";

/** Carries the ids of a trace, and of the part of it that made the request (W3C Trace Context). */
export const traceHeader = "traceparent";

/** Carries what tracing systems note for each other beside `traceparent`. */
export const traceStateHeader = "tracestate";

/** Where in a trace something belongs. */
export interface TracePoint {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** Whether spans are recorded. */
  readonly sampled: boolean;
}

// Later versions begin in the same way, and may have more behind a hyphen.
const form = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})($|-)/;

/** What a request says; `undefined` if that is nothing, or nothing valid. */
export function readTracePoint(fields: HeaderFields): TracePoint | undefined {
  const field = fields[traceHeader];
  const [, version, traceId, spanId, flags = "", rest] =
    typeof field === "string" ? (form.exec(field) ?? []) : [];
  if (traceId === undefined || spanId === undefined || (version === "00" && rest !== ""))
    return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The id of the trace that a request belongs to, if it says so. */
export function traceIdOf(fields: HeaderFields): string | undefined {
  return readTracePoint(fields)?.traceId;
}

export function traceField({ traceId, spanId, sampled }: TracePoint): string {
  return `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
}

/** Longer ones needn't be passed on. */
const longestState = 512;
const isState = /^[\x20-\x7e]+$/;

/** The list of a request, as it came; `undefined` if there is none that may be passed on. */
export function readTraceState(fields: HeaderFields): string | undefined {
  const field = fields[traceStateHeader];
  return typeof field === "string" && field.length <= longestState && isState.test(field)
    ? field
    : undefined;
}
