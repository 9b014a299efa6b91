// One class whose instances may travel: its record from the build, and its constructor.

import type { ClassRecord } from "../../base/manifest.ts";

type Constructor = new (...args: unknown[]) => object;

export interface KnownClass {
  readonly record: ClassRecord;
  readonly constructor: Constructor;
  /** Member that holds constructor argument i; `null` if no member does. */
  readonly names: readonly (string | null)[];
  /** Position of the rest parameter. */
  readonly rest: number | undefined;
  /** The class extends one with a form of its own, and its instances travel in that form. */
  readonly hasForm: boolean;
  /** All classes that are registered where this one is. */
  readonly classes: { of(value: object): KnownClass | undefined };
}

const classesWithForm = [
  Date,
  Map,
  Set,
  Object.getPrototypeOf(Uint8Array) as typeof Uint8Array,
  RegExp,
  URL,
  Blob,
  ArrayBuffer,
  DataView,
];

/** Whether a value has a form of its own. Leaves out errors and arrays. */
export function hasForm(value: object): boolean {
  return classesWithForm.some((type) => value instanceof type);
}

/** The class of a record. Throws if the module's export isn't a class. */
export function knownClass(
  record: ClassRecord,
  constructor: unknown,
  classes: KnownClass["classes"],
): KnownClass {
  if (typeof constructor !== "function")
    throw new Error(`'${record.module}' exports no class '${record.export}': build again`);
  // The build can't see that a class extends the error class of a package.
  if (constructor.prototype instanceof Error) record = { ...record, error: true };
  const rest = record.args.findIndex((name) => name?.startsWith("..."));
  const names = record.args.map((name, index) =>
    index === rest ? (name as string).slice("...".length) : name,
  );
  return {
    record,
    constructor: constructor as Constructor,
    names,
    rest: rest < 0 ? undefined : rest,
    hasForm: hasForm(constructor.prototype as object),
    classes,
  };
}
