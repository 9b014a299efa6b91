// Runs what came in on this node, in node and standalone alike: a call of a procedure, or a request for a route.

import { DeadlineExceeded, Unauthorized } from "../../base/errors.ts";
import type { Clock } from "../../base/ports.ts";
import { headers } from "../../base/protocol.ts";
import { type Exchange, refuseCrossSite } from "../../wire/exchange.ts";
import { LargeAnswers } from "../../wire/large-answers.ts";
import type { Answering } from "../pipeline/receive.ts";
import type { Run, RunParts } from "./run.ts";
import { ProcedureRun } from "./procedure-run.ts";
import { RouteRun } from "./route-run.ts";

/** Answers exchanges by running them. Throws if this node doesn't have what they are for. */
export function createRunner(parts: RunParts): Answering {
  const { host, chain } = parts;
  const largeAnswers = new LargeAnswers(host);
  const nodeHeader = parts.name === undefined ? undefined : { [headers.node]: parts.name };
  return async (exchange) => {
    const run: Run =
      exchange.route === undefined
        ? new ProcedureRun(parts, exchange, largeAnswers)
        : new RouteRun(parts, exchange);
    if (run.access === "protected" && !exchange.trust.trusted) throw new Unauthorized();
    if (!run.crossSite) refuseCrossSite(exchange);
    if (nodeHeader !== undefined) exchange.keep(nodeHeader);
    const receiving = run.receive();
    if (receiving !== undefined) await receiving;
    const turn = exchange.turn();
    if (turn !== undefined) await turn;
    const decoded = run.decode();
    const args = decoded instanceof Promise ? await decoded : decoded;
    const value = await (run.timeoutMs === undefined
      ? chain.run(exchange, args, run)
      : inTime(host.clock, exchange, run.timeoutMs, () => chain.run(exchange, args, run)));
    return run.encode(value);
  };
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
