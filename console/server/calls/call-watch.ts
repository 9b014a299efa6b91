// Watches the calls of a role: records their outcomes and counts them. It exists only while the
// console has viewers.

import type { Caller, Figures, Flow, ProcedureRate, SeenCall } from "../../console-state.ts";
import type { ObservedCall } from "../../../src/types/outgoing-call.ts";
import type { Clock, HttpRequest, HttpResponse } from "../../../src/base/ports.ts";
import { callMethods, headers, rpcPath, versionParameter } from "../../../src/base/protocol.ts";
import {
  type CallObserver,
  hiddenError,
  type RpcHandler,
} from "../../../src/roles/pipeline/observer.ts";
import { readRelayHeaders } from "../../../src/http/relay-headers.ts";
import { pathOf, queryOf } from "../../../src/http/router.ts";
import { errorOf, mostLines, traceOf } from "../../../src/base/trace.ts";
import type { Credentials } from "../../../src/http/trust.ts";
import { parseVersion, versionIn, withoutVersion } from "../../../src/base/version.ts";
import { CallLog, hasFailed } from "./call-log.ts";
import { Callers } from "./callers.ts";
import { type Failure, failureIn, messageOf } from "./failure.ts";
import { ProcedureRates } from "./procedure-rates.ts";
import { RequestWrapper } from "./request-wrapper.ts";
import { Seconds, Window } from "./window.ts";

/** Callers choose names and versions, even of procedures that don't exist. */
const maxNameLength = 200;
const maxVersionLength = 20;

export class CallWatch implements CallObserver {
  readonly #clock: Clock;
  readonly #trust: Credentials["of"];
  readonly #masks: boolean;
  readonly #since: number;
  readonly #callers: Callers;
  readonly #log = new CallLog();
  readonly #rates: ProcedureRates;
  readonly #window = new Window();
  readonly #seconds: Seconds;
  #failures = 0;
  #open = 0;

  /** With `masks`, only messages that a caller outside was sent are kept. */
  constructor(clock: Clock, trust: Credentials["of"], masks: boolean) {
    this.#clock = clock;
    this.#trust = trust;
    this.#masks = masks;
    this.#since = clock.now();
    this.#callers = new Callers(trust);
    this.#rates = new ProcedureRates(this.#since);
    this.#seconds = new Seconds(this.#since);
  }

  /** Number of the last call. */
  get number(): number {
    return this.#log.last;
  }

  async call(request: HttpRequest, rpc: RpcHandler, from?: Caller): Promise<HttpResponse> {
    // A preflight isn't a call.
    if (!callMethods.includes(request.method)) return await rpc(request);
    const watched = new WatchedRequest(request);
    const startedAt = this.#clock.now();
    this.#open++;
    try {
      const answer = await rpc(watched);
      const now = this.#clock.now();
      const caller = from ?? this.#callers.identify(request, now);
      const facts = factsOf(watched, answer, this.#shows(request));
      this.#note(now, { ...facts, from: caller, ms: now - startedAt });
      return answer;
    } finally {
      this.#open--;
    }
  }

  sent(request: HttpRequest, member: string): void {
    if (request instanceof WatchedRequest) request.member = member;
  }

  /** A call through a seam of this process. */
  local({ fqn, version, ms, error }: ObservedCall, member: string): void {
    const failure = error === undefined ? {} : failureOf(error, !this.#masks);
    const facts = { fqn, version, from: "local", to: member, ms, hops: 0, ...failure } as const;
    this.#note(this.#clock.now(), facts);
  }

  figures(): Figures {
    const now = this.#clock.now();
    const { calls, p50, p95 } = this.#window.read(now);
    return {
      now: Math.round(now),
      since: Math.round(this.#since),
      calls: this.number,
      failures: this.#failures,
      open: this.#open,
      seconds: this.#seconds.read(now),
      ...(calls === 0 ? {} : { p50, p95 }),
      ...this.#callers.browsers(now),
    };
  }

  /** See {@link CallLog.after}. */
  after(number: number): { calls: readonly SeenCall[]; flows: readonly Flow[] } {
    return this.#log.after(number);
  }

  /** Procedures whose figures changed after `revision`. */
  rates(revision: number): { rates: readonly ProcedureRate[]; revision: number } {
    return this.#rates.after(revision, this.#clock.now());
  }

  /** Answers to trusted callers aren't masked, whatever the service is configured to do. */
  #shows(request: HttpRequest): boolean {
    return !this.#masks || !this.#trust(request).trusted;
  }

  #note(now: number, facts: Omit<SeenCall, "number" | "at">): void {
    const ms = Math.round(facts.ms * 100) / 100;
    const call = { ...facts, at: Math.round(now), ms };
    const failed = hasFailed(call);
    if (failed) this.#failures++;
    this.#log.add(call);
    this.#window.add(now, ms, failed);
    this.#seconds.add(now, failed);
    this.#rates.add(now, call, failed);
  }
}

/** Counts the bytes of the body, and remembers the member that got the request. */
class WatchedRequest extends RequestWrapper {
  bodyBytes = 0;
  member: string | undefined;

