// Instances whose members are `undefined`, and those whose constructors can't be given what they
// want; in both encodings.

import { describe, expect, it } from "vitest";

import { InvalidSerializedValue, ValueNotSerializable } from "../../../src/base/errors.ts";
import type { ClassRecord } from "../../../src/base/manifest.ts";
import { Classes } from "../../../src/codec/classes.ts";
import { defaultLimits } from "../../../src/base/limits.ts";
import { decodeSerialized, encodeSerialized } from "../../../src/codec/serialized.ts";
import { decodeSuperjson, encodeSuperjson } from "../../../src/codec/superjson/superjson.ts";
import { mark } from "./_codec.ts";

class Draft {
  title: string | undefined;
  extra: string | null | undefined = null;
  #pages: number | undefined = 1;
  readonly calls: string[] = [];

  constructor(title: string | undefined = "untitled") {
    this.title = title;
  }

  get pages(): number | undefined {
    return this.#pages;
  }

  set pages(value: number | undefined) {
    this.calls.push(`pages ${value}`);
    this.#pages = value;
  }
}

/** Its getter gives undefined until its setter was called, which takes no undefined. */
class Strict {
  #name: string | undefined;

  get name(): string | undefined {
    return this.#name;
  }

  set name(value: string | undefined) {
    if (value === undefined) throw new TypeError("A name must be text");
    this.#name = value;
  }
}

/** Nothing can set what its constructor gives a default. */
class Sealed {
  #size: number | undefined;

  constructor(size = 1) {
    this.#size = size;
  }

  get size(): number | undefined {
    return this.#size;
  }

  clear(): this {
    this.#size = undefined;
    return this;
  }
}

class Tags {
  readonly tags: unknown;

  constructor(...tags: string[]) {
    this.tags = tags;
  }
}

class Point {
  x: number;
  y: number;

  constructor({ x, y }: { x: number; y: number }) {
    this.x = x;
    this.y = y;
  }
}

class BadPoint extends Error {
  override readonly name = "BadPoint";
  x: number;

  constructor({ x }: { x: number }) {
    super(`no point at ${x}`);
    this.x = x;
  }
}

const record = (
  name: string,
  args: ClassRecord["args"],
  fields: readonly string[],
  more: Partial<ClassRecord> = {},
): ClassRecord => ({
  key: `shop/${name}`,
  module: "shop/shop",
  export: name,
  args,
  fields,
  ...more,
});
const classes = new Classes();
for (const [one, constructor] of [
  [record("Draft", ["title"], ["extra", "pages"]), Draft],
  [record("Strict", [], ["name"]), Strict],
  [record("Sealed", ["size"], []), Sealed],
  [record("Tags", ["...tags"], []), Tags],
  [record("Point", [], ["x", "y"], { pattern: true }), Point],
  [record("BadPoint", [], ["x"], { pattern: true, error: true }), BadPoint],
] as const)
  classes.register(one, constructor);

const options = { classes, limits: defaultLimits, trusted: true, path: "result" };
const encodings = [
  [
    "serialized",
    (value: unknown) => encodeSerialized(value, options) as string,
    (text: string) => decodeSerialized(text, options),
  ],
  [
    "superjson",
    (value: unknown) => encodeSuperjson(value, options) as string,
    (text: string) => decodeSuperjson(text, options),
  ],
] as const;

describe.each(encodings)("an instance in %s", (_, encode, decode) => {
  const there = <T>(value: T): T => decode(encode(value)) as T;

  it("an instance keeps undefined members, and not the defaults of its class", () => {
    const draft = Object.assign(new Draft("x"), {
      title: undefined,
      extra: undefined,
      pages: undefined,
    });
    const [back] = there([draft]);
    expect([back?.title, back?.extra, back?.pages]).toEqual([undefined, undefined, undefined]);
    const other = there(new Draft());
    expect([other.title, other.extra, other.pages]).toEqual(["untitled", null, 1]);
  });

  it("an instance keeps null and undefined apart", () => {
    expect(there(Object.assign(new Draft(), { extra: null })).extra).toBeNull();
    expect(there(Object.assign(new Draft(), { extra: undefined })).extra).toBeUndefined();
  });

  it("no setter is called with an undefined that its getter returns anyway", () => {
    expect(there(new Strict()).name).toBeUndefined();
    expect(there(Object.assign(new Strict(), { name: "Ada" })).name).toBe("Ada");
  });

  it("an instance whose undefined argument would become the default is refused", () => {
    expect(there(new Sealed(5)).size).toBe(5);
    const act = (): unknown => there({ at: new Sealed().clear() });
    expect(act).toThrow(InvalidSerializedValue);
    expect(act).toThrow(
      /^result\.at: only the constructor of 'shop\/Sealed' can set 'size', and it sets another value$/,
    );
  });

  it("an instance whose constructor takes a rest parameter is sent if the member of its name is an array", () => {
    expect(there(new Tags("a", "b")).tags).toEqual(["a", "b"]);
    expect(there(new Tags()).tags).toEqual([]);
    for (const tags of [new Set(["a"]), "a", undefined, { length: 1 }]) {
      const act = (): unknown => encode({ in: [Object.assign(new Tags(), { tags })] });
      expect(act).toThrow(ValueNotSerializable);
      expect(act).toThrow(
        /^result\.in\[0\]\.tags: the constructor of 'shop\/Tags' takes '\.\.\.tags', so this must be an array$/,
      );
    }
  });

  it("an instance whose constructor destructures a parameter is refused by the sender, with its path and a hint", () => {
    expect(() => encode({ points: [new Point({ x: 1, y: 2 })] })).toThrow(
      new ValueNotSerializable(
        "result.points[0]: an instance of 'shop/Point' can't be sent: its constructor destructures a parameter. Name the parameter after a member, or give it a default",
      ),
    );
  });

  it("an error whose constructor destructures a parameter arrives without its class", () => {
    const back = there(new BadPoint({ x: 3 }));
    expect(back).toBeInstanceOf(Error);
    expect([back.name, back.message, back.x]).toEqual(["BadPoint", "no point at 3", 3]);
  });
});

it("a form of a class whose constructor destructures its parameter is refused in our words", () => {
  const text = JSON.stringify({
    p: mark("class", { key: "shop/Point", args: {}, fields: { x: 1 } }),
  });
  expect(() => decodeSerialized(text, options)).toThrow(
    /^result\.p: an instance of 'shop\/Point' can't be sent/,
  );
});

it("a constructor argument that a message leaves out has its default", () => {
  const text = JSON.stringify(mark("class", { key: "shop/Draft", args: {}, fields: {} }));
  expect(decodeSerialized(text, options)).toMatchObject({ title: "untitled", extra: null });
});
