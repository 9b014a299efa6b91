// The exports that segments name, found in the source.

import type { Problem } from "../problem.ts";
import type { Module, Unit } from "./analyze.ts";
import { callableOf, missing, refusals } from "./callable.ts";
import { problemAt } from "./mark.ts";
import { parametersOf } from "./parameters.ts";
import type { SegmentedExport } from "./split-module.ts";
import type { Node } from "./tree.ts";

/** One procedure of the module. */
export interface Procedure {
  readonly record: SegmentedExport;
  /** What declares it. */
  readonly unit: Unit;
  /** Its name in the module; `undefined` for a default export without one. */
  readonly local: string | undefined;
  /** The function; of a wrapped one, its type. Either has its parameters at `params`. */
  readonly signature: Node;
  /** Of a wrapped one, the async function that the wrapper is given, if there is one in the text. */
  readonly inner: Node | undefined;
  readonly generator: boolean;
  readonly wrapped: boolean;
}

/** Finds the procedures, and everything that forbids to split the module as its segments want it. */
export function findProcedures(
  module: Module,
  records: readonly SegmentedExport[],
): { procedures: Procedure[]; problems: Problem[] } {
  const procedures: Procedure[] = [];
  const problems: Problem[] = [];
  for (const record of records) {
    const found = module.exports.find((one) => one.exported === record.export);
    if (found === undefined) {
      problems.push(missing(module, record.export));
      continue;
    }
    const callable = callableOf(module, found);
    problems.push(...refusals(module, found, callable));
    if (found.units.length > 1)
      problems.push(
        problemAt(
          module,
          found.node.start,
          `'${record.export}' is named by a segment, but it is declared more than once`,
          "Leave one declaration: a function that may run elsewhere can't carry a namespace",
        ),
      );
    const [unit] = found.units;
    if (callable.signature === undefined || unit === undefined) continue;
    problems.push(...parametersOf(callable.signature, module).problems);
    const twin = procedures.find((one) => one.unit === unit);
    if (twin !== undefined) {
      const message = `'${record.export}' and '${twin.record.export}' are two names of one function, and segments name both`;
      problems.push(
        problemAt(
          module,
          found.node.start,
          message,
          "Name one of them; the other stays importable",
        ),
      );
      continue;
    }
    const { kind, fn, signature, generator = false } = callable;
    procedures.push({
      record,
      unit,
      local: found.local,
      signature,
      inner: fn,
      generator,
      wrapped: kind === "wrapped",
    });
  }
  return { procedures, problems };
}
