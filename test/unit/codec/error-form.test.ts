import { describe, expect, it } from "vitest";

import { Forbidden, NotFound } from "../../../src/base/errors.ts";
import { ClassTable } from "../../../src/codec/class-table.ts";
import { Classes, OpaqueClasses } from "../../../src/codec/classes.ts";
import {
  decodeSerialized,
  type DecodeOptions,
  encodeSerialized,
} from "../../../src/codec/serialized.ts";
import { decodeSuperjson, encodeSuperjson } from "../../../src/codec/superjson/superjson.ts";
import { traceOf } from "../../../src/base/trace.ts";
import { OutOfStock, Refused } from "../../_wire-classes.ts";
import { decode, mark, trusted } from "./_codec.ts";

const { classes } = trusted;

describe("errors on the wire", () => {
  const send = (error: unknown, more: Partial<DecodeOptions> = {}, stacks = false): Error =>
    decodeSerialized(encodeSerialized(error, { classes, trusted: stacks, stacks }) as string, {
      ...trusted,
      ...more,
    }) as Error;
  it("decoded errors are instances of their own class", () => {
    expect(send(new Forbidden("x"))).toBeInstanceOf(Forbidden);
    const stock = send(new OutOfStock("tea")) as OutOfStock;
    expect(stock).toBeInstanceOf(OutOfStock);
    expect(stock.sku).toBe("tea");
    expect((send(new Refused("no", 7)) as Refused).code).toBe(7);
    expect(send(new TypeError("x"))).toBeInstanceOf(TypeError);
  });
  it("an error whose class isn't here keeps its name, and the status selects the nearest class", () => {
    const wire = encodeSerialized(new OutOfStock("tea"), { classes }) as string;
    const read = (status?: number): Error =>
      decodeSerialized(wire, {
        ...trusted,
        classes: new Classes(),
        ...(status === undefined ? {} : { status }),
      }) as Error;
    expect(read()).toMatchObject({ name: "OutOfStock", message: "Nothing left of tea" });
    expect(read(404).constructor.name).toBe("NotFound");
    expect(read(404).name).toBe("OutOfStock");
    expect(read(500).constructor).toBe(Error);
  });
  it("an error passes a service without its class unchanged", () => {
    const error = new OutOfStock("tea");
    error.since = new Date(0);
    const wire = encodeSerialized(error, { classes }) as string;
    for (const between of [new Classes(), new OpaqueClasses()]) {
      const there = decodeSerialized(wire, { ...trusted, classes: between });
      const back = decodeSerialized(
        encodeSerialized(there, { classes: between }) as string,
        trusted,
      ) as OutOfStock;
      expect(back).toBeInstanceOf(OutOfStock);
      expect(back).toMatchObject({ sku: "tea", since: new Date(0) });
    }
  });
  it("an error keeps its undefined members when it passes a service without its class", () => {
    const error = Object.assign(new OutOfStock("tea"), { since: undefined });
    const wire = encodeSerialized(error, { classes }) as string;
    for (const between of [new Classes(), new OpaqueClasses()]) {
      const there = decodeSerialized(wire, { ...trusted, classes: between });
      expect(JSON.parse(encodeSerialized(there, { classes: between }) as string)).toEqual(
        JSON.parse(wire),
      );
    }
  });
  it("a page sends that there is an error and nothing of it, as services accept none from pages", () => {
    const inPage = new ClassTable();
    const error = Object.assign(new TypeError("secret", { cause: "secret" }), { secret: "secret" });
    const form = encodeSerialized({ error }, { classes: inPage });
    expect(form).toBe('{"error":{"serialized":true,"name":"Error"}}');
    const superjson = encodeSuperjson({ error }, { classes: inPage }) as string;
    expect(superjson).not.toContain("secret");
    expect(() => decodeSerialized(form as string, { ...trusted, trusted: false })).toThrow(
      "error: this form is accepted from services only",
    );
    expect(() => decodeSuperjson(superjson, { ...trusted, trusted: false })).toThrow(
      "error: this type is accepted from services only",
    );
  });
  it("errors carry a stack only on request", () => {
    const error = new Error("x", { cause: new Error("y") });
    expect(encodeSerialized(error, { classes })).not.toContain("stack");
    expect(send(error, {}, true).stack).toBe(error.stack);
    expect((send(error, {}, true).cause as Error).stack).toBe((error.cause as Error).stack);
  });
  it("trace, cause and message of a decoded error aren't enumerable", () => {
    const back = send(Object.assign(new Error("x", { cause: "y" }), { code: 5 }), {}, true);
    expect(Object.keys(back)).toEqual(["code"]);
    expect(back.cause).toBe("y");
    expect(traceOf(back)).toEqual([]);
  });
  it("system errors show outsiders nothing, and services everything", () => {
    const system = Object.assign(new Error("ENOENT: no such file, open '/etc/x'"), {
      errno: -2,
      code: "ENOENT",
      syscall: "open",
      path: "/etc/x",
    });
    expect(encodeSerialized(new Error("outer", { cause: system }), { classes })).not.toMatch(
      /etc|errno|ENOENT/,
    );
    expect(send(system, {}, true)).toMatchObject({ message: system.message, code: "ENOENT" });
  });
  it("members of a library's errors stay between services", () => {
    class RequestFailed extends Error {
      config = { authorization: "secret" };
    }
    expect(JSON.parse(encodeSerialized(new RequestFailed("x"), { classes }) as string)).toEqual(
      mark("Error", { type: "Error", message: "x", trace: [], fields: {} }),
    );
    expect(send(new RequestFailed("x"), {}, true)).toMatchObject({
      config: { authorization: "secret" },
    });
  });
  it("an error whose class isn't exported travels as its nearest exported parent", () => {
    class Local extends OutOfStock {}
    expect(send(new Local("tea"))).toBeInstanceOf(OutOfStock);
  });
  it("an error whose constructor needs more than was sent keeps name, message and status", () => {
    class Demanding extends NotFound {
      override readonly name = "Demanding";
      constructor(order: { id: number }) {
        super(`order ${order.id}`);
      }
    }
    const own = new Classes();
    own.register(
      {
        key: "Demanding",
        module: "demanding",
        export: "Demanding",
        args: [null],
        fields: [],
        error: true,
      },
      Demanding,
    );
    const wire = encodeSerialized(new Demanding({ id: 7 }), { classes: own }) as string;
    const back = decodeSerialized(wire, { ...trusted, classes: own, status: 404 });
    expect(back).toBeInstanceOf(NotFound);
    expect(back).toMatchObject({ name: "Demanding", message: "order 7" });
  });
  it.each([
    [{ type: 1, message: "" }, "needs a type"],
    [{ type: "Error", message: "", trace: [1] }, "needs a type"],
    [{ type: "Error", message: "", fields: { stack: "x" } }, "be a field of an error"],
    [{ type: "Error", message: "", key: "people/Person" }, "is not an error"],
  ])("refuse a wrong form: %j", (form, message) => {
    expect(() => decode(mark("Error", form), { trusted: true })).toThrow(message);
  });
});
