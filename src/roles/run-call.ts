// Runs an incoming call on this node, in node and standalone alike.

import type { Call, Invoke } from "../base/call.ts";
import type { LocalNode } from "../runtime/dispatch.ts";
import { DeadlineExceeded, memoryExhausted, Unauthorized } from "../base/errors.ts";
import { compose } from "../http/middleware.ts";
import type { Clock, Host, HttpResponse, MemoryBudget } from "../base/ports.ts";
import { headers } from "../base/protocol.ts";
import { contextOfCall } from "../runtime/call-context.ts";
import type { Registration } from "../runtime/registry.ts";
import type { Classes } from "../codec/classes.ts";
import type { Limits } from "../base/limits.ts";
import {
  decodeReceived,
  prepareDecoding,
  receiveBody,
  type ReceivedRequest,
  receivedRequest,
} from "../wire/decode-call.ts";
import { LargeAnswers } from "../wire/large-answers.ts";
import { encodeResultOf } from "../wire/encode-result.ts";
import { callOf, type Exchange, refuseCrossSite } from "../wire/exchange.ts";
import { withHeaders } from "../http/answers.ts";
import type { MiddlewareChain } from "./middleware-chain.ts";
import type { Answering } from "./receive.ts";
import type { Refuse } from "./refuse.ts";

export interface CallRunnerParts {
  readonly host: Host;
  readonly node: LocalNode;
  readonly chain: MiddlewareChain;
  readonly classes: Classes;
  readonly limits: Limits;
  readonly refuse: Refuse;
  /** Sent to callers as `x-svc-node`, if configured. */
  readonly name: string | undefined;
}

export function createCallRunner(parts: CallRunnerParts): Answering {
  const { node, chain, classes, limits, host, refuse } = parts;
  const invokes = new WeakMap<Registration, { size: number; invoke: Invoke }>();
  const largeAnswers = new LargeAnswers(host);
  const room: AnswerRoom = { memory: host.memory, largeAnswers };
  const nodeHeader = parts.name === undefined ? undefined : { [headers.node]: parts.name };

  /** Composed once for each procedure, and again when the chain has grown. */
  const invokeFor = (registration: Registration): Invoke => {
    const current = invokes.get(registration);
    const size = chain.around.length;
    if (current?.size === size) return current.invoke;
    const composed = compose(chain.around, (call) => node.invoke(registration, call), host.log);
    const invoke: Invoke =
      size === 0
        ? composed
        : (call) => host.carrier.run(contextOfCall(call, host.clock), () => composed(call));
    invokes.set(registration, { size, invoke });
    return invoke;
  };

  return async (exchange) => {
    const registration = node.registry.findForOutside(
      exchange.fqn,
      exchange.version.toString(),
      exchange.trust.trusted,
    );
    if (registration.access === "protected" && !exchange.trust.trusted) throw new Unauthorized();
    if (!registration.safe) refuseCrossSite(exchange);
    let answer: HttpResponse;
    let call: Call | undefined;
    try {
      const { request, query, encoding } = exchange;
      const { trusted } = exchange.trust;
      const { record } = registration;
      const options = { classes, limits, trusted, encoding };
      const body = receiveBody(request, limits);
      let whole: ReceivedRequest;
      if (body instanceof Uint8Array) whole = receivedRequest(request, body);
      else {
        exchange.awaitBody();
        whole = receivedRequest(request, await body);
        exchange.enter();
      }
      const turn = exchange.turn();
      if (turn !== undefined) await turn;
      const loading = prepareDecoding(whole, options);
      const args = decodeReceived(whole, query, record, options, loading && (await loading));
      const invoke = invokeFor(registration);
      const running = (call = callOf(exchange, args));
      const value = await (registration.timeoutMs === undefined
        ? invoke(running)
        : inTime(host.clock, exchange, registration.timeoutMs, () => invoke(running)));
      const later = largeAnswers.turn(exchange.fqn);
      if (later !== undefined) {
        await later;
        exchange.signal.throwIfAborted();
      }
      const encoded = encodeFitting(exchange, value, { classes, by: call }, room);
      answer = encoded instanceof Promise ? await encoded : encoded;
    } catch (thrown) {
      answer = await refuse(thrown, exchange, call);
    }
    answer = withHeaders(answer, nodeHeader);
    return chain.around.length === 0
      ? answer
      : withHeaders(answer, exchange.headers.over(answer.headers));
  };
}

/** As much is little, beside what else a call takes. */
const littleBytes = 65_536;

/**
 * The answer for a result. Throws if there is no room for it while it waits for its caller. A function of its
 * own: many calls may get the same result at once, and those that are refused must not keep their text.
 */
function encodeFitting(
  exchange: Exchange,
  value: unknown,
  options: Parameters<typeof encodeResultOf>[2],
  room: AnswerRoom,
): HttpResponse | Promise<HttpResponse> {
  const encoded = encodeResultOf(exchange, value, options);
  return encoded instanceof Promise
    ? encoded.then((answer) => fitting(answer, exchange, room))
    : fitting(encoded, exchange, room);
}

/** What bounds the answers that this service makes. */
interface AnswerRoom {
  readonly memory: MemoryBudget;
  readonly largeAnswers: LargeAnswers;
}

/** What sends the answer looks at its bytes once more: a character of a text may be more than one. */
function fitting(
  answer: HttpResponse,
  { fqn }: Exchange,
  { memory, largeAnswers }: AnswerRoom,
): HttpResponse {
  const { body } = answer;
  const isWhole = typeof body === "string" || body instanceof Uint8Array;
  if (isWhole) largeAnswers.made(fqn, body.length);
  if (isWhole && body.length > littleBytes && !memory.fitsAnswer(body.length))
    throw memoryExhausted();
  return answer;
}

/** Runs a procedure that has a time limit of its own. */
async function inTime(
  clock: Clock,
  exchange: Exchange,
  timeoutMs: number,
  run: () => Promise<unknown>,
): Promise<unknown> {
  exchange.endBy(clock.now() + timeoutMs);
  let cancel = (): void => {};
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(timeoutMs, () => {
      const reason = new DeadlineExceeded(
        `'${exchange.fqn}' did not answer within its ${timeoutMs} ms`,
      );
      exchange.expire(reason);
      reject(reason);
    });
  });
  return await Promise.race([run(), late]).finally(() => cancel());
}
