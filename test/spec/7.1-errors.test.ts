import { describe, expect, it } from "vitest";

import * as errors from "../../src/errors.ts";
import { defaultLimits } from "../../src/serializer/limits.ts";
import { Classes, OpaqueClasses } from "../../src/serializer/classes.ts";
import { decodeSerialized } from "../../src/serializer/serialized.ts";
import { traceOf, traced } from "../../src/trace.ts";
import { decodeAnswer } from "../../src/wire/decode-answer.ts";
import { errorOfText } from "../../src/wire/plain-error.ts";
import { type Door, knock } from "../_door.ts";
import { createWireClasses, OutOfStock, Refused } from "../_wire-classes.ts";

type ErrorClass = new (message?: string) => Error;
const throwing = (thrown: unknown, more: Partial<Door> = {}): Door => ({
  parameters: [],
  run: () => {
    throw thrown;
  },
  ...more,
});
/** The class of an error of the framework. */
const named = (name: string): ErrorClass => errors.frameworkErrors.get(name) as ErrorClass;
const serialized = { "x-svc-data-encoding": "serialized" };
const status = async (thrown: unknown): Promise<number> =>
  (await knock(throwing(thrown), {})).status;
/** What is told of an error that has no message of its own. */
const told = async (Class: ErrorClass): Promise<string> => {
  const answer = await knock(throwing(new Class()), {});
  return `${answer.status} ${answer.text}`;
};

describe("§7.1 the status of what a procedure throws", () => {
  it("§7.1-1 BadRequest is a 400", async () =>
    expect(await status(new errors.BadRequest())).toBe(400));
  it("§7.1-2 Unauthorized is a 401", async () =>
    expect(await status(new errors.Unauthorized())).toBe(401));
  it("§7.1-3 PaymentRequired is a 402", async () =>
    expect(await status(new errors.PaymentRequired())).toBe(402));
  it("§7.1-4 Forbidden is a 403", async () =>
    expect(await status(new errors.Forbidden())).toBe(403));
  it("§7.1-5 NotFound is a 404", async () => expect(await status(new errors.NotFound())).toBe(404));
  it("§7.1-6 Teapot is a 418", async () => expect(await status(new errors.Teapot())).toBe(418));
  it("§7.1-7 NotImplemented is a 501", async () =>
    expect(await status(new errors.NotImplemented())).toBe(501));
  class OwnStatus extends Error {
    static readonly status = 404;
    readonly status = 404;
  }
  it.each([
    new Error("x"),
    new TypeError("x"),
    new Refused("x", 1),
    new OwnStatus("x"),
    new DOMException("x", "NotFoundError"),
    new AggregateError([], "x"),
  ])("§7.1-8 any other error is a 500, custom ones that extend Error too: %s", async (error) => {
    expect(await knock(throwing(error), {})).toMatchObject({ status: 500, text: "x" });
  });
  it.each([
    "BadRequest",
    "Unauthorized",
    "PaymentRequired",
    "Forbidden",
    "NotFound",
    "NotImplemented",
  ])("§7.1-9 the generic classes take a message, all but Teapot: %s", async (name) => {
    expect(await knock(throwing(new (named(name))("mine")), {})).toMatchObject({ text: "mine" });
    expect(new (named(name))("").message).toBe("");
    expect(new (errors.Teapot as unknown as ErrorClass)("mine").message).toBe("I'm a teapot");
  });
  it("§7.1-10 a custom error has the status of the generic class that it extends, over any number of parents", async () => {
    class Sold extends OutOfStock {}
    class SoldTwice extends Sold {
      override readonly name: never = "Twice" as never;
    }
    for (const Class of [OutOfStock, Sold, SoldTwice])
      expect(await status(new Class("tea"))).toBe(404);
    expect(await status(new (class extends errors.Teapot {})())).toBe(418);
    expect(await status(new (class extends errors.ServiceError {})("x"))).toBe(500);
  });
});

