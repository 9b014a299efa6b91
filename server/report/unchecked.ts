// Of which arguments of callers from outside nothing is checked, and why.

import { isCallable } from "../../src/base/access.ts";
import { typesIdOf } from "../../src/base/manifest.ts";
import { hasChecks } from "../compile/write/argument-types.ts";
import type { ApplicationProcedure } from "../compile/cut/application-procedure.ts";
import type { TypesReading } from "../types/reading.ts";

/** Arguments that callers from outside may send as they like. */
export interface UncheckedArgument {
  /** `line.note`, `lines[].more`; empty for all arguments. */
  readonly path: string;
  /** `validate`: the segment file or the configuration says so. Others are the author's word, or JavaScript's silence. */
  readonly reason: "validate" | "any" | "unknown" | "no JSDoc";
}

/** Empty if all arguments are checked, or the procedure is private. */
export function uncheckedArguments(
  procedure: ApplicationProcedure,
  types: TypesReading | undefined,
): readonly UncheckedArgument[] {
  const { module, export: exported } = procedure;
  if (hasChecks(procedure))
    return types?.unchecked[typesIdOf({ module: module.id, export: exported })] ?? [];
  const isReached = procedure.entries.some(({ entry }) => isCallable(entry.access));
  return isReached && procedure.parameters.length > 0 ? [{ path: "", reason: "validate" }] : [];
}
