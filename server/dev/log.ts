// Events of a session under plain `vite`, in Vite's own log.

import type { ViteDevServer } from "vite";

import type { Log } from "../../src/base/ports.ts";
import { oneEntry } from "../base/printable.ts";
import { stackOf } from "../base/stacks.ts";
import { formatProblem } from "../../src/base/problem.ts";
import { traceOf } from "../../src/base/trace.ts";
import type { DevEvent } from "./session/session.ts";

export function createViteLog({ config }: ViteDevServer): Log {
  const { logger } = config;
  return {
    info: (line) => logger.info(oneEntry(line), { timestamp: true }),
    warn: (line) => logger.warn(oneEntry(`warning: ${line}`), { timestamp: true }),
    error: (line, cause) =>
      logger.error(oneEntry(`error: ${line}${cause === undefined ? "" : `\n${stackOf(cause)}`}`), {
        timestamp: true,
      }),
  };
}

export function eventToLog(log: Log, event: DevEvent): void {
  const ms = "ms" in event ? `${Math.round(event.ms)} ms` : "";
  switch (event.kind) {
    case "replaced":
      return log.info(
        `replaced ${event.procedures.join(", ")} on ${event.where.join(", ")} in ${ms}; state of ${event.file} that only they use starts anew`,
      );
    case "reloaded":
      return log.info(`reloaded ${event.file} on ${event.where.join(", ")} in ${ms}`);
    case "moved":
      for (const { fqn, from, to } of event.procedures) {
        if (to.length === 0)
          log.info(`removed ${fqn} from ${from.join(", ")} in ${ms}: no segment names it any more`);
        else if (from.length === 0) log.info(`added ${fqn} to ${to.join(", ")} in ${ms}`);
        else log.info(`moved ${fqn}: ${from.join(", ")} → ${to.join(", ")} in ${ms}`);
      }
      return;
    case "node":
      if (event.state === "failed") log.error(`the node '${event.node}' can't start`, event.error);
      if (event.state === "stopped")
        log.warn(
          `the node '${event.node}' has stopped${event.why === undefined ? "" : `: ${event.why}`}`,
        );
      return;
    case "problems":
      return log.error(event.problems.map(formatProblem).join("\n\n"));
    case "mended":
      return log.info("mended");
    case "warning":
      return log.warn(formatProblem(event.problem));
    case "failed": {
      const trace = traceOf(event.error).join(" ");
      return log.error(
        `${event.fqn} failed on ${event.node}${trace === "" ? "" : ` ${trace}`}`,
        event.error,
      );
    }
  }
}
