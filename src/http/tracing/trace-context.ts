// W3C Trace Context: reads the trace point of a request, and writes that of outbound calls.

import type { HeaderFields } from "../../base/ports.ts";

/** Carries the ids of a trace, and of the part of it that made the request (W3C Trace Context). */
export const traceHeader = "traceparent";

/** Carries data of tracing systems beside `traceparent`. */
export const traceStateHeader = "tracestate";

/** A position in a trace. */
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

/** The trace point of a request; `undefined` if it has no valid one. */
export function readTracePoint(fields: HeaderFields): TracePoint | undefined {
  const field = fields[traceHeader];
  const [, version, traceId, spanId, flags = "", rest] =
    typeof field === "string" ? (form.exec(field) ?? []) : [];
  if (traceId === undefined || spanId === undefined || (version === "00" && rest !== ""))
    return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The id of the trace that a request belongs to, if it has one. */
export function traceIdOf(fields: HeaderFields): string | undefined {
  return readTracePoint(fields)?.traceId;
}

export function traceField({ traceId, spanId, sampled }: TracePoint): string {
  return `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
}

/** The standard only requires passing on states up to this length. */
const longestState = 512;
const isState = /^[\x20-\x7e]+$/;

/** The `tracestate` of a request, unchanged; `undefined` if there is none that may be passed on. */
export function readTraceState(fields: HeaderFields): string | undefined {
  const field = fields[traceStateHeader];
  return typeof field === "string" && field.length <= longestState && isState.test(field)
    ? field
    : undefined;
}
