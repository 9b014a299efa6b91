import { describe, expect, it } from "vitest";

import * as errors from "../../src/base/errors.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { Classes, OpaqueClasses } from "../../src/codec/classes.ts";
import { decodeSerialized } from "../../src/codec/serialized.ts";
import { traceOf, traced } from "../../src/base/trace.ts";
import { decodeAnswer } from "../../src/wire/decode-answer.ts";
import { errorOfText } from "../../src/wire/plain-error.ts";
import { type Endpoint, callEndpoint } from "../_endpoint.ts";
import { createWireClasses, OutOfStock, Refused } from "../_wire-classes.ts";

type ErrorClass = new (message?: string) => Error;
const throwing = (thrown: unknown, more: Partial<Endpoint> = {}): Endpoint => ({
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
  (await callEndpoint(throwing(thrown), {})).status;
/** The default message of each error. */
const answerOf = async (Class: ErrorClass): Promise<string> => {
  const answer = await callEndpoint(throwing(new Class()), {});
  return `${answer.status} ${answer.text}`;
};

describe("the status of what a procedure throws", () => {
  it("errors-1: BadRequest is a 400", async () =>
    expect(await status(new errors.BadRequest())).toBe(400));
  it("errors-2: Unauthorized is a 401", async () =>
    expect(await status(new errors.Unauthorized())).toBe(401));
  it("errors-3: PaymentRequired is a 402", async () =>
    expect(await status(new errors.PaymentRequired())).toBe(402));
  it("errors-4: Forbidden is a 403", async () =>
    expect(await status(new errors.Forbidden())).toBe(403));
  it("errors-5: NotFound is a 404", async () =>
    expect(await status(new errors.NotFound())).toBe(404));
  it("errors-6: Teapot is a 418", async () => expect(await status(new errors.Teapot())).toBe(418));
  it("errors-7: NotImplemented is a 501", async () =>
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
  ])("errors-8: any other error is a 500, custom ones that extend Error too: %s", async (error) => {
    expect(await callEndpoint(throwing(error), {})).toMatchObject({ status: 500, text: "x" });
  });
  it.each([
    "BadRequest",
    "Unauthorized",
    "PaymentRequired",
    "Forbidden",
    "NotFound",
    "NotImplemented",
  ])("errors-9: the generic classes take a message, all but Teapot: %s", async (name) => {
    expect(await callEndpoint(throwing(new (named(name))("mine")), {})).toMatchObject({
      text: "mine",
    });
    expect(new (named(name))("").message).toBe("");
    expect(new (errors.Teapot as unknown as ErrorClass)("mine").message).toBe("I'm a teapot");
  });
  it("errors-10: a custom error has the status of the generic class that it extends, over any number of parents", async () => {
    class Sold extends OutOfStock {}
    class SoldTwice extends Sold {
      override readonly name: never = "Twice" as never;
    }
    for (const Class of [OutOfStock, Sold, SoldTwice])
      expect(await status(new Class("tea"))).toBe(404);
    expect(await status(new (class extends errors.Teapot {})())).toBe(418);
    expect(await status(new (class extends errors.ServiceError {})("x"))).toBe(500);
  });
  it("errors-52: a custom error that extends a class of the runtime may set a static status of its own from 400 to 599; any other is a 500", async () => {
    const withStatus = (own: unknown) =>
      class extends errors.ServiceError {
        static override readonly status: number = own as number;
      };
    for (const own of [400, 409, 422, 429, 599])
      expect(await status(new (withStatus(own))("x"))).toBe(own);
    for (const own of [0, 204, 304, 399, 600, 422.5, Number.NaN, "422", null])
      expect(await status(new (withStatus(own))("x"))).toBe(500);
    class Full extends errors.NotFound {
      static override readonly status: number = 409;
    }
    expect(await status(new (class extends Full {})("x"))).toBe(409);
  });
});

describe("the status of each error of the framework", () => {
  const classes = Object.values(errors).filter(
    (value): value is typeof errors.ServiceError => typeof value === "function" && "kind" in value,
  );
  it("errors-21: each error of the framework is one class with its status, which statusOf returns for anything thrown", () => {
    expect(new Set(classes.map((Class) => Class.kind)).size).toBe(classes.length);
    expect([...errors.frameworkErrors.keys()].toSorted()).toEqual(
      classes.map((Class) => Class.kind).toSorted(),
    );
    for (const Class of classes) {
      const error = new (Class as ErrorClass)("x");
      expect([error.name, errors.statusOf(error)]).toEqual([Class.kind, Class.status]);
    }
    for (const value of [new Error("x"), "x", null, undefined, 404, { status: 404 }])
      expect(errors.statusOf(value)).toBe(500);
  });
  const statuses = (...names: string[]): number[] =>
    names.map((name) => errors.statusOf(new (named(name))("x")));
  it("errors-22: invalid requests are 400: BadRequest, Missing-, Unknown- and InvalidParameterValue, InvalidVersionNumber, InvalidSerializedValue", () => {
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
  it("errors-23: Unauthorized is 401", () => expect(statuses("Unauthorized")).toEqual([401]));
  it("errors-24: PaymentRequired is 402", () => expect(statuses("PaymentRequired")).toEqual([402]));
  it("errors-25: Forbidden is 403", () => expect(statuses("Forbidden")).toEqual([403]));
  it("errors-26: missing things are 404: NotFound, ProcedureNotFound, FileNotFound, SegmentNotFound", () => {
    expect(statuses("NotFound", "ProcedureNotFound", "FileNotFound", "SegmentNotFound")).toEqual([
      404, 404, 404, 404,
    ]);
  });
  it("errors-27: MethodNotAllowed is 405", () =>
    expect(statuses("MethodNotAllowed")).toEqual([405]));
  it("errors-28: PayloadTooLarge is 413", () => expect(statuses("PayloadTooLarge")).toEqual([413]));
  it("errors-29: UnsupportedEncoding is 415", () =>
    expect(statuses("UnsupportedEncoding")).toEqual([415]));
  it("errors-30: Teapot is 418", () => expect(statuses("Teapot")).toEqual([418]));
  it("errors-31: any other error is 500, and so is ValueNotSerializable", () => {
    expect(statuses("ValueNotSerializable", "ServiceError", "MiddlewareNotCompleted")).toEqual([
      500, 500, 500,
    ]);
    expect(errors.statusOf(new RangeError())).toBe(500);
  });
  it("errors-32: NotImplemented is 501", () => expect(statuses("NotImplemented")).toEqual([501]));
  it("errors-34: NodeNotAvailable is 503 with retry-after", async () => {
    expect(await callEndpoint(throwing(new errors.NodeNotAvailable()), {})).toMatchObject({
      status: 503,
      headers: { "retry-after": "1" },
    });
  });
  it("errors-35: DeadlineExceeded is 504", () =>
    expect(statuses("DeadlineExceeded")).toEqual([504]));
  it("errors-37: the generic classes have a default message", async () => {
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
        ].map(answerOf),
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
  it("a class of an application has the default message of the class that it extends, and none under ServiceError (errors-37)", () => {
    class Sold extends errors.NotFound {}
    class Moths extends errors.ServiceError {}
    const { RequestTimeout, ServiceError, UnknownParameter } = errors;
    expect(
      [Sold, Moths, ServiceError, RequestTimeout, UnknownParameter].map(
        (errorClass) => new errorClass().message,
      ),
    ).toEqual(["Not found", "", "", "Request timeout", "Invalid request"]);
    expect(new Moths("eaten").message).toBe("eaten");
    expect(new Moths("").message).toBe("");
  });
  it("errors-49: ProcedureNotFound is a NotFound", () => {
    expect(new errors.ProcedureNotFound("x")).toBeInstanceOf(errors.NotFound);
    expect(new errors.NotFound()).not.toBeInstanceOf(errors.ProcedureNotFound);
  });
});

describe("what was thrown and is no error", () => {
  it.each<[string, unknown, string]>([
    ["text", "text", "text"],
    ["empty text", "", ""],
    ["number", -0, "0"],
    ["null", null, "null"],
    ["undefined", undefined, "undefined"],
    ["object", { a: 1 }, "[object Object]"],
    ["object with a text", { toString: () => "mine" }, "mine"],
    ["object without one", Object.create(null), "A value without text"],
    [
      "object whose text throws",
      {
        toString: () => {
          throw new Error("no");
        },
      },
      "A value without text",
    ],
    ["list", [1, [2]], "1,2"],
    ["symbol", Symbol("mine"), "Symbol(mine)"],
    ["promise", Promise.resolve(1), "[object Promise]"],
    ["function, whose text is its source", () => "secret", "A function was thrown"],
  ])(
    "errors-42: a thrown value that isn't an error becomes a 500 with its text as message: %s",
    async (_, thrown, text) => {
      expect(await callEndpoint(throwing(thrown), {})).toMatchObject({ status: 500, text });
      const answer = await callEndpoint(throwing(thrown), { headers: serialized });
      expect(JSON.parse(answer.text)).toMatchObject({ type: "Error", message: text });
      const line = "[a/b | v1.0.0]";
      expect([traced(thrown, line).message, ...traceOf(traced(thrown, line))]).toEqual([
        text,
        line,
      ]);
    },
  );
  it("errors-43: the body of an error is plain text", async () => {
    expect(
      (await callEndpoint(throwing(new errors.Forbidden("ä\n<b>")), {})).headers,
    ).toMatchObject({
      "content-type": "text/plain; charset=utf-8",
    });
  });
  it("errors-44: with the header, the body of an error is the serialized error", async () => {
    const answer = await callEndpoint(throwing(new errors.Forbidden("not you")), {
      headers: serialized,
    });
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
    JSON.parse((await callEndpoint(throwing(error), { headers: serialized })).text) as {
      type: string;
      trace: unknown;
    };
  it("errors-47: `type` in the form of an error is the error's name", async () => {
    class Renamed extends errors.NotFound {
      override readonly name: string = "Mine";
    }
    expect((await formOf(new Renamed("x"))).type).toBe("Mine");
    expect((await formOf(Object.assign(new TypeError("x"), { name: "Late" }))).type).toBe("Late");
    expect((await formOf(new TypeError("x"))).type).toBe("TypeError");
  });
  it("errors-48: `trace` in the form of an error is a list of its lines", async () => {
    const lines = ["[a/b | v1.0.0]", "[a/c | v0.0.0]"];
    expect(
      (
        await formOf(
          lines.reduce<Error>((error, line) => traced(error, line), new errors.NotFound("x")),
        )
      ).trace,
    ).toEqual(lines);
    expect((await formOf(new errors.NotFound("x"))).trace).toEqual([]);
  });
  it("an error has a trace line for each of 128 procedures; for more, the first, the last, and how many lie between", async () => {
    const line = (at: number): string => `[deep/p${at} | v0.0.0]`;
    const lines = (count: number): string[] => Array.from({ length: count }, (_, at) => line(at));
    const linesOf = (count: number): readonly string[] =>
      traceOf(lines(count).reduce<Error>((error, line) => traced(error, line), new Error("x")));
    expect(linesOf(128)).toEqual(lines(128));
    const longer = (count: number): string[] => [
      ...lines(100),
      `… ${count - 127} more`,
      ...lines(count).slice(-27),
    ];
    for (const count of [129, 130, 5_000]) expect(linesOf(count)).toEqual(longer(count));
    // The next node continues the count, in both encodings.
    const error = lines(200).reduce<Error>(
      (error, line) => traced(error, line),
      new Error("too\ndeep"),
    );
    expect((await formOf(error)).trace).toEqual(longer(200));
    const { text, status } = await callEndpoint(throwing(error), {});
    const body = new TextEncoder().encode(text);
    const back = await decodeAnswer(
      { status, headers: {}, body },
      { classes: new OpaqueClasses(), errorOfText },
    ).catch((thrown: unknown) => thrown);
    expect((back as Error).message).toBe("too\ndeep");
    expect(traceOf(traced(back, line(200)))).toEqual(longer(201));
  });
});

describe("what of an error can't be sent", () => {
  const classes = createWireClasses();
  const send = async (error: Error): Promise<Error> => {
    const answer = await callEndpoint(throwing(error, { trusted: true }), { headers: serialized });
    return decodeSerialized(answer.text, {
      classes,
      limits: defaultLimits,
      trusted: true,
    }) as Error;
  };
  it("errors-11: members of a custom error that can't be serialized are left out; class, message and the rest arrive", async () => {
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
  it("errors-12: fields that a custom error adds must be readable, as members or by a getter", async () => {
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
    const endpoint = throwing(new Late(7), { classes: late });
    expect(JSON.parse((await callEndpoint(endpoint, { headers: serialized })).text)).toMatchObject({
      key: "errors/Late",
      args: { 0: 7 },
      fields: {},
    });
  });
  it("a cycle of causes is sent until it repeats", async () => {
    const first = new errors.NotFound("one");
    const second = new TypeError("two", { cause: first });
    first.cause = second;
    const back = await send(first);
    expect(back).toMatchObject({
      constructor: errors.NotFound,
      cause: { message: "two", constructor: TypeError },
    });
    expect((back.cause as Error).cause).toBeUndefined();
    const holder: { it?: Error } = {};
    const self = Object.assign(new Error("self"), { of: holder });
    holder.it = self;
    expect(Object.keys(await send(self))).toEqual([]);
  });
  it("an AggregateError keeps its errors, each of its class", async () => {
    const back = (await send(
      new AggregateError([new OutOfStock("tea"), "text", new TypeError("x")], "all failed"),
    )) as AggregateError;
    expect(back).toMatchObject({ constructor: AggregateError, message: "all failed" });
    expect(back.errors.map((inner: unknown) => (inner as object).constructor)).toEqual([
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
  it("a frozen error arrives, and one with a message of a megabyte", async () => {
    expect(await send(Object.freeze(new errors.Forbidden("x")))).toMatchObject({
      constructor: errors.Forbidden,
      message: "x",
    });
    const frozen = traced(Object.freeze(new Error("x")), "[a | v1.0.0]");
    expect([frozen.message, traceOf(frozen)]).toEqual(["x", ["[a | v1.0.0]"]]);
    expect(traceOf(await send(frozen))).toEqual(["[a | v1.0.0]"]);
    expect((await send(new Error("x".repeat(1_000_000)))).message).toHaveLength(1_000_000);
  });
});
