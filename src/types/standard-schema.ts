// The schemas that `checked` takes, by the interface of https://standardschema.dev, which zod 4, valibot,
// arktype and others implement, declared here so that it takes no dependency.

import type { Returned } from "./imported.ts";

/** A schema that checks a value, and may convert it. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** @internal */
export type StandardResult<Output = unknown> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** @internal */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** @internal */
type TypesOf<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>;

/** @internal */
type CheckedRun<Value> = (
  value: Value,
  // The schema only describes the first parameter; the others can have any type.
  // oxlint-disable-next-line typescript/no-explicit-any
  ...others: any[]
) => Returned;

/** @internal A mapped tuple keeps the names of parameters. */
type WithFirst<Parameters extends unknown[], First> = {
  [At in keyof Parameters]: At extends "0" ? First : Parameters[At];
};

/**
 * Returns a function that checks its first argument by a schema, and calls `run` with the schema's output.
 * Callers pass the schema's input. If the schema refuses it, the function rejects with
 * `InvalidParameterValue` (400). `name` is the argument's name in its message: for procedures, the build
 * fills it in.
 */
export type Checked = <
  Schema extends StandardSchema,
  Run extends CheckedRun<TypesOf<Schema>["output"]>,
>(
  schema: Schema,
  run: Run,
  name?: string,
) => (
  this: ThisParameterType<Run>,
  ...args: WithFirst<Parameters<Run>, TypesOf<Schema>["input"]>
) => ReturnType<Run>;
