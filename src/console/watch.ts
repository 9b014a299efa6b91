// The calls that pass while somebody looks: each one's facts, and figures over them. Made when the first one looks, dropped after the last.

import type { Clock, HeaderFields, HttpRequest, HttpResponse } from "../ports.ts";
import type { ObservedCall } from "../placement.ts";
import { headers, rpcPath, versionParameter } from "../protocol.ts";
import { pathOf, queryOf } from "../router.ts";
import { mostLines, traceOf } from "../trace.ts";
import type { Trust } from "../trust.ts";
import { parseVersion } from "../version.ts";
import { failureIn } from "./failure.ts";
import type { Caller, Figures, Flow, ProcedureRate, SeenCall } from "./state.ts";
import { Seconds, Window, type WindowFigures } from "./window.ts";

/** What a role asks when it is there: while nobody looks it isn't, and that is all that a call pays. */
export interface CallObserver {
  /** Answers a call by `rpc`, and notes what came of it. */
  call(
    request: HttpRequest,
    rpc: (request: HttpRequest) => Promise<HttpResponse>,
    from?: Caller,
  ): Promise<HttpResponse>;
  /** The request is sent to this member. */
  sent(request: HttpRequest, member: string): void;
}

/** So many of the last calls are kept; a reader who is further behind misses some. */
const kept = 512;
/** So many are in one message. */
const told = 100;
/** Names of procedures that are counted: strangers may make names up. */
const mostNames = 5_000;
const mostBrowsers = 1_000;
const minute = 60_000;
/** How often figures of procedures are made anew, in ms. */
const refreshTime = 1_000;

interface Counted {
  readonly window: Window;
  rate: ProcedureRate;
  /** Of the last change. */
  revision: number;
  last: number;
}

export class Watch implements CallObserver {
  readonly since: number;
  readonly #clock: Clock;
  readonly #trust: (fields: HeaderFields) => Trust;
  readonly #ring: SeenCall[] = [];
  readonly #all = new Window();
  readonly #seconds: Seconds;
  readonly #procedures = new Map<string, Counted>();
  readonly #browsers = new Map<string, { site: string; at: number }>();
  #number = 0;
  #failures = 0;
  #open = 0;
  #revision = 0;
  #refreshed = -Infinity;

  constructor(clock: Clock, trust: (fields: HeaderFields) => Trust) {
    this.#clock = clock;
    this.#trust = trust;
    this.since = clock.now();
    this.#seconds = new Seconds(this.since);
  }

  /** Number of the last call. */
  get number(): number {
    return this.#number;
  }

  async call(
    request: HttpRequest,
    rpc: (request: HttpRequest) => Promise<HttpResponse>,
    from?: Caller,
  ): Promise<HttpResponse> {
    // A preflight is no call.
    if (request.method !== "GET" && request.method !== "POST") return await rpc(request);
    const watched = new WatchedRequest(request);
    const started = this.#clock.now();
    this.#open++;
    try {
      const answer = await rpc(watched);
      this.#answered(watched, answer, started, from);
      return answer;
    } finally {
      this.#open--;
    }
  }

  sent(request: HttpRequest, member: string): void {
    if (request instanceof WatchedRequest) request.to = member;
  }

  /** A call through a seam of this process. */
  local({ fqn, version, ms, error }: ObservedCall, to: string): void {
    const failure =
      error === undefined
        ? {}
        : {
            error: error instanceof Error ? error.name : "Error",
            trace: traceOf(error).slice(0, mostLines),
          };
    this.#note({ fqn, version, from: "here", to, ms, hops: 0, ...failure }, error !== undefined);
  }

