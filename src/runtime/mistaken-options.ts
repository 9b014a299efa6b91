// In development: options passed as a procedure's `this`, as in `quote.call({ signal }, "tweed")`.

import type { ProcedureFunction } from "./procedure-function.ts";
import type { Seam } from "./seam.ts";

const options: Readonly<Record<string, (value: unknown) => boolean>> = {
  signal: (value) => value instanceof AbortSignal,
  headers: (value) => typeof value === "object" && value !== null,
  timeoutMs: (value) => typeof value === "number",
};

/**
 * Wraps seams to warn, once for each procedure, that an object that looks like options was passed in place of a
 * context, and is ignored.
 */
export function warningOfOptions(
  warn: (line: string) => void,
): (seam: Pick<Seam, "fqn" | "run">) => Pick<Seam, "run"> {
  const warned = new Set<string>();
  return (seam) => {
    const { fqn } = seam;
    const run: ProcedureFunction = function (this: unknown, ...args) {
      const found = warned.has(fqn) ? [] : optionsIn(this);
      if (found.length > 0) {
        warned.add(fqn);
        const list = `{ ${found.join(", ")} }`;
        warn(
          `procedure.call(${list}, …) of '${fqn}' ignores its options, as it takes a context: use withOptions(procedure, ${list})(…)`,
        );
      }
      // Read at each call, as the procedure can move.
      return seam.run.apply(this, args);
    };
    return { run };
  };
}

/** The names of options in a plain object. An object with functions isn't options: its methods are procedures. */
function optionsIn(self: unknown): readonly string[] {
  if (typeof self !== "object" || self === null) return [];
  if (Object.getPrototypeOf(self) !== Object.prototype) return [];
  // Getters aren't called.
  const fields = Object.entries(Object.getOwnPropertyDescriptors(self));
  if (fields.some(([, { value }]) => typeof value === "function")) return [];
  return fields.flatMap(([name, { value }]) =>
    Object.hasOwn(options, name) && options[name]?.(value) === true ? name : [],
  );
}
