// The types of parameters as plain JSON: the build writes it beside the manifest, and checks,
// conversion, forms and schemas are pure functions of it. It doesn't know the compiler.

/** A value of a literal type. A bigint is its decimal text, as JSON has none. */
export type Literal = string | number | boolean | { readonly bigint: string };

/** Which texts a `string` takes. */
export interface TextRules {
  /** Code points. */
  readonly minLength?: number;
  /** Code points. */
  readonly maxLength?: number;
  /** Source of a regular expression with the flag `u`. */
  readonly pattern?: string;
  readonly format?: TextFormat;
  /** `Uppercase<string>` and its like. */
  readonly case?: "upper" | "lower" | "capitalized" | "uncapitalized";
}

export type TextFormat = "date" | "date-time" | "email" | "uri" | "uuid";

export interface Member {
  readonly type: Type;
  /** It may be absent, or `undefined`. */
  readonly optional?: true;
  /** Its comment in the source: in contracts alone. */
  readonly doc?: string;
}

/** An index signature: the type of all members whose key it takes. */
export interface IndexRule {
  /** A string, a number in a key's form, or a template. */
  readonly keys: Type;
  readonly values: Type;
}

/** A type: the set of values that it takes. */
export type Type =
  /** `any` and `unknown`: anything that can be sent. */
  | { readonly kind: "unknown" }
  /** `{}`: anything but `null` and `undefined`. */
  | { readonly kind: "defined" }
  /** `object`: anything but primitives. */
  | { readonly kind: "nonprimitive" }
  | { readonly kind: "never" | "undefined" | "null" | "boolean" | "bigint" }
  | {
      readonly kind: "number";
      readonly min?: number;
      readonly max?: number;
      readonly int?: true;
    }
  | ({ readonly kind: "string" } & TextRules)
  | { readonly kind: "literals"; readonly values: readonly Literal[] }
  /** Texts and holes in turn. */
  | ({ readonly kind: "template"; readonly parts: readonly (string | Type)[] } & TextRules)
  | {
      readonly kind: "array";
      readonly items: Type;
      readonly minLength?: number;
      readonly maxLength?: number;
    }
  | {
      readonly kind: "tuple";
      /** Optional ones come after required ones. */
      readonly first: readonly Member[];
      /** Any number of these follow. */
      readonly rest?: Type;
      /** After `rest`: `[...string[], number]`. */
      readonly last?: readonly Type[];
    }
  /** Members besides these are unknown, unless an index signature takes their key. */
  | {
      readonly kind: "object";
      readonly members: Readonly<Record<string, Member>>;
      readonly index?: readonly IndexRule[];
    }
  | { readonly kind: "map"; readonly keys: Type; readonly values: Type }
  | { readonly kind: "set"; readonly items: Type }
  | { readonly kind: "date" | "url" | "regexp" | "file" | "blob" | "form" }
  | { readonly kind: "binary"; readonly type: BinaryType }
  /** An instance of a class of the application, or of a class that extends it. */
  | { readonly kind: "instance"; readonly key: string }
  | { readonly kind: "union"; readonly arms: readonly Type[] }
  /** One of {@link TypeModel.definitions}. */
  | { readonly kind: "ref"; readonly to: string };

/** A constructor of bytes, or any view of them. */
export type BinaryType = (typeof binaryTypes)[number];

export const binaryTypes = [
  "ArrayBuffer",
  "ArrayBufferView",
  "BigInt64Array",
  "BigUint64Array",
  "DataView",
  "Float32Array",
  "Float64Array",
  "Int16Array",
  "Int32Array",
  "Int8Array",
  "Uint16Array",
  "Uint32Array",
  "Uint8Array",
  "Uint8ClampedArray",
] as const;

/** One position of a parameter list. */
export type ParameterType =
  | ({ readonly kind: "plain" } & NamedType)
  /** `type` is that of the whole array. */
  | { readonly kind: "rest"; readonly name: string; readonly type: Type }
  | {
      readonly kind: "object";
      readonly names: readonly NamedType[];
      /** The pattern has a default. */
      readonly optional?: true;
    }
  /** `null` is a hole: `[first, , third]`. */
  | {
      readonly kind: "array";
      readonly names: readonly (NamedType | null)[];
      readonly optional?: true;
    };

/** A parameter, or a name in a destructured one. */
export interface NamedType extends Member {
  readonly name: string;
  /** If it is a literal: in contracts alone. */
  readonly default?: Literal;
}

export interface Signature {
  readonly parameters: readonly ParameterType[];
}

/** The constructor and field types of a class whose instances a parameter can hold. */
export interface ClassTypes {
  readonly parameters: readonly ParameterType[];
  readonly fields: Readonly<Record<string, Member>>;
}

/** Tables with names from the application: write them with Object.fromEntries, read own keys. */
export interface TypeModel {
  /** Types with a name, and those that contain themselves. */
  readonly definitions: Readonly<Record<string, Type>>;
  /** By the key that instances travel with. */
  readonly classes: Readonly<Record<string, ClassTypes>>;
  /** Of each function, its overloads: a call has to fit one of them. */
  readonly functions: Readonly<Record<string, readonly Signature[]>>;
}

/** The compiler's part of a contract: types and comments of functions. Segment files give the rest. */
export interface ContractTypes {
  /** By the names of {@link TypeModel}. */
  readonly functions: Readonly<Record<string, ContractFunction>>;
  readonly definitions: Readonly<Record<string, Type>>;
  /** Definition → its comment in the source. */
  readonly docs: Readonly<Record<string, string>>;
  readonly classes: Readonly<Record<string, ClassTypes>>;
}

export interface ContractFunction {
  /** Empty for a function that answers requests instead of calls. */
  readonly signatures: readonly ContractSignature[];
  readonly doc?: string;
  readonly deprecated?: true;
}

export interface ContractSignature {
  readonly parameters: readonly ParameterType[];
  /** The type of its answer, or of each item if it streams. `unknown` if it can't be read. */
  readonly result: Type;
  readonly streams?: true;
  /** Of what a stream returns after its items, if its type says so. */
  readonly returns?: Type;
}
