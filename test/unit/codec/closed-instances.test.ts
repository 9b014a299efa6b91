// Instances whose constructors set more than they are given, and then close them; in both encodings.

import { describe, expect, it } from "vitest";

import { ValueNotSerializable } from "../../../src/base/errors.ts";
import type { ClassRecord } from "../../../src/base/manifest.ts";
import { ClassTable } from "../../../src/codec/class-table.ts";
import { Classes } from "../../../src/codec/classes.ts";
import { defaultLimits } from "../../../src/base/limits.ts";
import { decodeSerialized, encodeSerialized } from "../../../src/codec/serialized.ts";
import { decodeSuperjson, encodeSuperjson } from "../../../src/codec/superjson/superjson.ts";

/** Takes `cents` as a field: no parameter is called so. */
class Money {
  readonly amount: number;
  readonly currency: string;
  readonly cents: number;

  constructor(amount: number, currency = "EUR") {
    this.amount = amount;
    this.currency = currency;
    this.cents = amount * 100;
    this.close();
  }

  close(): void {
    Object.freeze(this);
  }
}

class Sealed extends Money {
  override close(): void {
    Object.seal(this);
  }
}

/** Its parent freezes it. */
class Price extends Money {}

class Defined extends Money {
  override close(): void {
    Object.defineProperty(this, "cents", { value: this.amount * 100, writable: false });
  }
}

/** Has a setter that throws once the instance is complete. */
class Guarded {
  readonly amount: number;
  #cents: number;
  #isComplete = false;

  constructor(amount: number) {
    this.amount = amount;
    this.#cents = 0;
    this.cents = amount * 100;
    this.#isComplete = true;
  }

  get cents(): number {
    return this.#cents;
  }

  set cents(value: number) {
    if (this.#isComplete) throw new TypeError("Too late");
    this.#cents = value;
  }
}

/** Derives what is more than one scalar. */
class Basket {
  readonly items: readonly string[];
  readonly derived: unknown;

  constructor(items: readonly string[]) {
    this.items = items;
    this.derived = {
      count: new Map([["items", items.length]]),
      first: [new Date(5), new Money(items.length), new Set(items), /a/g, new Uint8Array([1])],
    };
    Object.freeze(this);
  }
}

/** Gives each instance another number. */
class Ticket {
  static made = 0;
  readonly title: string;
  readonly number: number;

  constructor(title: string) {
    this.title = title;
    this.number = ++Ticket.made;
    Object.freeze(this);
  }
}

class Email {
  readonly value: string;

  constructor(text: string) {
    if (!text.includes("@")) throw new TypeError(`'${text}' is no address`);
    this.value = text;
  }
}

const kinds: Readonly<Record<string, [new (...args: never[]) => object, Partial<ClassRecord>]>> = {
  Money: [Money, { args: ["amount", "currency"], fields: ["cents"] }],
  Sealed: [Sealed, { args: ["amount", "currency"], fields: ["cents"] }],
  Price: [Price, { args: ["amount", "currency"], fields: ["cents"] }],
  Defined: [Defined, { args: ["amount", "currency"], fields: ["cents"] }],
  Guarded: [Guarded, { args: ["amount"], fields: ["cents"] }],
  Basket: [Basket, { args: ["items"], fields: ["derived"] }],
  Ticket: [Ticket, { args: ["title"], fields: ["number"] }],
  Email: [Email, { args: [], fields: ["value"] }],
};

const registered = <T extends ClassTable>(classes: T): T => {
  for (const [name, [constructor, parts]] of Object.entries(kinds))
    classes.register(
      { key: `shop/${name}`, module: "shop/kinds", export: name, args: [], fields: [], ...parts },
      constructor,
    );
  return classes;
};
const classes = registered(new Classes());
const pageClasses = registered(new ClassTable());
const reading = { classes, limits: defaultLimits, trusted: true, path: "result" };

const encodings: readonly [string, (value: unknown) => string, (text: string) => unknown][] = [
  [
    "serialized",
    (value) => encodeSerialized(value, { classes, path: "result" }) as string,
    (text) => decodeSerialized(text, reading),
  ],
  [
    "serialized by a page",
    (value) => encodeSerialized(value, { classes: pageClasses, path: "result" }) as string,
    (text) => decodeSerialized(text, { ...reading, classes: pageClasses }),
  ],
  [
    "superjson",
    (value) => encodeSuperjson(value, { classes, path: "result" }) as string,
    (text) => decodeSuperjson(text, reading),
  ],
];

describe.each(encodings)("%s", (_, encode, decode) => {
  it.each([
    ["freezes it", new Money(3, "USD")],
    ["seals it", new Sealed(3)],
    ["inherits from one that freezes it", new Price(3)],
    ["defines a member that can't be written", new Defined(3)],
    ["closes a setter", new Guarded(3)],
    ["derives lists, maps, dates and instances", new Basket(["tweed", "linen"])],
  ])(
    "an instance whose constructor %s arrives: what the constructor has set needs no setting",
    (_name, value) => {
      const arrived = decode(encode([value])) as object[];
      expect(arrived[0]).toStrictEqual(value);
      expect((arrived[0] as Money).cents).toBe((value as Money).cents);
    },
  );

  it("a closed instance that holds other values than its constructor sets is refused by the sender, with the member and the reason", () => {
    const ticket = new Ticket("Tosca");
    expect(() => encode({ seats: [ticket] })).toThrow(ValueNotSerializable);
    expect(() => encode({ seats: [ticket] })).toThrow(
      "result.seats[0].number: only the constructor of 'shop/Ticket' can set 'number', and it sets another value",
    );
  });

  it("an instance that its application has frozen is sent as it is: the receiver's constructor leaves it open", () => {
    const sealed = new Guarded(1);
    expect(decode(encode(Object.freeze(sealed)))).toStrictEqual(sealed);
  });

  it("a value that only the constructor can set is refused if it sets another", () => {
    const changed = encode(new Money(3)).replace("300", "301");
    expect(() => decode(changed)).toThrow(
      /^result(\.fields)?\.cents: only the constructor of 'shop\/Money' can set 'cents', and it sets another value$/,
    );
    expect(() => decode(encode(new Guarded(3)).replace("300", "301"))).toThrow(
      /^result(\.fields)?\.cents: Too late$/,
    );
  });

  it("what a constructor throws names the class, and the parameter that no member carries", () => {
    expect(() => decode(encode(new Email("ada@example.org")))).toThrow(
      /^result: the constructor of 'shop\/Email' failed: Cannot read properties of undefined \(reading 'includes'\)\. No member is called like its parameter 1, so that is missing$/,
    );
  });
});
