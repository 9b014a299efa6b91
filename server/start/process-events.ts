// Handles events of the process: signals to stop, uncaught exceptions, unhandled rejections, an unexpected end, and
// a log whose reader has gone.

import { constants } from "node:os";

import type { Log } from "../../src/base/ports.ts";
import { whenNpmEnds } from "../base/npm-parent.ts";
import { placeOfError } from "../host/carrier.ts";
import { crashDrainMs, crashMs, echoMs, endMs, flushMs } from "./times.ts";

export interface Stopping {
  /** Stops the service. Requests that still run after `ms` are cut. */
  readonly stopWithin: (ms: number) => Promise<void>;
  /** The time between a signal and cutting requests. */
  readonly drainMs: number;
  readonly log: Log;
}

/**
 * A stopping service logs no more exceptions than these: a timer may throw again and again, or the
 * log itself may fail.
 */
const maxLoggedExceptions = 10;

/** Stops the service when the process has to end; the returned function removes the listeners. */
export function listenToProcess({ stopWithin, drainMs, log }: Stopping): () => void {
  let exceptions = 0;
  let signalled: number | undefined;
  /**
   * Our own, as libraries set `process.exitCode` for their own reasons: compiled by Emscripten, they
   * set it while they load.
   */
  let exitCode = 0;
  const ignoreExit = reportExit(log);
  const exit = (code = exitCode): void => {
    ignoreExit();
    process.exit(code);
  };

  const end = (event: string, drain: number, ms: number): void => {
    const started = performance.now();
    const late = setTimeout(exit, ms);
    late.unref();
    stopWithin(drain)
      .catch((error: unknown) => {
        log.error("could not stop cleanly", error);
        exitCode = 1;
      })
      .finally(() => {
        clearTimeout(late);
        const { exitCode: foreign = 0 } = process;
        if (Number(foreign) !== 0 && exitCode === 0)
          log.warn(
            `a module has set process.exitCode to ${foreign}: this service has stopped cleanly, so it ends with 0`,
          );
        // The process may end by itself before the timer below.
        process.exitCode = exitCode;
        // A timer or a connection pool of the application would keep the process alive. Other
        // listeners, of another service or of the application itself, may still have something to
        // finish.
        const left = process.listenerCount(event) > 0 ? ms - (performance.now() - started) : 0;
        setTimeout(exit, Math.max(left, flushMs)).unref();
      });
  };

  const stop = (signal: NodeJS.Signals): void => {
    const now = performance.now();
    if (signalled === undefined) {
      signalled = now;
      log.info(
        `${signal}: this service stops; calls that still run in ${drainMs / 1_000} s are cut`,
      );
      end(signal, drainMs, drainMs + endMs);
    } else if (now - signalled >= echoMs) {
      log.warn(`${signal} came again: this service ends at once`);
      exit(128 + constants.signals[signal]);
    }
  };
  const crash = (error: unknown): void => {
    if (++exceptions <= maxLoggedExceptions)
      log.error(`uncaught exception${placeOfError()}: this service stops`, error);
    exitCode = 1;
    if (exceptions === 1) end("uncaughtException", crashDrainMs, crashMs);
  };
  // Node would end the process: any caller of a procedure with a forgotten await could stop the service.
  const logRejection = (reason: unknown): void =>
    log.error(`unhandled rejection${placeOfError()}: an await is missing`, reason);

  const unwatchOutputs = [
    onLost(process.stdout, (why) => log.warn(`stdout ${why}`)),
    onLost(process.stderr, (why) => log.info(`stderr ${why}`)),
  ];

  const events = {
    SIGTERM: stop,
    SIGINT: stop,
    uncaughtException: crash,
    unhandledRejection: logRejection,
  };
  for (const [name, listener] of Object.entries(events)) process.on(name, listener);
  const forgetNpm = whenNpmEnds(() => {
    // Ctrl-C in a terminal ends the shell, too.
    if (signalled === undefined) stop("SIGTERM");
  });
  return () => {
    ignoreExit();
    forgetNpm();
    for (const unwatch of unwatchOutputs) unwatch();
    for (const [name, listener] of Object.entries(events)) process.off(name, listener);
  };
}

/**
 * Logs that the process ends without an order to stop: a module calls `process.exit()`, or nothing is left that
 * keeps the process alive. The returned function removes the listeners.
 */
export function reportExit(log: Pick<Log, "error">): () => void {
  let isEmpty = false;
  const events = {
    beforeExit(): void {
      isEmpty = true;
    },
    exit(code: number): void {
      if (isEmpty) {
        log.error("this process ends: nothing is left that keeps it alive");
        // An end without an order isn't a success.
        process.exitCode = 1;
      } else
        log.error(
          `process.exit() was called${placeOfError()}: this process ends at once with exit code ${code}, and the calls that run are lost`,
          // `process.exit` emits the event, so its caller is on the stack.
          new Error(`process.exit(${code})`),
        );
    },
  };
  for (const [name, listener] of Object.entries(events)) process.on(name, listener);
  return () => {
    for (const [name, listener] of Object.entries(events)) process.off(name, listener);
  };
}

/** The reader of an output is gone, or its disk is full: the service goes on, and `tell` says so once. */
function onLost(output: NodeJS.WriteStream, tell: (why: string) => void): () => void {
  let isTold = false;
  const lost = ({ code, message }: NodeJS.ErrnoException): void => {
    if (isTold) return;
    isTold = true;
    tell(`can't be written (${code ?? message}): this service goes on without it`);
  };
  output.on("error", lost);
  return () => void output.off("error", lost);
}