  override async readBody(limit: number): Promise<Uint8Array> {
    const body = await super.readBody(limit);
    this.bodyBytes = body.length;
    return body;
  }
}

function factsOf(
  request: WatchedRequest,
  answer: HttpResponse,
  showsMessage: boolean,
): Omit<SeenCall, "number" | "at" | "from" | "ms"> {
  const { target, method, member } = request;
  const name = nameIn(target);
  const node = answer.headers[headers.node];
  const hidden = hiddenError(request);
  return {
    fqn: withoutVersion(name).slice(0, maxNameLength),
    version: shownVersion(name, target),
    ...(member === undefined ? {} : { to: member }),
    ...(typeof node === "string" ? { node } : {}),
    method,
    arguments: method === "GET" ? queryOf(target).length : request.bodyBytes,
    result: bytesOf(answer),
    status: answer.status,
    ...(answer.status >= 400 && failureFacts(answer, hidden, showsMessage)),
    hops: readRelayHeaders(request.headers, { member: true }).hops,
  };
}

/**
 * The facts about the error in an answer; for an error that was masked here, also its name and trace. The message
 * is the answer's, never that of the hidden error.
 */
function failureFacts(answer: HttpResponse, hidden: unknown, showsMessage: boolean): Failure {
  const { message, ...seen } = failureIn(answer);
  const shown = showsMessage ? messageOf(message) : {};
  if (hidden === undefined) return { ...seen, ...shown };
  const { error = "Error", trace = [] } = failureOf(hidden, false);
  const id = /^Internal error( \(.*\))$/.exec(seen.error ?? "")?.[1];
  return { error: id === undefined ? (seen.error ?? error) : error + id, ...shown, trace };
}

function failureOf(thrown: unknown, showsMessage: boolean): Failure {
  try {
    const error = thrown instanceof Error ? thrown.name.slice(0, 100) : "Error";
    const trace = traceOf(thrown).slice(0, mostLines);
    return { error, ...(showsMessage && messageOf(errorOf(thrown).message)), trace };
  } catch {
    // A getter of the application threw.
    return { error: "Error", trace: [] };
  }
}

/** The name in the path, with the version that may follow it. */
function nameIn(target: string): string {
  const text = pathOf(target).slice(rpcPath.length);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function shownVersion(name: string, target: string): string {
  const query = new URLSearchParams(queryOf(target));
  const text = versionIn(name) ?? query.get(versionParameter) ?? "";
  try {
    return parseVersion(text).toString();
  } catch {
    return text.slice(0, maxVersionLength);
  }
}

function bytesOf({ body, headers: fields }: HttpResponse): number {
  if (body === undefined) return 0;
  if (typeof body === "string") return Buffer.byteLength(body);
  // A stream has a length if the service that sends it knew it.
  return body instanceof Uint8Array ? body.byteLength : Number(fields["content-length"] ?? 0);
}
