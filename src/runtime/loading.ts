// Detects bodies that wait for each other while they load: instead of hanging, a circle is an error
// that names them.

import { type Context, emptyContext } from "../base/context.ts";
import type { ContextCarrier } from "../base/ports.ts";

export interface Waits {
  /**
   * Loads the body `file` and tracks the calls of its top level, if the platform carries contexts.
   */
  during<T>(file: string, load: () => Promise<T>): Promise<T>;
  /**
   * Throws if the loading body would wait for itself through the procedure `key` of the body
   * `file`.
   */
  check(file: string, key: string): void;
}

export function createWaits(carrier: ContextCarrier): Waits {
  const loadingIn = new WeakMap<Context, string>();
  const waitsFor = new Map<string, Set<string>>();

  const reaches = (from: string, to: string, seen: Set<string>): boolean =>
    from === to ||
    [...(waitsFor.get(from) ?? [])].some(
      (next) => !seen.has(next) && reaches(next, to, seen.add(next)),
    );

  return {
    during: async (file, load) => {
      const context = emptyContext();
      loadingIn.set(context, file);
      try {
        return await carrier.run(context, load);
      } finally {
        waitsFor.delete(file);
      }
    },
    check(file, key) {
      const context = carrier.current();
      const waiting = context === undefined ? undefined : loadingIn.get(context);
      if (waiting === undefined) return;
      if (reaches(file, waiting, new Set([file]))) {
        throw new Error(
          `The top level of ${waiting} waits for ${key} in ${file}, which can't load before it: call it from a function, not while the module loads`,
        );
      }
      waitsFor.set(waiting, (waitsFor.get(waiting) ?? new Set()).add(file));
    },
  };
}