describe("D4 the status of each error of the framework", () => {
  const classes = Object.values(errors).filter(
    (one): one is typeof errors.ServiceError => typeof one === "function" && "kind" in one,
  );
  it("D4-1 each error of the framework is one class, declared once with its status, which statusOf tells of whatever is thrown", () => {
    expect(new Set(classes.map((one) => one.kind)).size).toBe(classes.length);
    expect([...errors.frameworkErrors.keys()].toSorted()).toEqual(
      classes.map((one) => one.kind).toSorted(),
    );
    for (const Class of classes) {
      const error = new (Class as ErrorClass)("x");
      expect([error.name, errors.statusOf(error)]).toEqual([Class.kind, Class.status]);
    }
    for (const other of [new Error("x"), "x", null, undefined, 404, { status: 404 }])
      expect(errors.statusOf(other)).toBe(500);
  });
  const statuses = (...names: string[]): number[] =>
    names.map((name) => errors.statusOf(new (named(name))("x")));
  it("D4-2 requests that make no sense are 400: BadRequest, Missing-, Unknown- and InvalidParameterValue, InvalidVersionNumber, InvalidSerializedValue", () => {
    const names = [
      "BadRequest",
      "MissingParameterValue",
      "UnknownParameter",
      "InvalidParameterValue",
      "InvalidVersionNumber",
      "InvalidSerializedValue",
    ] as const;
    expect(statuses(...names)).toEqual(names.map(() => 400));
    for (const name of names) expect(new (named(name))("x")).toBeInstanceOf(errors.BadRequest);
  });
  it("D4-3 Unauthorized is 401", () => expect(statuses("Unauthorized")).toEqual([401]));
  it("D4-4 PaymentRequired is 402", () => expect(statuses("PaymentRequired")).toEqual([402]));
  it("D4-5 Forbidden is 403", () => expect(statuses("Forbidden")).toEqual([403]));
  it("D4-6 what isn't there is 404: NotFound, ProcedureNotFound, FileNotFound, SegmentNotFound", () => {
    expect(statuses("NotFound", "ProcedureNotFound", "FileNotFound", "SegmentNotFound")).toEqual([
      404, 404, 404, 404,
    ]);
  });
  it("D4-7 MethodNotAllowed is 405", () => expect(statuses("MethodNotAllowed")).toEqual([405]));
  it("D4-8 PayloadTooLarge is 413", () => expect(statuses("PayloadTooLarge")).toEqual([413]));
  it("D4-9 UnsupportedEncoding is 415", () =>
    expect(statuses("UnsupportedEncoding")).toEqual([415]));
  it("D4-10 Teapot is 418", () => expect(statuses("Teapot")).toEqual([418]));
  it("D4-11 any other error is 500, and so is ValueNotSerializable", () => {
    expect(statuses("ValueNotSerializable", "ServiceError", "MiddlewareNotCompleted")).toEqual([
      500, 500, 500,
    ]);
    expect(errors.statusOf(new RangeError())).toBe(500);
  });
  it("D4-12 NotImplemented is 501", () => expect(statuses("NotImplemented")).toEqual([501]));
  it("D4-14 NodeNotAvailable is 503, and says when to come again", async () => {
    expect(await knock(throwing(new errors.NodeNotAvailable()), {})).toMatchObject({
      status: 503,
      headers: { "retry-after": "1" },
    });
  });
  it("D4-15 DeadlineExceeded is 504", () => expect(statuses("DeadlineExceeded")).toEqual([504]));
  it("D4-17 the generic classes have a message of their own where none is given", async () => {
    const {
      BadRequest,
      Unauthorized,
      PaymentRequired,
      Forbidden,
      NotFound,
      Teapot,
      NotImplemented,
    } = errors;
    expect(
      await Promise.all(
        [
          BadRequest,
          Unauthorized,
          PaymentRequired,
          Forbidden,
          NotFound,
          Teapot,
          NotImplemented,
        ].map(told),
      ),
    ).toEqual([
      "400 Invalid request",
      "401 Unauthorized",
      "402 Payment required",
      "403 Forbidden",
      "404 Not found",
      "418 I'm a teapot",
      "501 Not implemented",
    ]);
  });
  it("D6.errors-3 ProcedureNotFound is a NotFound", () => {
    expect(new errors.ProcedureNotFound("x")).toBeInstanceOf(errors.NotFound);
    expect(new errors.NotFound()).not.toBeInstanceOf(errors.ProcedureNotFound);
  });
});

