// Runs calls of procedures and requests for routes, in node and standalone alike.

import type { Args, Invoke } from "../../base/call.ts";
import { DeadlineExceeded, Unauthorized } from "../../base/errors.ts";
import type { Clock } from "../../base/ports.ts";
import { headers } from "../../base/protocol.ts";
import { type Exchange, refuseCrossSite } from "../../wire/exchange.ts";
import { LargeAnswers } from "../../wire/large-answers.ts";
import { LazyArguments } from "../pipeline/lazy-arguments.ts";
import type { Answering } from "../pipeline/receive.ts";
import type { Refuse } from "../pipeline/refuse.ts";
import type { Run, RunParts } from "./run.ts";
import { ProcedureRun } from "./procedure-run.ts";
import { RouteRun } from "./route-run.ts";
import { pass } from "./pass.ts";
import { StreamRun } from "./stream-run.ts";

/** Answers exchanges by running them. Throws if this node doesn't have the procedure or route. */
export function createRunner(parts: RunParts): Answering {
  const { host, chain } = parts;
  const largeAnswers = new LargeAnswers(host);
  const runOf = (exchange: Exchange, refuse: Refuse): Run => {
    if (exchange.route !== undefined) return new RouteRun(parts, exchange);
    const { fqn, version, trust } = exchange;
    // Throws if this node doesn't have the procedure, or if its caller mustn't know of it.
    const procedure = parts.node.registry.findForOutside(fqn, version.toString(), trust.trusted);
    return procedure.record.stream === true
      ? new StreamRun(parts, exchange, procedure, largeAnswers, refuse)
      : new ProcedureRun(parts, exchange, procedure, largeAnswers);
  };
  const nodeHeader = parts.name === undefined ? undefined : { [headers.node]: parts.name };
  return async (exchange, refuse) => {
    const run = runOf(exchange, refuse);
    if (run.access === "protected" && !exchange.trust.trusted) throw new Unauthorized();
    if (!run.crossSite) refuseCrossSite(exchange);
    const early = run.early?.();
    if (early !== undefined) return early;
    if (nodeHeader !== undefined) exchange.keep(nodeHeader);
    // A call that a procedure makes has been let in where its caller was.
    const guard = exchange.trust.inner ? undefined : run.guard;
    if (!chain.isEmpty) return run.encode(await throughMiddleware(parts, exchange, run, guard));
    let left = run.timeoutMs;
    if (guard !== undefined) {
      // Before the body: a refused caller needn't send it.
      const turn = exchange.turn();
      if (turn !== undefined) await turn;
      const began = host.clock.now();
      const { route } = exchange;
      await inTime(host.clock, exchange, left, () => pass(parts, guard, exchange, route?.params));
      if (left !== undefined) left -= host.clock.now() - began;
    }
    const receiving = run.receive();
    if (receiving !== undefined) await receiving;
    const turn = exchange.turn();
    if (turn !== undefined) await turn;
    const loading = run.load();
    if (loading !== undefined) await loading;
    const args = run.decode();
    const value = await (left === undefined
      ? run.invoke(exchange, args)
      : inTime(host.clock, exchange, left, () => run.invoke(exchange, args)));
    return run.encode(value);
  };
}

/**
 * Runs an exchange through the middleware. It gets arguments that are decoded at their first use, and a Map
 * can't wait, so the body has to be here.
 */
async function throughMiddleware(
  parts: RunParts,
  exchange: Exchange,
  run: Run,
  guard: string | undefined,
): Promise<unknown> {
  const receiving = run.receive();
  if (receiving !== undefined) await receiving;
  const turn = exchange.turn();
  if (turn !== undefined) await turn;
  const args = new LazyArguments(await decoderOf(run));
  const invoke: Invoke = async (call, given) => {
    if (guard !== undefined) await pass(parts, guard, call, exchange.route?.params);
    return await run.invoke(call, given);
  };
  try {
    return await inTime(parts.host.clock, exchange, run.timeoutMs, () =>
      parts.chain.run(exchange, args, { invoke }),
    );
  } catch (thrown) {
    run.drop?.(thrown);
    throw thrown;
  }
}

/** Returns the decoder of the arguments. It throws their faults at their first use. */
async function decoderOf(run: Run): Promise<() => Args> {
  try {
    await run.load();
  } catch (error) {
    return () => {
      throw error;
    };
  }
  return () => run.decode();
}

/** Runs what may have a time limit of its own. */
async function inTime(
  clock: Clock,
  exchange: Exchange,
  timeoutMs: number | undefined,
  run: () => Promise<unknown>,
): Promise<unknown> {
  if (timeoutMs === undefined) return await run();
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
