// `onStop`: cleanup of the application before it ends, such as closing a database.

import { AsyncLocalStorage } from "node:async_hooks";

import type { ContextCarrier } from "../../src/base/ports.ts";
import { checkStopCallback, StopCallbacks } from "../../src/runtime/stop-callbacks.ts";
import { currentCarrier, runningCall } from "./carrier.ts";

/** The callbacks of one service, or in development of one module. */
export function createStops(): StopCallbacks {
  // Unlike the host's clock it keeps the process alive: a callback may wait for nothing that does.
  return new StopCallbacks((ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  });
}

interface Shared {
  /** The service or module that is being loaded, and the call that loads it, if one does. */
  readonly loading: AsyncLocalStorage<{ readonly stops: StopCallbacks; readonly call: unknown }>;
  readonly ofService: Map<ContextCarrier, StopCallbacks>;
}

// One for all copies of the package in this process, as for contexts.
const key = Symbol.for("seamline.stops");
const shared: Shared = ((globalThis as { [key]?: Shared })[key] ??= {
  loading: new AsyncLocalStorage(),
  ofService: new Map(),
});

/** Callbacks of modules that `load` runs belong to `stops`. */
export function whileLoading<T>(stops: StopCallbacks, load: () => T): T {
  return shared.loading.run({ stops, call: runningCall() }, load);
}

/** The callbacks of a service, until the returned function is called. */
export function registerStops(carrier: ContextCarrier, stops: StopCallbacks): () => void {
  shared.ofService.set(carrier, stops);
  return () => void shared.ofService.delete(carrier);
}

/**
 * Calls `callback` when the service ends, after the last call: the last one added runs first, and each is awaited.
 * In development it is also called before the module that added it runs again, and in a page when a procedure's
 * module moves away. A page in production never calls it.
 */
export function onStop(callback: () => unknown): void {
  checkStopCallback(callback);
  const { loading, ofService } = shared;
  const calling = currentCarrier();
  const load = loading.getStore();
  const [only, ...others] = ofService.values();
  // A call may load a module, and a loading module may call: the one that began last counts.
  const stops =
    (load?.call === runningCall() ? load?.stops : undefined) ??
    (calling && ofService.get(calling)) ??
    load?.stops ??
    (others.length === 0 ? only : undefined);
  if (stops === undefined)
    throw new Error(
      only === undefined
        ? "onStop belongs to a service: call it in a module of the application, or after startServer(…)"
        : "Several services run in this process: call onStop in a module or a procedure of one of them",
    );
  stops.add(callback);
}