describe("D4 what was thrown and is no error", () => {
  it.each<[string, unknown, string]>([
    ["text", "text", "text"],
    ["empty text", "", ""],
    ["number", -0, "0"],
    ["null", null, "null"],
    ["undefined", undefined, "undefined"],
    ["object", { a: 1 }, "[object Object]"],
    ["object with a text", { toString: () => "mine" }, "mine"],
    ["object without one", Object.create(null), "A value that has no text was thrown"],
    [
      "object whose text throws",
      {
        toString: () => {
          throw new Error("no");
        },
      },
      "A value that has no text was thrown",
    ],
    ["list", [1, [2]], "1,2"],
    ["symbol", Symbol("mine"), "Symbol(mine)"],
    ["promise", Promise.resolve(1), "[object Promise]"],
    ["function, whose text is its source", () => "secret", "A function was thrown"],
  ])(
    "D4-22 what is thrown and is no error becomes a 500 whose message is its text: %s",
    async (_, thrown, text) => {
      expect(await knock(throwing(thrown), {})).toMatchObject({ status: 500, text });
      const answer = await knock(throwing(thrown), { headers: serialized });
      expect(JSON.parse(answer.text)).toMatchObject({ type: "Error", message: text });
      const line = "[a/b | v1.0.0]";
      expect([traced(thrown, line).message, ...traceOf(traced(thrown, line))]).toEqual([
        text,
        line,
      ]);
    },
  );
  it("D4-23 the body of an error is plain text", async () => {
    expect((await knock(throwing(new errors.Forbidden("ä\n<b>")), {})).headers).toMatchObject({
      "content-type": "text/plain; charset=utf-8",
    });
  });
  it("D4-24 under the header the body of an error is the serialized error", async () => {
    const answer = await knock(throwing(new errors.Forbidden("not you")), { headers: serialized });
    expect(answer).toMatchObject({ status: 403, headers: { "content-type": "application/json" } });
    expect(JSON.parse(answer.text)).toEqual({
      serialized: true,
      name: "Error",
      type: "Forbidden",
      message: "not you",
      trace: [],
      fields: {},
    });
  });
  const formOf = async (error: Error) =>
    JSON.parse((await knock(throwing(error), { headers: serialized })).text) as {
      type: string;
      trace: unknown;
    };
  it("D6.errors-1 `type` in the form of an error is the error's name", async () => {
    class Renamed extends errors.NotFound {
      override readonly name: string = "Mine";
    }
    expect((await formOf(new Renamed("x"))).type).toBe("Mine");
    expect((await formOf(Object.assign(new TypeError("x"), { name: "Late" }))).type).toBe("Late");
    expect((await formOf(new TypeError("x"))).type).toBe("TypeError");
  });
  it("D6.errors-2 `trace` in the form of an error is a list of its lines", async () => {
    const lines = ["[a/b | v1.0.0]", "[a/c | v0.0.0]"];
    expect((await formOf(lines.reduce<Error>(traced, new errors.NotFound("x")))).trace).toEqual(
      lines,
    );
    expect((await formOf(new errors.NotFound("x"))).trace).toEqual([]);
  });
  it("a path of 128 procedures has a line of each; of a longer one the origin, the end and how many lie between (chosen)", async () => {
    const line = (at: number): string => `[deep/p${at} | v0.0.0]`;
    const lines = (count: number): string[] => Array.from({ length: count }, (_, at) => line(at));
    const linesOf = (count: number): readonly string[] =>
      traceOf(lines(count).reduce<Error>(traced, new Error("x")));
    expect(linesOf(128)).toEqual(lines(128));
    const longer = (count: number): string[] => [
      ...lines(100),
      `… ${count - 127} more`,
      ...lines(count).slice(-27),
    ];
    for (const count of [129, 130, 5_000]) expect(linesOf(count)).toEqual(longer(count));
    // The next machine goes on where this one stopped, in both encodings.
    const error = lines(200).reduce<Error>(traced, new Error("too\ndeep"));
    expect((await formOf(error)).trace).toEqual(longer(200));
    const { text, status } = await knock(throwing(error), {});
    const body = new TextEncoder().encode(text);
    const back = await decodeAnswer(
      { status, headers: {}, body },
      { classes: new OpaqueClasses(), errorOfText },
    ).catch((thrown: unknown) => thrown);
    expect((back as Error).message).toBe("too\ndeep");
    expect(traceOf(traced(back, line(200)))).toEqual(longer(201));
  });
});

