// Open-loop load: calls leave at times that are fixed before the first one, however slow the answers
// are, and latency counts from the time at which a call was to leave. A loop that waits for answers
// would stop calling while a service hangs, and hide what callers see.

import { Agent, request } from "node:http";

import type { Kind } from "./application.ts";
import type { Random } from "./random.ts";

export interface Plan {
  /** Calls a second. */
  readonly rate: number;
  readonly durationMs: number;
  /** How long a procedure takes, if that isn't as usual. */
  readonly callMs?: number | ((random: Random) => number) | undefined;
  /** In turn. */
  readonly kinds: readonly Kind[];
  /** Milliseconds that each call has. */
  readonly deadlineMs: number;
}

export interface Outcome {
  readonly id: string;
  readonly kind: Kind;
  /** When it was to leave, in ms since the load began. */
  readonly at: number;
  /** When it ended. */
  readonly ended: number;
  /** Undefined: the connection broke, or no answer came. */
  readonly status: number | undefined;
  /** `x-svc-error`, or the code of the connection's error; `hung` without an answer. */
  readonly error: string | undefined;
  /** Seconds after which the answer asks to try again. */
  readonly retryAfter: string | undefined;
  /** Name and process of the node that answered. */
  readonly node: string | undefined;
  readonly pid: number | undefined;
}

/** A call in its form on the wire. */
export interface Call {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Load {
  /** Milliseconds since the load began. */
  now(): number;
  /** The same, by the system's clock. */
  readonly epoch: number;
  /** Resolves at that time. */
  at(ms: number): Promise<void>;
  /** Makes no further calls. */
  stop(): void;
  /** Resolves with what came of all calls. */
  readonly outcomes: Promise<readonly Outcome[]>;
  /** Those that have ended by now. */
  readonly ended: readonly Outcome[];
}

/** A call without an answer this long after its deadline hangs. */
export const hangMs = 4_000;

let loads = 0;

/** `url` may be another one for each call. */
export function startLoad(
  url: string | (() => string),
  plan: Plan,
  random: Random,
  callOf: (kind: Kind, id: string, ms?: number) => Call,
): Load {
  const total = Math.round((plan.rate * plan.durationMs) / 1_000);
  const times = Array.from(
    { length: total },
    (_, index) => ((index + random.next()) * 1_000) / plan.rate,
  );
  const { callMs } = plan;
  const lengths = times.map(() => (typeof callMs === "function" ? callMs(random) : callMs));
  const prefix = `${process.pid}-${loads++}`;
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets: 1_024 });
  const begun = performance.now();
  const now = (): number => performance.now() - begun;
  const ended: Outcome[] = [];

  const send = async (index: number, at: number): Promise<Outcome> => {
    const id = `${prefix}-${index}`;
    const kind = plan.kinds[index % plan.kinds.length]!;
    const call = callOf(kind, id, lengths[index]);
    const base = typeof url === "string" ? url : url();
    const answer = await exchange(base, agent, call, plan.deadlineMs + hangMs);
    const outcome = { id, kind, at, ended: now(), ...answer };
    ended.push(outcome);
    return outcome;
  };

  const stopping = new AbortController();
  const outcomes = (async () => {
    const calls: Promise<Outcome>[] = [];
    while (calls.length < total && !stopping.signal.aborted) {
      const due = times[calls.length]!;
      const wait = due - now();
      if (wait > 0) await pause(wait);
      else calls.push(send(calls.length, due));
    }
    const all = await Promise.all(calls);
    agent.destroy();
    return all;
  })();
  return {
    now,
    epoch: performance.timeOrigin + begun,
    at: (ms) => pause(ms - now()),
    stop: () => stopping.abort(),
    outcomes,
    ended,
  };
}

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));

type Answer = Pick<Outcome, "status" | "error" | "retryAfter" | "node" | "pid">;

const none: Answer = {
  status: undefined,
  error: undefined,
  retryAfter: undefined,
  node: undefined,
  pid: undefined,
};

/** Makes one call. Never rejects. */
export function exchange(url: string, agent: Agent, call: Call, limitMs: number): Promise<Answer> {
  return new Promise((resolve) => {
    const sent = request(url + call.path, { agent, method: call.method, headers: call.headers });
    const late = setTimeout(() => {
      resolve({ ...none, error: "hung" });
      sent.destroy();
    }, limitMs);
    const end = (answer: Answer): void => {
      clearTimeout(late);
      resolve(answer);
    };
    const broken = ({ code = "error" }: NodeJS.ErrnoException): void =>
      end({ ...none, error: code });
    sent.on("error", broken);
    sent.on("response", (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      answer.on("error", broken);
      answer.on("end", () => {
        const { "x-svc-error": error, "retry-after": retryAfter } = answer.headers;
        const [node, pid] = answer.statusCode === 200 ? text.split(" ") : [];
        end({
          status: answer.statusCode,
          error: typeof error === "string" ? error : undefined,
          retryAfter,
          node,
          pid: pid === undefined ? undefined : Number(pid),
        });
      });
    });
    sent.end(call.body);
  });
}
