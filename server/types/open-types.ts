// The module that a build wrote of its types, as the core asks for it.

import { wholeFault } from "../../src/base/faults.ts";
import type { ModuleNamespace } from "../../src/base/ports.ts";
import type {
  ApplicationTypes,
  CheckedArguments,
  CheckSettings,
  DescribedInstance,
  InstanceParts,
  Judgement,
  ParameterTypes,
} from "../../src/base/parameter-types.ts";
import {
  type Check,
  checkHelpers,
  type Checks,
  createCheck,
  type GeneratedChecks,
} from "./check.ts";
import { callerNames, describeCall } from "./call-types.ts";
import { fromFields } from "./convert.ts";
import { judgeInstances, reachedClasses, reshaped } from "./instances.ts";
import { createMatcher } from "./match.ts";
import type { Type, TypeModel } from "./model.ts";

/** Throws for a module that isn't one. */
export function openTypes({ model, default: generated }: ModuleNamespace): ApplicationTypes {
  if (!isModel(model)) throw new TypeError("It has no model");
  if (typeof generated !== "function") throw new TypeError("It has no checks");
  const checks = (generated as GeneratedChecks)(checkHelpers);
  const opened = new Map<string, ParameterTypes>();
  return {
    of(id) {
      let types = opened.get(id);
      if (types === undefined && Object.hasOwn(model.functions, id) && checks.functions.has(id))
        opened.set(id, (types = new FunctionTypes(model, checks, id)));
      return types;
    },
  };
}

function isModel(model: unknown): model is TypeModel {
  const tables = ["definitions", "classes", "functions"] as const;
  return (
    typeof model === "object" &&
    model !== null &&
    tables.every((name) => typeof (model as Partial<TypeModel>)[name] === "object")
  );
}

/** The types of one function, and how its calls are checked by them. */
export class FunctionTypes implements ParameterTypes {
  readonly #model: TypeModel;
  readonly #checks: Checks;
  readonly #id: string;
  readonly #check: Check;
  #named: ReadonlyMap<string, Type> | undefined;
  #reached: ReturnType<typeof reachedClasses> | undefined;

  constructor(model: TypeModel, checks: Checks, id: string) {
    this.#model = model;
    this.#checks = checks;
    this.#id = id;
    this.#check = createCheck(model, checks, id);
  }

  check(
    positions: readonly unknown[],
    { source, extra, masked, maxDigits, isTree, isInstance }: CheckSettings,
  ): CheckedArguments {
    const [plain, isRead] = [source !== "encoded", source === "fields"];
    const options = { plain, isRead, extra, masked, maxDigits, isTree, isInstance };
    const checked = orTooDeep(() => this.#check(positions, options));
    if (checked === undefined) return { refusal: tooDeep };
    return "faults" in checked ? { refusal: checked } : checked;
  }

  judge(
    args: ReadonlyMap<string, unknown>,
    described: ReadonlyMap<object, DescribedInstance>,
    { extra, masked, isInstance }: Pick<CheckSettings, "extra" | "masked" | "isInstance">,
  ): Judgement {
    const [model, checks] = [this.#model, this.#checks];
    const reached = (this.#reached ??= reachedClasses(model, this.#id));
    const options = { model, checks, reached, extra, masked, isInstance };
    return orTooDeep(() => judgeInstances(args, described, options)) ?? { refusal: tooDeep };
  }

  withoutExtra(
    key: string,
    parts: InstanceParts,
    isInstance: CheckSettings["isInstance"],
  ): InstanceParts {
    return reshaped(this.#model, this.#checks, key, parts, isInstance);
  }

  fieldValue(name: string, fields: readonly (string | Blob)[], maxDigits: number): unknown {
    const type = this.#typeOf(name);
    if (type === undefined) return fields.length === 1 ? fields[0] : fields;
    // A query or form field can't hold an instance.
    const isInstance = (): boolean => false;
    const options = { model: this.#model, tests: this.#checks.types, isInstance, isTree: true };
    return fromFields(type, fields, { matcher: createMatcher(options), maxDigits });
  }

  describe(): object {
    return describeCall(this.#model, this.#id);
  }

  #typeOf(name: string): Type | undefined {
    this.#named ??= new Map(
      callerNames(this.#model.functions[this.#id]!).flatMap(({ name: named, type, rest }) =>
        rest === true ? [] : [[named, type]],
      ),
    );
    return this.#named.get(name);
  }
}

const tooDeep = wholeFault("The arguments are nested too deeply to be checked");

/** `undefined` if the stack isn't deep enough: unlike JSON, references may nest values as deeply as they like. */
function orTooDeep<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof RangeError && error.message === "Maximum call stack size exceeded")
      return undefined;
    throw error;
  }
}
