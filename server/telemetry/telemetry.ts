// Notes each request of a service, for its log, its metrics and its traces.

import { randomBytes } from "node:crypto";

import type { Clock, HttpRequest, HttpResponse, Log, Telemetry } from "../../src/base/ports.ts";
import type { MeasuredRole, RequestNotes } from "../../src/base/ports/telemetry.ts";
import {
  callsPath,
  gatewaysPath,
  knownNamePath,
  paths,
  routesPath,
  typesPath,
} from "../../src/base/protocol.ts";
import { isHealth } from "../../src/http/health.ts";
import { requestIdHeader, requestIdOf } from "../../src/http/tracing/request-ids.ts";
import { answerMetrics, asksForMetrics } from "./metrics/metrics-endpoint.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { type Answered, logRequest } from "./requests/request-log.ts";
import type { Tracing } from "./traces/tracing.ts";

export interface TelemetryOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Logs each request. */
  readonly accessLog: boolean;
  readonly metrics?: Metrics | undefined;
  readonly tracing?: Tracing | undefined;
  /** The token for reading the metrics at /metrics. Without it, that path is the application's. */
  readonly metricsToken?: string | undefined;
}

export function createTelemetry(options: TelemetryOptions): Telemetry {
  return new RequestTelemetry(options);
}

class RequestTelemetry implements Telemetry {
  readonly #options: TelemetryOptions;

  constructor(options: TelemetryOptions) {
    this.#options = options;
  }

  attach(role: MeasuredRole): void {
    this.#options.metrics?.attach(role);
    this.#options.tracing?.attach(role);
  }

  async request<Answer extends HttpResponse | undefined>(
    request: HttpRequest,
    answer: (request: HttpRequest) => Promise<Answer>,
  ): Promise<Answer> {
    const { clock, log, accessLog, metrics, metricsToken, tracing } = this.#options;
    if (isHealth(request.target)) return await answer(request);
    if (metrics !== undefined && metricsToken !== undefined && asksForMetrics(request))
      return answerMetrics(request, metrics, metricsToken) as Answer;
    const started = clock.now();
    const notes = new Notes();
    request.notes = notes;
    if (accessLog) identify(request);
    const trace = tracing?.begin(request);
    if (trace !== undefined) notes.sends = trace.sends;
    const response = await (trace === undefined
      ? answer(request)
      : trace.run(() => answer(request)));
    if (response === undefined) return response;
    const answered = { request, notes, response, ms: clock.now() - started };
    metrics?.add(answered);
    trace?.ended(answered);
    if (accessLog && !isUpkeep(answered)) logRequest(log, answered);
    return response;
  }
}

/** Paths that only answer services, and people with the trust key. */
const ofServices = [
  paths.nodes,
  paths.modules,
  routesPath,
  knownNamePath,
  gatewaysPath,
  callsPath,
  typesPath,
];

/** Services check, join and ask each other all the time, which would flood the log. */
function isUpkeep({ request: { target }, response: { status } }: Answered): boolean {
  return status < 400 && ofServices.some((path) => target.startsWith(path));
}

class Notes implements RequestNotes {
  route: RequestNotes["route"] = undefined;
  failure: RequestNotes["failure"] = undefined;
  sends: RequestNotes["sends"] = undefined;
}

/** Gives a request an id, unless it has one. The services behind this one get it too. */
function identify({ headers }: HttpRequest): void {
  if (requestIdOf(headers) !== undefined) return;
  (headers as Record<string, HttpRequest["headers"][string]>)[requestIdHeader] =
    randomBytes(8).toString("hex");
}
