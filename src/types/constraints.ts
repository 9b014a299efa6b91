// Constraints on parameters, where TypeScript's types aren't precise enough: `metres: number & Min<0>`. The
// check of a call reads the argument of each. Its parameter stays unused in its body on purpose: then a plain
// number, and a number with other constraints, stay assignable.

/** A number of at least `N`. */
// oxlint-disable-next-line no-unused-vars
export interface Min<N extends number> {
  readonly "~min"?: undefined;
}

/** A number of at most `N`. */
// oxlint-disable-next-line no-unused-vars
export interface Max<N extends number> {
  readonly "~max"?: undefined;
}

/** A number without a fraction, which a double holds exactly. */
export interface Int {
  readonly "~int"?: undefined;
}

/** A text of at least `N` code points, or an array of at least `N` items. */
// oxlint-disable-next-line no-unused-vars
export interface MinLength<N extends number> {
  readonly "~minLength"?: undefined;
}

/** A text of at most `N` code points, or an array of at most `N` items. */
// oxlint-disable-next-line no-unused-vars
export interface MaxLength<N extends number> {
  readonly "~maxLength"?: undefined;
}

/** A text in which the regular expression `S` matches. It needs a `MaxLength` of at most 4,096. */
// oxlint-disable-next-line no-unused-vars
export interface Pattern<S extends string> {
  readonly "~pattern"?: undefined;
}

/** A text of a format that JSON Schema names. */
// oxlint-disable-next-line no-unused-vars
export interface Format<S extends "date" | "date-time" | "email" | "uri" | "uuid"> {
  readonly "~format"?: undefined;
}
