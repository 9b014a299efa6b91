// Traces: the ids that each request carries, and the spans of sampled requests.

import type { Attributes, Context as Surroundings, Span, Tracer } from "@opentelemetry/api";

import { statusOf } from "../../../src/base/errors.ts";
import type { HttpRequest } from "../../../src/base/ports.ts";
import type { MeasuredRole, SentNotes } from "../../../src/base/ports/telemetry.ts";
import {
  readTracePoint,
  readTraceState,
  traceField,
  traceHeader,
  type TracePoint,
  traceStateHeader,
} from "../../../src/http/tracing/trace-context.ts";
import type { Answered } from "../requests/request-log.ts";
import { randomId } from "./ids.ts";

/** The part of the application's `@opentelemetry/api` that is used. */
export type OpenTelemetry = Pick<
  typeof import("@opentelemetry/api"),
  "trace" | "context" | "createTraceState" | "ROOT_CONTEXT" | "SpanKind" | "SpanStatusCode"
>;

export interface TracingParts {
  /** The share of traces, of those that begin here or come from outside, whose spans are recorded. */
  readonly sample: number;
  /** Records spans, if the application has it. */
  readonly api?: OpenTelemetry | undefined;
  readonly role: string;
  readonly node: string | undefined;
  readonly random?: () => number;
}

export class Tracing {
  readonly #parts: TracingParts;
  readonly #tracer: Tracer | undefined;
  #role: MeasuredRole | undefined;

  constructor(parts: TracingParts) {
    this.#parts = parts;
    this.#tracer = parts.api?.trace.getTracer("seamline");
  }

  attach(role: MeasuredRole): void {
    this.#role = role;
  }

  /**
   * Gives a request its place in a trace: from now on its headers name this service as parent of
   * whatever the request causes.
   */
  begin(request: HttpRequest): RequestTrace {
    const fields = request.headers as Record<string, HttpRequest["headers"][string]>;
    const parent = readTracePoint(fields);
    const state = parent && readTraceState(fields);
    const { random = Math.random, sample, api } = this.#parts;
    // Services of the deployment have decided already. Other senders could cause everything to be recorded.
    const sampled =
      parent !== undefined && this.#role?.believes(request) === true
        ? parent.sampled
        : random() < sample;
    const name = sampled && api !== undefined ? this.#role?.nameOf(request) : undefined;
    const own: TracePoint = {
      traceId: parent?.traceId ?? randomId(16),
      spanId: randomId(8),
      sampled,
    };
    const trace =
      api === undefined || this.#tracer === undefined
        ? new RequestTrace(own)
        : this.#recorded(api, this.#tracer, { parent, own, state, name, request });
    fields[traceHeader] = traceField(trace.point);
    if (state === undefined) delete fields[traceStateHeader];
    return trace;
  }

  #recorded(
    api: OpenTelemetry,
    tracer: Tracer,
    { parent, own, state, name, request }: Beginning,
  ): RequestTrace {
    if (!own.sampled || name === undefined) {
      // The application's own spans belong to a trace that isn't recorded.
      const around = api.trace.setSpanContext(api.ROOT_CONTEXT, spanContextOf(api, own, state));
      if (!own.sampled) return new RequestTrace(own, { api, tracer, around });
      // A proxy has no spans for unknown names: spans of the services behind it become children of the caller's.
      return new RequestTrace({ ...own, spanId: parent?.spanId ?? own.spanId });
    }
    // With instrumented sockets, the request has a span already. Frames of a link don't.
    const outer = request.from === undefined ? api.context.active() : api.ROOT_CONTEXT;
    const before =
      parent === undefined
        ? outer
        : api.trace.setSpanContext(api.ROOT_CONTEXT, {
            ...spanContextOf(api, { ...parent, sampled: true }, state),
            isRemote: true,
          });
    const { role, node } = this.#parts;
    const attributes: Attributes = {
      "rpc.system": "seamline",
      "rpc.method": name,
      "seamline.role": role,
      ...(node !== undefined && { "seamline.node": node }),
    };
    const span = tracer.startSpan(name, { kind: api.SpanKind.SERVER, attributes }, before);
    const { traceId, spanId, traceFlags } = span.spanContext();
    // Without an SDK, the API returns the parent, or zeros.
    const isOwn = spanId !== parent?.spanId && /[^0]/.test(spanId);
    const point = isOwn ? { traceId, spanId, sampled: (traceFlags & 1) === 1 } : own;
    if (!span.isRecording()) return new RequestTrace(point);
    const around = api.trace.setSpan(before, span);
    return new RequestTrace(point, { api, tracer, around }, span);
  }
}

