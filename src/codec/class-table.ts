// The classes whose instances may travel, by key and by prototype, and stand-ins for instances of missing classes.

import type { ClassRecord } from "../base/manifest.ts";
import type { Properties } from "./instance.ts";
import type { HiddenErrors } from "./hidden-errors.ts";
import { type KnownClass, knownClass } from "./values/known-class.ts";
import type { Walk } from "./values/walk.ts";

/** The classes that a page may rebuild from the wire. Nothing else is ever constructed. */
export class ClassTable {
  /**
   * Registers the classes with these keys if they aren't registered yet, or all that it can. Class
   * modules that nothing here imports are loaded when a value first needs one, not at start.
   * `undefined` once all are registered.
   */
  load: ((keys?: ReadonlySet<string>) => Promise<void>) | undefined;
  /**
   * Makes the form of an error. Pages don't have it: services take errors only from services, so
   * nothing of an error leaves a page.
   */
  errorForm?(error: Error, walk: FormWalk): object;
  /** Why an object of the platform can't be sent. Pages say less: each byte of their codec counts. */
  refusal?(value: object): string | undefined;
  /** Whether the receiver learns nothing of an error but that there was one. */
  hides?(error: Error): boolean;
  /** The form of such a stand-in; `undefined` for any other value. */
  opaqueForm?(value: object, walk: FormWalk): unknown;
  /** Makes a stand-in for an instance of any class, in a service without modules. */
  passOn?(form: unknown, parts?: OpaqueParts): object;
  readonly #byKey = new Map<string, KnownClass>();
  /**
   * Holds the former class, too, after one is registered again: instances of it may still be sent
   * for as long as anyone has them.
   */
  readonly #byPrototype = new WeakMap<object, KnownClass>();

  /** Makes instances of `constructor` able to travel under the record's key. */
  register(record: ClassRecord, constructor: unknown): void {
    const known = knownClass(record, constructor, this);
    if (record.clash === undefined) this.#byKey.set(record.key, known);
    this.#byPrototype.set(known.constructor.prototype as object, known);
  }

  /** The class under a key from a message. */
  get(key: string): KnownClass | undefined {
    return this.#byKey.get(key);
  }

  /** The class of `value` itself, not a class that it extends. */
  of(value: object): KnownClass | undefined {
    return this.#byPrototype.get(Object.getPrototypeOf(value));
  }
}

/** A walk that leaves serialized forms behind. */
export interface FormWalk extends Walk {
  readonly classes: ClassTable;
  /** As in `WalkOptions`. */
  readonly trusted: boolean;
  readonly stacks: boolean;
  readonly call: object | undefined;
  readonly hidden: HiddenErrors | undefined;
  readonly hint: ((value: object) => string | undefined) | undefined;
  /** Makes the form of a Blob, or of a FormData where those can be sent. */
  readonly file: ((value: object, walk: FormWalk) => object | undefined) | undefined;
  /** Blobs that are still being read. */
  readonly pending: Promise<void>[];
  /** The forms of Blobs, by the numbers that stand for their bytes in the text until then. */
  late?: Map<string, object>;
}

/** The decoded parts of an instance. They may refer to each other and to values around. */
export interface OpaqueParts {
  readonly key: string;
  readonly args: object;
  readonly fields: object;
}

/** An instance of a class that this service doesn't have. It can be passed on, but not read. */
export class Opaque {
  /** The form, if it came as `serialized`. */
  readonly form: unknown;
  /** The parts, if it came as superjson. */
  readonly parts: OpaqueParts | undefined;
  /** Decodes arguments or fields of the form, in place. */
  readonly read: (members: Properties) => Properties;

  constructor(form: unknown, parts: OpaqueParts | undefined, read: Opaque["read"]) {
    this.form = form;
    this.parts = parts;
    this.read = read;
  }
}
