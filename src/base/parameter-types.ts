// What the types of parameters say. The host reads the module that the build wrote of them: the core doesn't
// know its contents.

import type { Faults } from "./faults.ts";
import type { ExtraMembers } from "./manifest.ts";

/** How a message holds its values: as JSON or text, which types say how to read, or in an encoding. */
export type ValueSource = "json" | "fields" | "encoded";

export interface CheckSettings {
  readonly source: ValueSource;
  readonly extra: ExtraMembers;
  /** A refusal shows nothing of a value but its kind, and the length of texts. */
  readonly masked: boolean;
  /** The most digits of a bigint. */
  readonly maxDigits: number;
  /** No object comes twice, or contains itself. */
  readonly isTree: boolean;
  /** Whether a value is an instance of the class with this key, or of one that extends it. */
  readonly isInstance: (key: string, value: object) => boolean;
}

export type CheckedArguments =
  /** `dropped`: paths of members that were left out, of many the first ones. */
  | { readonly positions: readonly unknown[]; readonly dropped: readonly string[] }
  | { readonly refusal: Faults };

/** What a message says of an instance. */
export interface InstanceParts {
  /** Arguments of the constructor by position. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** An instance that a message describes, before its constructor has run. */
export interface DescribedInstance extends InstanceParts {
  /** That of its class. */
  readonly key: string;
  readonly prototype: object;
  /** The member that holds each argument of its constructor, if one does. */
  readonly names: readonly (string | null)[];
}

/** The faults, or whether some instances have to be built {@link ParameterTypes.withoutExtra}. */
export type Judgement = { readonly refusal: Faults } | { readonly hasExtra: boolean };

/** The types of one function's parameters. */
export interface ParameterTypes {
  /** Compares arguments with them, and converts those that came as JSON. Changes no value of the message. */
  check(positions: readonly unknown[], settings: CheckSettings): CheckedArguments;
  /**
   * Judges the instances of a message, in which stand-ins take their places. Only classes that the types can reach
   * may be there, and classes that extend them.
   */
  judge(
    args: ReadonlyMap<string, unknown>,
    described: ReadonlyMap<object, DescribedInstance>,
    settings: Pick<CheckSettings, "extra" | "masked" | "isInstance">,
  ): Judgement;
  /** What an instance is built from, without members of plain objects that no type names. */
  withoutExtra(
    key: string,
    parts: InstanceParts,
    isInstance: CheckSettings["isInstance"],
  ): InstanceParts;
  /**
   * The value of a field of a query or form, which came once or several times. What doesn't convert stays as
   * it is, for {@link check} to refuse.
   */
  fieldValue(name: string, fields: readonly (string | Blob)[], maxDigits: number): unknown;
  /** The names that a caller gives values for, with their types, as plain JSON. `undefined`: they can't be read. */
  describe(): object | undefined;
}

/** The types of an application's functions by module and export, `shop/quote#order`. */
export interface ApplicationTypes {
  /**
   * `undefined` for a function that they don't have. In development `null`: its types are still being read, and
   * callers aren't checked until they are.
   */
  of(id: string): ParameterTypes | null | undefined;
  /** Waits for types that are being read, but not for ever. `undefined`: there is nothing to wait for. */
  ready?(id: string): Promise<void> | undefined;
  /** Waits until all types are read, for what isn't a call. */
  whole?(): Promise<void>;
}
