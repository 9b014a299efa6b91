// Values of another realm, and what objects inherit from an extended Object.prototype.

import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, it } from "vitest";
import { ClassTable } from "../../../src/codec/class-table.ts";
import { loadNamed } from "../../../src/codec/named-classes.ts";
import { encodeArguments, encodeSerialized } from "../../../src/codec/serialized.ts";
import { decodeSuperjson, encodeSuperjson } from "../../../src/codec/superjson/superjson.ts";
import type { HttpResponse } from "../../../src/base/ports.ts";
import { ofForeignError } from "../../../src/base/foreign-error.ts";
import { traced, traceOf } from "../../../src/base/trace.ts";
import { encodeError } from "../../../src/wire/encode-error.ts";
import { encodeCall } from "../../../src/wire/superjson.ts";
import { createWireClasses, Person } from "../../_wire-classes.ts";
import { decode, encode, trusted } from "./_codec.ts";

const services = createWireClasses();
/** The encoder of pages, which services don't use. */
const pages = { classes: new ClassTable(), path: "result" };
const foreign = (source: string): unknown => runInNewContext(`(${source})`, { URL });

/** Only says what it is. */
class Liar {
  readonly #kind: string;
  constructor(kind: string) {
    this.#kind = kind;
  }
  get [Symbol.toStringTag](): string {
    return this.#kind;
  }
}

const encoders: readonly [string, (value: unknown) => unknown][] = [
  ["a service", (value) => decode(JSON.parse(encode(value)), trusted)],
  ["a page", (value) => decode(JSON.parse(encodeSerialized(value, pages) as string), trusted)],
  [
    "superjson",
    (value) => decodeSuperjson(encodeSuperjson(value, { classes: services }) as string, trusted),
  ],
];

