import { faultText } from "../../../src/base/faults.ts";
import { runInThisContext } from "node:vm";
import { generateChecks } from "../../../server/types/generate-checks.ts";
import {
  createCheck,
  type Checked,
  checkHelpers,
  type CheckOptions,
  type Checks,
  type GeneratedChecks,
} from "../../../server/types/check.ts";
import type { TypeModel } from "../../../server/types/model.ts";
import { readAll } from "./_read.ts";

export class Money {
  readonly amount: number;
  constructor(amount: number) {
    this.amount = amount;
  }
}

/** Loads generated code as a module is loaded; a test may evaluate it. */
export function loadChecks(source: string): Checks {
  return (runInThisContext(`(${source})`) as GeneratedChecks)(checkHelpers);
}

export interface TypeCheck {
  readonly model: TypeModel;
  readonly checks: Checks;
  /** Checks a value against the type at an index. */
  readonly check: (index: number, value: unknown, options?: Partial<CheckOptions>) => Checked;
  /** The message of the refusal, or the value that arrives. */
  readonly outcome: (index: number, value: unknown, options?: Partial<CheckOptions>) => unknown;
}

/** Checks of parameters `x` of several types, after declarations that they share. */
export function checksOf(declarations: string, types: readonly string[]): TypeCheck {
  const { model, problems } = readAll(declarations, types);
  if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join("\n"));
  const checks = loadChecks(generateChecks(model));
  const check: TypeCheck["check"] = (index, value, options) =>
    createCheck(
      model,
      checks,
      `f${index}`,
    )([value], {
      isInstance: (key, item) => key === "app/Money" && item instanceof Money,
      ...options,
    });
  return {
    model,
    checks,
    check,
    outcome: (index, value, options) => {
      const result = check(index, value, options);
      return "faults" in result ? faultText(result.faults, result.more) : result.positions[0];
    },
  };
}
