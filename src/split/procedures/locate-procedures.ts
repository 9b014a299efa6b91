// Finds the procedures of a module: exports that segments name, and the code that declares them.

import type { Parameter } from "../../base/manifest.ts";
import type { Problem } from "../../base/problem.ts";
import type { Module } from "../read/analyze.ts";
import { callableOf } from "./callable.ts";
import { problemAt } from "../read/code-frame.ts";
import { exportProblems, missingExport } from "./export-problems.ts";
import { parametersOf } from "./read-parameters.ts";
import type { Node } from "../read/tree.ts";
import type { Unit } from "../read/units.ts";

/** An export that a segment names. */
export interface SegmentedExport {
  readonly export: string;
  readonly fqn: string;
  /** Three numbers. */
  readonly version: string;
  readonly parameters: readonly Parameter[];
  /** It answers requests, and its only parameter is the request. */
  readonly route?: true;
}

/** A procedure together with its code. */
export interface LocatedProcedure {
  readonly record: SegmentedExport;
  /** The unit that declares it. */
  readonly unit: Unit;
  /** Its name in the module; `undefined` for a default export without a name. */
  readonly local: string | undefined;
  /** The function, or the type of a wrapped one. Both have the parameters at `params`. */
  readonly signature: Node;
  /** The async function that a wrapper is called with, if the source has one. */
  readonly inner: Node | undefined;
  /** The call of `checked` that makes it. */
  readonly checked?: Node | undefined;
  /** It returns an async iterator, not a promise. */
  readonly stream: boolean;
  readonly wrapped: boolean;
}

const noParameters: Node = { type: "TSFunctionType", start: 0, end: 0, params: [] };

/** Locates the procedures of a module, and collects what keeps the module from being split. */
export function locateProcedures(
  module: Module,
  records: readonly SegmentedExport[],
): { procedures: LocatedProcedure[]; problems: Problem[] } {
  const procedures: LocatedProcedure[] = [];
  const problems: Problem[] = [];
  for (const record of records) {
    const name = record.export;
    const found = module.exports.find(({ exported }) => exported === name);
    if (found === undefined) {
      problems.push(missingExport(module, name));
      continue;
    }
    const refuse = (message: string, hint: string): void => {
      problems.push(problemAt(module, found.node.start, message, hint));
    };
    const callable = callableOf(module, found);
    const isMadeRoute = record.route === true && callable.untyped === true;
    if (!isMadeRoute) problems.push(...exportProblems(module, found, callable));
    if (found.units.length > 1)
      refuse(
        `'${name}' is named by a segment, but it is declared more than once`,
        "Leave one declaration: a function that may run elsewhere can't carry a namespace",
      );
    const [unit] = found.units;
    const signature = isMadeRoute ? noParameters : callable.signature;
    if (signature === undefined || unit === undefined) continue;
    problems.push(...parametersOf(signature, module).problems);
    const twin = procedures.find((procedure) => procedure.unit === unit);
    if (twin !== undefined) {
      refuse(
        `'${name}' and '${twin.record.export}' are two names of one function, and segments name both`,
        "Name one of them; the other stays importable",
      );
      continue;
    }
    const { kind, fn, checked, stream = false } = callable;
    procedures.push({
      record,
      unit,
      local: found.local,
      signature,
      inner: fn,
      checked,
      stream,
      wrapped: kind === "wrapped" || isMadeRoute,
    });
  }
  return { procedures, problems };
}
