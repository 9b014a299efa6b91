// Classes by their keys and by their prototypes, and what stands for an instance of one that isn't here.

import type { ClassRecord } from "../manifest.ts";
import type { Members } from "./instance.ts";
import type { FormWalk } from "./walk.ts";

type Constructor = new (...args: unknown[]) => object;

/** One class whose instances may travel: what the build recorded, and what run time found under it. */
export interface KnownClass {
  readonly record: ClassRecord;
  readonly constructor: Constructor;
  /** Member that is constructor argument i; `null` where none is readable. */
  readonly names: readonly (string | null)[];
  /** Position of the rest parameter. */
  readonly rest: number | undefined;
  /** It extends what has a form of its own, and travels as that. */
  readonly hasForm: boolean;
}

const formed = [
  Map,
  Set,
  Date,
  Object.getPrototypeOf(Uint8Array) as typeof Uint8Array,
  RegExp,
  URL,
  Blob,
  ArrayBuffer,
  DataView,
];

/** Whether a value has a form of its own, errors and arrays aside. */
export function hasForm(value: object): boolean {
  return formed.some((one) => value instanceof one);
}

/** The classes that a page may rebuild from the wire (§2.3): nothing else is ever constructed. */
export class ClassTable {
  /**
   * Registers classes that aren't registered yet: those with these keys at least, or as many as it can. Class modules that nothing here
   * imports are loaded when a value first needs one, not at start. `undefined` once all are there.
   */
  load: ((keys?: ReadonlySet<string>) => Promise<void>) | undefined;
  /** The form of an error. Services take errors from services only, so a page has none, and nothing of an error leaves it. */
  errorForm?(error: Error, walk: FormWalk): object;
  /** Of a service that has no modules: what stands there for an instance of any class. */
  passOn?(form: unknown, parts?: OpaqueParts): object;
  readonly #byKey = new Map<string, KnownClass>();
  /** Of a class that was registered anew, the former too: instances of it may still leave, for as long as anyone has them. */
  readonly #byPrototype = new WeakMap<object, KnownClass>();

  /** Makes instances of `constructor` able to travel under the record's key. */
  register(record: ClassRecord, constructor: unknown): void {
    if (typeof constructor !== "function")
      throw new Error(`'${record.module}' exports no class '${record.export}': build again`);
    // The build can't follow a class to the error class of a package that it extends.
    if (constructor.prototype instanceof Error) record = { ...record, error: true };
    const rest = record.args.findIndex((name) => name?.startsWith("..."));
    const names = record.args.map((name, index) =>
      index === rest ? (name as string).slice(3) : name,
    );
    const known = {
      record,
      constructor: constructor as Constructor,
      names,
      rest: rest < 0 ? undefined : rest,
      hasForm: hasForm(constructor.prototype as object),
    };
    if (record.clash === undefined) this.#byKey.set(record.key, known);
    this.#byPrototype.set(constructor.prototype, known);
  }

  /** The class under a key that came in a message. */
  get(key: string): KnownClass | undefined {
    return this.#byKey.get(key);
  }

  /** The class whose instance `value` is: itself, not a parent of it. */
  of(value: object): KnownClass | undefined {
    return this.#byPrototype.get(Object.getPrototypeOf(value));
  }
}

/** What an instance travels as, decoded: the parts may refer to each other and to what stands around. */
export interface OpaqueParts {
  readonly key: string;
  readonly args: object;
  readonly fields: object;
}

/** An instance of a class that this service doesn't have: it can be passed on, not looked into. */
export class Opaque {
  /** As it came in the first encoding. */
  readonly form: unknown;
  /** As it came in the second. */
  readonly parts: OpaqueParts | undefined;
  /** Decodes arguments or fields of the form, which are changed. */
  readonly read: (members: Members) => Members;

  constructor(form: unknown, parts: OpaqueParts | undefined, read: Opaque["read"]) {
    this.form = form;
    this.parts = parts;
    this.read = read;
  }
}
