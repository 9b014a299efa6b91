// The types of parameters, as the core uses them. The build writes them into a module, which the host reads:
// the core doesn't know its contents.

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
  /** No object is shared or cyclic. */
  readonly isTree: boolean;
  /** Whether a value is an instance of the class with this key, or of one that extends it. */
  readonly isInstance: (key: string, value: object) => boolean;
}

export type CheckedArguments =
  /** `dropped`: paths of the first members that were left out. */
  | { readonly positions: readonly unknown[]; readonly dropped: readonly string[] }
  | { readonly refusal: Faults };

/** The parts of an instance in a message. */
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
  /** Checks arguments, and converts those that came as JSON. The message's own values don't change. */
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
  /** The parts of an instance, without undeclared members of plain objects. */
  withoutExtra(
    key: string,
    parts: InstanceParts,
    isInstance: CheckSettings["isInstance"],
  ): InstanceParts;
  /**
   * The value of a query or form field, which came once or several times. A value that doesn't convert stays
   * as it is, for {@link check} to refuse.
   */
  fieldValue(name: string, fields: readonly (string | Blob)[], maxDigits: number): unknown;
  /** The names of the arguments with their types, as plain JSON; `undefined` if they can't be read. */
  describe(): object | undefined;
}

/** The types of an application's functions by module and export, `shop/quote#order`. */
export interface ApplicationTypes {
  /**
   * `undefined` for an unknown function. In development `null`: its types are still being read, and callers
   * aren't checked until they are.
   */
  of(id: string): ParameterTypes | null | undefined;
  /** Waits for types that are being read, with a limit. `undefined` if there is nothing to wait for. */
  ready?(id: string): Promise<void> | undefined;
  /** Waits until all types are read. Calls use {@link ready} instead. */
  whole?(): Promise<void>;
}
