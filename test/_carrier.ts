import { AsyncLocalStorage } from "node:async_hooks";

/** The carrier that Node lends, without the rest of the host. */
export function createLocalCarrier<T>(): { run<R>(context: T, act: () => R): R; current(): T | undefined } {
  const storage = new AsyncLocalStorage<T>();
  return { run: (context, act) => storage.run(context, act), current: () => storage.getStore() };
}
