// Classes that travel in tests, and their records as the build would write them.

import { NotFound } from "../src/base/errors.ts";
import type { ClassRecord } from "../src/base/manifest.ts";
import { Classes } from "../src/codec/classes.ts";

/**
 * Private state with access: by a constructor argument with a getter, and by a getter and setter.
 */
export class Person {
  readonly #name: string;
  #email: string | undefined;
  born: Date | undefined;
  readonly #secret = "lost on the way";

  constructor(name: string, born?: Date) {
    this.#name = name;
    this.born = born;
  }

  get name(): string {
    return this.#name;
  }

  get email(): string | undefined {
    return this.#email;
  }

  set email(value: string | undefined) {
    if (value !== undefined && !value.includes("@")) throw new Error(`'${value}' is no address`);
    this.#email = value;
  }

  knows(secret: string): boolean {
    return this.#secret === secret;
  }
}

export class Money {
  readonly cents: bigint;
  readonly currency: string;

  constructor(cents: bigint, currency = "EUR") {
    if (typeof cents !== "bigint") throw new TypeError("An amount is counted in whole cents");
    this.cents = cents;
    this.currency = currency;
  }
}

export class Employee extends Person {
  salary: Money | undefined;
  tags: Map<string, unknown> = new Map();
}

/** A rest parameter, and one that nothing reads. */
export class Team {
  readonly title: string;
  readonly people: readonly Person[];
  readonly #budget: number;

  constructor(title: string, budget = 7, ...people: Person[]) {
    this.title = title;
    this.people = people;
    this.#budget = budget;
  }

  afford(cost: number): boolean {
    return cost <= this.#budget;
  }
}

/** Defaults that must not replace an `undefined`, and names that aren't identifiers. */
export class Draft {
  extra: string | null | undefined = null;
  3: string | undefined = "x";
  0x10 = "hexadecimal";
  "a.b": unknown = 1;
  ["computed"]: unknown = 2;
  pages: number | undefined;

  constructor(pages: number | undefined = 1) {
    this.pages = pages;
  }
}

export class OutOfStock extends NotFound {
  override readonly name = "OutOfStock";
  readonly sku: string;
  since: Date | undefined;

  constructor(sku: string) {
    super(`Nothing left of ${sku}`);
    this.sku = sku;
  }
}

export class Refused extends Error {
  override readonly name = "Refused";
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}

/** Counts how often it is constructed: no message may cause that. */
export class Trap {
  static sprung = 0;
  constructor() {
    Trap.sprung++;
  }
}

const record = (
  name: string,
  args: ClassRecord["args"],
  fields: readonly string[],
  more: Partial<ClassRecord> = {},
): ClassRecord => ({
  key: `people/${name}`,
  module: "people/people",
  export: name,
  args,
  fields,
  ...more,
});

export const wireClasses: readonly (readonly [ClassRecord, unknown])[] = [
  [record("Person", ["name", "born"], ["email"]), Person],
  [record("Money", ["cents", "currency"], []), Money],
  [record("Employee", ["name", "born"], ["email", "salary", "tags"]), Employee],
  [record("Team", ["title", null, "...people"], []), Team],
  [record("Draft", ["pages"], ["extra", "3", "16", "a.b", "computed"]), Draft],
  [record("OutOfStock", ["sku"], ["since"], { error: true }), OutOfStock],
  [record("Refused", ["message", "code"], [], { error: true }), Refused],
];

/** All classes of this file but {@link Trap}. */
export function createWireClasses(): Classes {
  const classes = new Classes();
  for (const [entry, constructor] of wireClasses) classes.register(entry, constructor);
  return classes;
}