describe("§7.1 what of an error can't be sent", () => {
  const classes = createWireClasses();
  const send = async (error: Error): Promise<Error> => {
    const answer = await knock(throwing(error, { trusted: true }), { headers: serialized });
    return decodeSerialized(answer.text, {
      classes,
      limits: defaultLimits,
      trusted: true,
    }) as Error;
  };
  it("§7.1-11 a custom error must be serializable: what of it is not is left out, and class, message and the rest arrive", async () => {
    const error = Object.assign(new OutOfStock("tea"), { since: { act: () => 1 } as never });
    expect(await send(error)).toMatchObject({
      constructor: OutOfStock,
      sku: "tea",
      message: "Nothing left of tea",
    });
    expect((await send(error)) as OutOfStock).not.toHaveProperty("since.act");
    const mixed = Object.assign(new RangeError("far", { cause: new WeakMap() }), {
      kept: 1n,
      sock: { deep: [Symbol("x")] },
      act: () => 1,
    });
    const back = await send(mixed);
    expect(back).toMatchObject({ constructor: RangeError, message: "far", kept: 1n });
    expect(Object.keys(back)).toEqual(["kept"]);
  });
  it("§7.1-12 fields that a custom error adds must be readable: by a getter, or as members", async () => {
    const back = (await send(new Refused("no", 7))) as Refused;
    expect([back.constructor, back.code]).toEqual([Refused, 7]);
    class Late extends errors.NotFound {
      readonly #by: number;
      readonly #why = "not readable";
      constructor(by: number) {
        super("late");
        this.#by = by;
      }
      get by(): number {
        return this.#by;
      }
      whole(): string {
        return `${this.#by} ${this.#why}`;
      }
    }
    const record = {
      key: "errors/Late",
      module: "errors",
      export: "Late",
      args: ["by"],
      fields: [],
      error: true as const,
    };
    const late = new Classes();
    late.register(record, Late);
    const door = throwing(new Late(7), { classes: late });
    expect(JSON.parse((await knock(door, { headers: serialized })).text)).toMatchObject({
      key: "errors/Late",
      args: { 0: 7 },
      fields: {},
    });
  });
  it("causes that go round end where they begin to repeat", async () => {
    const one = new errors.NotFound("one");
    const two = new TypeError("two", { cause: one });
    one.cause = two;
    const back = await send(one);
    expect(back).toMatchObject({
      constructor: errors.NotFound,
      cause: { message: "two", constructor: TypeError },
    });
    expect((back.cause as Error).cause).toBeUndefined();
    const of: { it?: Error } = {};
    const self = Object.assign(new Error("self"), { of });
    of.it = self;
    expect(Object.keys(await send(self))).toEqual([]);
  });
  it("an AggregateError keeps its errors, each of its class", async () => {
    const back = (await send(
      new AggregateError([new OutOfStock("tea"), "text", new TypeError("x")], "all failed"),
    )) as AggregateError;
    expect(back).toMatchObject({ constructor: AggregateError, message: "all failed" });
    expect(back.errors.map((one: unknown) => (one as object).constructor)).toEqual([
      OutOfStock,
      String,
      TypeError,
    ]);
    expect(Object.keys(back)).toEqual([]);
    const unsendable = (await send(
      new AggregateError([Object.assign(new Error("one"), { s: Symbol("x") }), 2], "x"),
    )) as AggregateError;
    expect(unsendable.errors).toMatchObject([{ message: "one" }, 2]);
  });
  it("a DOMException keeps name and message", async () => {
    expect(await send(new DOMException("late", "TimeoutError"))).toMatchObject({
      name: "TimeoutError",
      message: "late",
    });
  });
  it("a frozen one arrives, and one with a message of a megabyte", async () => {
    expect(await send(Object.freeze(new errors.Forbidden("x")))).toMatchObject({
      constructor: errors.Forbidden,
      message: "x",
    });
    expect(traced(Object.freeze(new Error("x")), "[a | v1.0.0]").message).toBe("x");
    expect((await send(new Error("x".repeat(1_000_000)))).message).toHaveLength(1_000_000);
  });
});
