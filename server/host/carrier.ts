// Carries the context of the running call across each `await`.

import { AsyncLocalStorage } from "node:async_hooks";

import type { Context } from "../../src/base/context.ts";
import type { ContextCarrier } from "../../src/base/ports.ts";
import { CallContext } from "../../src/runtime/call-context.ts";
import { checkId, noteId } from "../../src/runtime/item-ids.ts";

/** A context, and its service. */
interface Carried {
  readonly context: Context;
  readonly carrier: ContextCarrier;
}

// One storage for all services of the process, found by name: middleware imports `getContext` from
// a package that may be a different copy from the one that runs the service.
const key = Symbol.for("seamline.contexts");
const shared = globalThis as { [key]?: AsyncLocalStorage<Carried> };
const storage = (shared[key] ??= new AsyncLocalStorage());

/** The carrier of one service. A call to another service in this process isn't one of its own. */
export function createCarrier(): ContextCarrier {
  const carrier: ContextCarrier = {
    run: (context, act) => storage.run({ context, carrier }, act),
    current() {
      const carried = storage.getStore();
      return carried?.carrier === carrier ? carried.context : undefined;
    },
    snapshot: () => AsyncLocalStorage.snapshot(),
  };
  return carrier;
}

/** The carrier of the service whose call is running. */
export function currentCarrier(): ContextCarrier | undefined {
  return runningCall()?.carrier;
}

/** The same object for all code that a call runs; `undefined` outside of calls. */
export function runningCall(): { readonly carrier: ContextCarrier } | undefined {
  const carried = storage.getStore();
  return carried !== undefined && "response" in carried.context ? carried : undefined;
}

/**
 * The procedure whose call is running, or has started the running code: ` in [shop/quote | v1.0.0]`. Empty if there
 * is none. For the log.
 */
export function placeOfError(): string {
  const [line] = storage.getStore()?.context.trace ?? [];
  return line === undefined ? "" : ` in ${line}`;
}

/**
 * The context of the running call, in procedures, routes and middleware, and in everything that they call or await.
 * Throws outside of a call, and in pages.
 */
export function getContext(): Context {
  const context = storage.getStore()?.context;
  // While modules load, there is a context without a call.
  if (context === undefined || !("response" in context))
    throw new Error(
      "getContext() needs a running call: use it in procedures, routes and middleware, not while modules load or in timers that they start",
    );
  return context;
}

/**
 * Gives an item of a stream an id: `yield withId(row.id, row)`. A reader that was cut off sends the last one back, and
 * the procedure finds it in `getContext().lastEventId`. Returns `item`. Throws TypeError for an id that isn't 1 to 256
 * printable characters of ASCII, and for `0` and `end`, which mark the ends of a stream.
 */
export function withId<Item>(id: string, item: Item): Item {
  const checked = checkId(id);
  const call = CallContext.sourceOf(storage.getStore()?.context);
  if (call !== undefined) noteId(call, checked, item);
  return item;
}