describe.each(encoders)("a value of another realm, sent by %s", (_, roundTrip) => {
  it.each([
    ["Date", "new Date(86400000)", new Date(86_400_000)],
    ["Map", 'new Map([["a", new Date(0)], [new Set([1]), 2n]])', undefined],
    ["Set", 'new Set(["a", new Map([[1, 2]])])', new Set(["a", new Map([[1, 2]])])],
    ["RegExp", "/a+/gi", /a+/gi],
    ["URL", 'new URL("http://a.b/c?d")', new URL("http://a.b/c?d")],
    ["bytes", "new Uint8Array([1, 2, 3])", new Uint8Array([1, 2, 3])],
    ["list of dates", "[new Date(0), [new Date(1)]]", [new Date(0), [new Date(1)]]],
    ["plain object", "{ a: { b: [1, undefined, 2n] } }", { a: { b: [1, undefined, 2n] } }],
  ])("arrives as a %s of the receiver's", (_name, source, expected) => {
    const value = roundTrip(foreign(source));
    if (expected !== undefined) return expect(value).toStrictEqual(expected);
    const [[key, date], [set, big]] = [...(value as Map<unknown, unknown>)] as [
      [unknown, unknown],
      [unknown, unknown],
    ];
    expect([key, date, set, big]).toStrictEqual(["a", new Date(0), new Set([1]), 2n]);
  });

  it("is refused if it only has the tag, or has members besides its content", () => {
    for (const kind of ["Date", "Map", "Set", "URL", "ArrayBuffer"])
      expect(() => roundTrip(new Liar(kind))).toThrow(/an instance of 'Liar' can't be sent/);
    expect(() => roundTrip(foreign("Object.assign(new Date(0), { zone: 'CET' })"))).toThrow(
      /\.zone: what this Date has besides its content can't be sent/,
    );
  });
});

describe("a value of another realm", () => {
  it("may be an ArrayBuffer", () => {
    expect(
      decode(JSON.parse(encode(foreign("new Uint8Array([7]).buffer"))), trusted),
    ).toStrictEqual(new Uint8Array([7]).buffer);
  });

  it("may be an error, which keeps name, message and, for services, what it carries", () => {
    const thrown = foreign(
      'Object.assign(new RangeError("far"), { limit: 3, cause: new TypeError("odd") })',
    );
    const options = { classes: services, trusted: true, path: "result" };
    for (const error of [
      decode(JSON.parse(encodeSerialized(thrown, options) as string), trusted),
      decodeSuperjson(encodeSuperjson(thrown, options) as string, trusted),
    ] as (RangeError & { limit: number })[]) {
      expect(error).toBeInstanceOf(RangeError);
      expect([error.name, error.message, error.limit]).toEqual(["RangeError", "far", 3]);
      expect(error.cause).toBeInstanceOf(TypeError);
    }
  });

  it("may be a map that contains itself, in superjson", () => {
    const map = encoders[2]![1](
      foreign('(() => { const map = new Map(); return map.set("self", map); })()'),
    ) as Map<string, unknown>;
    expect(map.get("self")).toBe(map);
  });

  it("may be a file, as those of jsdom: it's read before it's sent", async () => {
    /** As jsdom makes them: not a Blob for the platform. */
    class File {
      get [Symbol.toStringTag](): string {
        return "File";
      }
      readonly name = "a.txt";
      readonly type = "text/plain";
      readonly lastModified = 5;
      async arrayBuffer(): Promise<ArrayBuffer> {
        return new TextEncoder().encode("hello").buffer;
      }
    }
    class Form {
      get [Symbol.toStringTag](): string {
        return "FormData";
      }
      *[Symbol.iterator](): Generator {
        yield ["f", new File()];
      }
    }
    for (const value of [new File(), new Form()]) {
      const { body } = await encodeCall(
        new Map([["a", value]]),
        { classes: services },
        "serialized",
      );
      const text = await (body as Blob).text();
      expect(text).toContain("hello");
      expect(text).toContain('"fileName":"a.txt"');
    }
    expect(JSON.parse(await encodeSerialized(new File(), { classes: services }))).toMatchObject({
      type: "File",
      base64: "aGVsbG8=",
      fileName: "a.txt",
    });
  });
});

/** A DOMException of another realm: a class like it, as `vm` has none. */
const exceptionOf = (message: string): unknown =>
  foreign(`new (class DOMException {
    get name() { return "AbortError"; }
    get message() { return ${JSON.stringify(message)}; }
    get [Symbol.toStringTag]() { return "DOMException"; }
  })()`);

describe("a thrown error of another realm", () => {
  const passed = (source: string): Error =>
    ofForeignError(traced(foreign(source), "[shop/quote | v1.0.0]"))!;

  it("stays the object that was thrown, with trace lines, for callers in the same process", () => {
    const thrown = foreign('new RangeError("far")');
    expect(traced(thrown, "[shop/quote | v1.0.0]")).toBe(thrown);
    expect(traceOf(thrown)).toEqual(["[shop/quote | v1.0.0]"]);
  });

  it("keeps class, name, message, stack and what it carries in an answer", () => {
    const error = passed('Object.assign(new RangeError("far"), { limit: 3, name: "Far" })');
    expect(passed('new RangeError("far")')).toBeInstanceOf(RangeError);
    expect(error).toBeInstanceOf(Error);
    const { name, message, limit } = error as Error & { limit: unknown };
    expect([name, message, limit]).toEqual(["Far", "far", 3]);
    expect(error.stack).toContain("evalmachine");
    expect(traceOf(error)).toEqual(["[shop/quote | v1.0.0]"]);
    expect(Object.keys(error)).not.toContain("message");
  });

  it("may be an AggregateError, or have the name of a class that isn't an error's", () => {
    const error = passed('new AggregateError([new TypeError("odd"), 7], "both")');
    expect(error).toBeInstanceOf(AggregateError);
    expect((error as AggregateError).errors).toHaveLength(2);
    for (const name of ["DOMException", "Map", "undefined", "NaN"])
      expect(passed(`Object.assign(new Error("x"), { name: "${name}" })`).name).toBe(name);
  });

  it("is hidden from outsiders if it's of the system", () => {
    const thrown = foreign('Object.assign(new Error("ENOENT, open /secret"), { syscall: "open" })');
    const answer = encodeError(thrown, "plain", { classes: services }) as HttpResponse;
    expect(answer.body).not.toContain("secret");
  });

  it("is shown to outsiders as a cause, and among entries, as one of this realm is", () => {
    const shown = (make: (message: string) => unknown): unknown =>
      JSON.parse(
        (
          encodeError(new AggregateError([make("a")], "x", { cause: make("b") }), "serialized", {
            classes: services,
          }) as HttpResponse
        ).body as string,
      );
    const there = shown((message) => foreign(`new TypeError("${message}")`));
    expect(there).toEqual(shown((message) => new TypeError(message)));
    expect(JSON.stringify(there)).toContain('"message":"b"');
    const exceptions = shown((message) => exceptionOf(message));
    expect(exceptions).toEqual(shown((message) => new DOMException(message, "AbortError")));
    expect(JSON.stringify(exceptions)).toContain('"message":"b"');
  });

  it("may be a DOMException, or only have the tag", () => {
    const exception = exceptionOf("left");
    expect(ofForeignError(traced(exception, ""))).toBeInstanceOf(DOMException);
    expect(ofForeignError(exception)).toMatchObject({ name: "AbortError", message: "left" });
    expect(encodeError(new Liar("Error"), "plain", { classes: services })).toMatchObject({
      status: 500,
    });
  });
});

it("an event that is thrown is no error of another realm, although its tag begins as an error's", () => {
  // As a page has it whose worker or WebSocket fails, and rejects with what it was told.
  const event = new Liar("ErrorEvent");
  expect(traced(event, "[shop/quote | v1.0.0]")).toMatchObject({
    message: "[object ErrorEvent]",
    trace: ["[shop/quote | v1.0.0]"],
  });
  expect(traced(event, "")).toBeInstanceOf(Error);
});

describe("what Object.prototype has besides its own counts nowhere", () => {
  const prototype = Object.prototype as unknown as Record<string, unknown>;
  const extend = (members: object): void => void Object.assign(prototype, members);
  afterEach(() => {
    for (const key of Object.keys(prototype)) delete prototype[key];
  });
  const wire = encode({ person: new Person("Ada", new Date(0)), list: [new Map([[1, 2n]])] });
  const anyone = {
    extend: () => {},
    born: "never",
    value: 1,
    key: "x",
    args: {},
    fields: {},
    part: {},
  };

  it("an instance in an answer is read and written without it", () => {
    const expected = decode(JSON.parse(wire), { status: 200 }) as { person: Person };
    extend(anyone);
    const value = decode(JSON.parse(wire), { status: 200 }) as { person: Person };
    const written = [encode(value), encodeSerialized(value, { classes: services })];
    const graph = encodeSuperjson(value, { classes: services }) as string;
    const again = decodeSuperjson(graph, { ...trusted, status: 200 });
    const call = encodeArguments(new Map([["a", value]]), { classes: services }).text;
    for (const key of Object.keys(prototype)) delete prototype[key];
    expect(value).toStrictEqual(expected);
    expect(written).toEqual([wire, wire]);
    expect(again).toStrictEqual(expected);
    expect(call).toBe(`{"a":${wire}}`);
  });

  it("a form that lacks a member doesn't get it from there", () => {
    const failure = (name: string): unknown => {
      try {
        return decode({ serialized: true, name }, trusted);
      } catch (error) {
        return (error as Error).message;
      }
    };
    extend({ value: {}, values: [] });
    const failures = ["Object", "Set"].map(failure);
    for (const key of Object.keys(prototype)) delete prototype[key];
    expect(failures).toEqual([
      "args: this is not a valid Object form",
      "args: this is not a valid Set form",
    ]);
  });

  it("classes are loaded only for keys that a message has itself", async () => {
    const asked: string[] = [];
    const classes = new ClassTable();
    classes.load = async (keys) => void asked.push(...(keys ?? []));
    const inherited: Record<string, unknown> = { serialized: true, key: "shop/Secret" };
    inherited["self"] = inherited;
    extend({ inherited });
    await loadNamed(JSON.parse(wire), classes);
    expect(asked).toEqual(["people/Person"]);
  });
});