interface Beginning {
  readonly parent: TracePoint | undefined;
  readonly own: TracePoint;
  readonly state: string | undefined;
  readonly name: string | undefined;
  readonly request: HttpRequest;
}

interface Recording {
  readonly api: OpenTelemetry;
  readonly tracer: Tracer;
  /** The context in which the request is answered. */
  readonly around: Surroundings;
}

/** The place of one request in its trace. */
export class RequestTrace {
  readonly point: TracePoint;
  readonly #recording: Recording | undefined;
  readonly #span: Span | undefined;

  constructor(point: TracePoint, recording?: Recording, span?: Span) {
    this.point = point;
    this.#recording = recording;
    this.#span = span;
  }

  /** Runs the request's handler, so that the application's spans become children of the request's. */
  run<T>(act: () => T): T {
    const { api, around } = this.#recording ?? {};
    return api === undefined || around === undefined ? act() : api.context.with(around, act);
  }

  /** Notes outbound calls of the request; `undefined` if nothing is recorded. */
  get sends(): ((name: string) => SentNotes) | undefined {
    const span = this.#span;
    const recording = this.#recording;
    if (span === undefined || recording === undefined) return undefined;
    return (name) => sentNotes(recording, this.point, name);
  }

  ended({ notes, response }: Answered): void {
    const span = this.#span;
    const api = this.#recording?.api;
    if (span === undefined || api === undefined) return;
    span.setAttribute("http.response.status_code", response.status);
    if (notes.failure !== undefined) record(api, span, notes.failure.thrown);
    else if (response.status >= 500) span.setStatus({ code: api.SpanStatusCode.ERROR });
    span.end();
  }
}

/** A span for a call to another service. Its parent is the application's current span. */
function sentNotes({ api, tracer, around }: Recording, point: TracePoint, name: string): SentNotes {
  const active = api.context.active();
  const isOwn = api.trace.getSpanContext(active)?.traceId === point.traceId;
  const span = tracer.startSpan(
    name,
    { kind: api.SpanKind.CLIENT, attributes: { "rpc.system": "seamline", "rpc.method": name } },
    isOwn ? active : around,
  );
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const state = traceState?.serialize() ?? "";
  return {
    headers: {
      [traceHeader]: traceField({ traceId, spanId, sampled: (traceFlags & 1) === 1 }),
      ...(state !== "" && { [traceStateHeader]: state }),
    },
    answered(status) {
      span.setAttribute("http.response.status_code", status);
      if (status >= 500) span.setStatus({ code: api.SpanStatusCode.ERROR });
      span.end();
    },
    failed(thrown) {
      record(api, span, thrown);
      span.end();
    },
  };
}

/** Records an error. An error that blames the caller, such as a wrong argument, isn't a fault of the service. */
function record(api: OpenTelemetry, span: Span, thrown: unknown): void {
  const error =
    thrown instanceof Error ? thrown : new Error("A value that isn't an error was thrown");
  try {
    span.recordException(error);
    if (statusOf(error) < 500) return;
    span.setStatus({ code: api.SpanStatusCode.ERROR, message: error.message });
  } catch {
    // The error's getters throw: the answer mustn't fail for that.
    span.setStatus({ code: api.SpanStatusCode.ERROR });
  }
}

function spanContextOf(
  api: OpenTelemetry,
  { traceId, spanId, sampled }: TracePoint,
  state: string | undefined,
) {
  return {
    traceId,
    spanId,
    traceFlags: sampled ? 1 : 0,
    ...(state !== undefined && { traceState: api.createTraceState(state) }),
  };
}
