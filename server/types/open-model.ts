// A model without generated checks: those of a function are generated when it is first called. A session
// reads types again after each change, and calls few of an application's functions in between.

import type { ApplicationTypes, ParameterTypes } from "../../src/base/parameter-types.ts";
import { checkHelpers, type GeneratedChecks } from "./check.ts";
import { generateChecks } from "./generate-checks.ts";
import type { TypeModel } from "./model.ts";
import { FunctionTypes } from "./open-types.ts";
import { modelOf } from "./values.ts";

/** `evaluate` gives the value of an expression. */
export function openModel(
  model: TypeModel,
  evaluate: (expression: string) => unknown,
): ApplicationTypes {
  const opened = new Map<string, ParameterTypes>();
  return {
    of(id) {
      let types = opened.get(id);
      if (types === undefined && Object.hasOwn(model.functions, id)) {
        const own = modelOf(model, id);
        const checks = evaluate(`(${generateChecks(own)})`) as GeneratedChecks;
        opened.set(id, (types = new FunctionTypes(own, checks(checkHelpers), id)));
      }
      return types;
    },
  };
}