  figures(): Figures {
    const now = this.#clock.now();
    const { calls, p50, p95 } = this.#all.read(now);
    for (const [key, { at }] of this.#browsers) if (at < now - minute) this.#browsers.delete(key);
    return {
      now: Math.round(now),
      since: Math.round(this.since),
      calls: this.#number,
      failures: this.#failures,
      open: this.#open,
      seconds: this.#seconds.read(now),
      ...(calls === 0 ? {} : { p50, p95 }),
      browsers: this.#browsers.size,
      sites: [...new Set([...this.#browsers.values()].map(({ site }) => site))].slice(0, 8),
    };
  }

  /** The last calls after `number`, oldest first, and what flowed since; of those that nobody kept, nothing is known any more. */
  after(number: number): { calls: readonly SeenCall[]; flows: readonly Flow[] } {
    const flows = new Map<string, { from: Caller; to?: string; calls: number; failures: number }>();
    const calls: SeenCall[] = [];
    for (let at = Math.max(number, this.#number - kept) + 1; at <= this.#number; at++) {
      const call = this.#ring[at % kept]!;
      if (at > this.#number - told) calls.push(call);
      const key = `${call.from} ${call.to}`;
      const flow = flows.get(key) ?? {
        from: call.from,
        ...(call.to === undefined ? {} : { to: call.to }),
        calls: 0,
        failures: 0,
      };
      flows.set(key, flow);
      flow.calls++;
      if (failed(call)) flow.failures++;
    }
    return { calls, flows: [...flows.values()] };
  }

  /** Procedures whose figures changed after `revision`. */
  rates(revision: number): { rates: readonly ProcedureRate[]; revision: number } {
    this.#refresh();
    const rates = [...this.#procedures.values()]
      .filter((one) => one.revision > revision)
      .map((one) => one.rate);
    return { rates, revision: this.#revision };
  }

  #refresh(): void {
    const now = this.#clock.now();
    if (now - this.#refreshed < refreshTime) return;
    this.#refreshed = now;
    const revision = this.#revision + 1;
    const seconds = Window.seconds(now, this.since);
    for (const [key, one] of this.#procedures) {
      // That it left the window was told a minute ago: those who didn't hear it by now are gone.
      if (now - one.last > 3 * minute) this.#procedures.delete(key);
      const rate = rateOf(one.rate, one.window.read(now), seconds);
      if (same(rate, one.rate)) continue;
      one.rate = rate;
      one.revision = this.#revision = revision;
    }
  }

  #answered(
    request: WatchedRequest,
    answer: HttpResponse,
    started: number,
    from: Caller | undefined,
  ): void {
    const { target, method } = request;
    const name = answer.headers[headers.node];
    const call = {
      fqn: nameIn(target),
      version: versionIn(target),
      from: from ?? this.#callerOf(request.headers),
      ...(request.to === undefined ? {} : { to: request.to }),
      ...(typeof name === "string" ? { node: name } : {}),
      method,
      arguments: method === "GET" ? queryOf(target).length : request.size,
      result: sizeOf(answer.body),
      status: answer.status,
      ...(answer.status >= 400 ? failureIn(answer) : {}),
      ms: this.#clock.now() - started,
      hops: Number(request.headers[headers.hops] ?? 0) || 0,
    };
    this.#note(call, answer.status >= 400);
  }

  #callerOf(fields: HeaderFields): Caller {
    if (this.#trust(fields).trusted) return "member";
    const agent = String(fields["user-agent"] ?? "").slice(0, 200);
    // All browsers begin like this, for reasons of the nineties, and nothing else does. Who pretends is only shown in the wrong box.
    if (!agent.startsWith("Mozilla/")) return "outside";
    const origin = String(fields["origin"] ?? "");
    // A GET of a page of the same origin doesn't say which one that is.
    const site = (
      URL.canParse(origin)
        ? new URL(origin).host
        : String(fields["x-forwarded-host"] ?? fields["host"] ?? "")
    ).slice(0, 200);
    const key = `${site} ${agent}`;
    if (this.#browsers.has(key) || this.#browsers.size < mostBrowsers)
      this.#browsers.set(key, { site, at: this.#clock.now() });
    return "browser";
  }

  #note(facts: Omit<SeenCall, "number" | "at">, isFailure: boolean): void {
    const now = this.#clock.now();
    const call: SeenCall = {
      ...facts,
      number: ++this.#number,
      at: Math.round(now),
      ms: Math.round(facts.ms * 100) / 100,
    };
    this.#ring[call.number % kept] = call;
    if (isFailure) this.#failures++;
    this.#all.add(now, call.ms, isFailure);
    this.#seconds.add(now, isFailure);
    const key = `${call.fqn} ${call.version}`;
    let one = this.#procedures.get(key);
    if (one === undefined) {
      if (this.#procedures.size >= mostNames) return;
      const rate = {
        fqn: call.fqn,
        version: call.version,
        calls: 0,
        failures: 0,
        perSecond: 0,
        p50: 0,
        p95: 0,
      };
      this.#procedures.set(key, (one = { window: new Window(), rate, revision: 0, last: now }));
    }
    one.last = now;
    one.window.add(now, call.ms, isFailure);
  }
}

/** Counts the body, and has a place for where the request went. */
class WatchedRequest implements HttpRequest {
  readonly #of: HttpRequest;
  size = 0;
  to: string | undefined;

  constructor(of: HttpRequest) {
    this.#of = of;
  }

  get method(): string {
    return this.#of.method;
  }

  get target(): string {
    return this.#of.target;
  }

  get scheme(): "http" | "https" {
    return this.#of.scheme;
  }

  get headers(): HeaderFields {
    return this.#of.headers;
  }

  get signal(): AbortSignal {
    return this.#of.signal;
  }

  get isReceiving(): boolean {
    return this.#of.isReceiving === true;
  }

  async readBody(limit: number): Promise<Uint8Array> {
    const body = await this.#of.readBody(limit);
    this.size = body.length;
    return body;
  }
}

function failed({ status, error }: SeenCall): boolean {
  return status === undefined ? error !== undefined : status >= 400;
}

function rateOf(
  { fqn, version }: ProcedureRate,
  figures: WindowFigures,
  seconds: number,
): ProcedureRate {
  return { fqn, version, ...figures, perSecond: Math.round((figures.calls / seconds) * 100) / 100 };
}

function same(one: ProcedureRate, other: ProcedureRate): boolean {
  return (
    one.calls === other.calls &&
    one.failures === other.failures &&
    one.perSecond === other.perSecond &&
    one.p50 === other.p50 &&
    one.p95 === other.p95
  );
}

function nameIn(target: string): string {
  const text = pathOf(target).slice(rpcPath.length);
  try {
    return decodeURIComponent(text).slice(0, 200);
  } catch {
    return text.slice(0, 200);
  }
}

function versionIn(target: string): string {
  const asked = new URLSearchParams(queryOf(target)).get(versionParameter) ?? "";
  try {
    return parseVersion(asked).toString();
  } catch {
    return asked.slice(0, 20);
  }
}

function sizeOf(body: HttpResponse["body"]): number {
  if (body === undefined) return 0;
  if (typeof body === "string") return new TextEncoder().encode(body).length;
  return body instanceof Uint8Array ? body.byteLength : 0;
}
