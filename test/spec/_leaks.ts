// Errors that an application throws without meaning them for callers, with secrets wherever an error
// can hold one; and those that it does mean for them.

import {
  BadRequest,
  InvalidSerializedValue,
  NotFound,
  ServiceError,
} from "../../src/base/errors.ts";
import type { ClassRecord } from "../../src/base/manifest.ts";
import type { Context } from "../../src/base/context.ts";
import { type TestProcedure, testModules } from "../_cluster.ts";
import { body, call, names } from "./_shop.ts";

export const secret = "s3cret";

/** An error of an exported class, with members that may hold errors themselves. */
export class Declined extends Error {
  override readonly name: string = "Declined";
  readonly reason: unknown;
  override readonly cause: unknown;
  constructor(message: string, reason?: unknown, cause?: unknown) {
    super(message);
    this.reason = reason;
    this.cause = cause;
  }
}

/** Of a class that isn't exported. */
class S3cretFailure extends Error {
  override readonly name: string = "S3cretFailure";
  readonly query: string = `SELECT ${secret}`;
  toJSON(): unknown {
    return { secret };
  }
  override toString(): string {
    return secret;
  }
}

/** Extends a class with a status, and isn't exported. */
class Expired extends NotFound {
  override readonly name: string = "Expired";
  readonly inner: unknown;
  constructor(message: string, inner: unknown) {
    super(message);
    this.inner = inner;
  }
}

/** An exported class, whose constructor refuses some values. */
export class Address {
  readonly text: string;
  constructor(text: string) {
    if (!text.includes("@")) throw new Error(`not ${secret}`);
    this.text = text;
  }
}

const record = (
  name: string,
  args: readonly (string | null)[],
  more: Partial<ClassRecord> = {},
): ClassRecord => ({
  key: `leak/${name}`,
  module: `leak/${name}`,
  export: name,
  args,
  fields: [],
  ...more,
});
export const classes = [
  {
    record: record("Declined", ["message", "reason", "cause"], { error: true, fields: ["stack"] }),
    constructor: Declined,
  },
  { record: record("Address", ["text"]), constructor: Address },
];

const deep = (levels: number, make: (cause: Error) => Error): Error => {
  let error: Error = new S3cretFailure(secret);
  for (let level = 0; level < levels; level++) error = make(error);
  return error;
};

/** Nothing of these may reach a caller. */
export const hidden: Readonly<Record<string, () => unknown>> = {
  "a message": () => new Error(`password ${secret}`),
  "the name of a class": () => new S3cretFailure("no"),
  "a type error": () => new TypeError(`cannot read ${secret}`),
  "a text": () => secret,
  "an object": () => ({ secret, toString: () => secret }),
  "an object without a text": () => Object.create(null) as unknown,
  undefined: () => undefined,
  "a symbol": () => Symbol(secret),
  "a function": () => () => secret,
  "a cause": () => new Error(secret, { cause: new S3cretFailure(secret, { cause: secret }) }),
  "a status": () =>
    Object.assign(new Error(secret), { status: 404, statusCode: 404, expose: true }),
  "a class with a status of its own": () =>
    new (class S3cretStatus extends Error {
      static status = 404;
    })(secret),
  "a DOMException": () => new DOMException(secret, "AbortError"),
  "several errors": () =>
    new AggregateError([new Error(secret), secret, { secret }, new S3cretFailure(secret)], secret),
  "a circle of causes": () => {
    const first = new S3cretFailure(secret);
    first.cause = new Error(secret, { cause: first });
    return first;
  },
  "many causes": () => deep(600, (cause) => new S3cretFailure(secret, { cause })),
  getters: () =>
    Object.defineProperties(new S3cretFailure(secret), {
      message: { get: () => `${secret} ${Math.random()}`, enumerable: true },
      name: { get: () => secret, enumerable: true },
      stack: { get: () => secret },
      trace: { get: () => [secret, "[leak/x | v0.0.0]"] },
    }),
  "getters that throw": () =>
    Object.defineProperties(new S3cretFailure(secret), {
      message: {
        get: () => {
          throw new Error(secret);
        },
      },
      name: {
        get: () => {
          throw new Error(secret);
        },
      },
      cause: {
        get: () => {
          throw new S3cretFailure(secret);
        },
      },
    }),
  "a system error": () =>
    Object.assign(new Error(`ENOENT: /${secret}`), { code: "ENOENT", syscall: "open" }),
  "members that can't be sent": () =>
    Object.assign(new Error(secret), { [secret]: () => secret, socket: Symbol(secret) }),
  "a lie about its class": () =>
    Object.assign(new Error(secret), { name: "NotFound", kind: "NotFound" }),
};

const notFound = (): Error => new NotFound("No such felt", { cause: new S3cretFailure(secret) });

/** Callers see the message of these; nothing of what is secret in them. */
export const shown: Readonly<Record<string, () => Error>> = {
  "a framework error": () => new NotFound("No such felt"),
  "the base of all framework errors": () => new ServiceError("Out of felt"),
  "a framework error with a cause": () =>
    new BadRequest("Not so", { cause: new S3cretFailure(secret, { cause: new Error(secret) }) }),
  "a framework error with a text for a cause": () => new BadRequest("Not so", { cause: secret }),
  "a framework error whose fields have errors": () =>
    Object.assign(new BadRequest("Not so"), {
      list: [new Error(secret), { deep: new Map([["at", new S3cretFailure(secret)]]) }],
    }),
  "an error of an exported class": () => new Declined("Card declined", 7),
  "an exported class with errors in its members": () =>
    new Declined("Card declined", [new S3cretFailure(secret)], new Error(secret)),
  "an exported class with a text for a cause": () =>
    new Declined("Card declined", undefined, { secret }),
  "a class with a status": () => new Expired("Too late", new S3cretFailure(secret)),
  "an error that quotes its cause": () =>
    new InvalidSerializedValue(`args.at: ${secret}`, { cause: new Error(secret) }),
  nested: () =>
    Object.assign(
      new BadRequest("Not so", {
        cause: new AggregateError([new Error(secret), notFound(), secret], secret),
      }),
      { list: [new Error(secret), { deep: notFound() }] },
    ),
  "a framework error in a circle": () => {
    const error = new NotFound("No such felt");
    error.cause = new S3cretFailure(secret, { cause: error });
    return error;
  },
};

const all: Readonly<Record<string, () => unknown>> = { ...hidden, ...shown };

/** A context's headers say what to throw, as a GET's arguments would be parsed. */
const thrower = (context: Context): unknown => all[context.headers.get("x-throw") ?? ""]?.();

export const procedures: TestProcedure[] = [
  {
    fqn: "leak/here",
    in: { a: "public" },
    body: body("leak/here", (context) => {
      throw thrower(context);
    }),
  },
  {
    fqn: "leak/inner",
    in: { b: "protected" },
    body: body("leak/inner", (context) => {
      throw thrower(context);
    }),
  },
  {
    fqn: "leak/outer",
    in: { a: "public" },
    body: body("leak/outer", (_, graph) => call(graph, "leak/inner", [])),
  },
  {
    fqn: "leak/result",
    in: { a: "public" },
    body: body("leak/result", () => ({
      get price(): never {
        throw new S3cretFailure(secret);
      },
    })),
  },
  {
    fqn: "leak/address",
    parameters: names("address"),
    in: { a: "public" },
    body: body("leak/address", () => "taken"),
  },
];

export const modules = () => testModules(procedures, classes);
