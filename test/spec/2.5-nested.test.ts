// Every form inside of every other, made from the table of the wire cases: in memory one by one, and over sockets to another node and back.

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { Forbidden } from "../../src/errors.ts";
import { defaultLimits } from "../../src/serializer/limits.ts";
import { encodePlain } from "../../src/serializer/plain.ts";
import { decodeSerialized, encodeSerialized } from "../../src/serializer/serialized.ts";
import { setTrace } from "../../src/trace.ts";
import { arrived, callFrom, type Sockets, startSockets } from "../_sockets.ts";
import { expectSame } from "../_same.ts";
import { wireCases } from "../_wire-cases.ts";
import { createWireClasses, Employee, Money, OutOfStock, Person, Team } from "../_wire-classes.ts";

const containers: Readonly<Record<string, (inner: unknown) => unknown>> = {
  array: (inner) => [inner, [inner]],
  "plain object": (inner) => ({ a: { "b c": inner } }),
  "object that looks like a form": (inner) => ({ serialized: true, name: "Date", value: inner }),
  "key of a Map": (inner) => new Map([[inner, 1]]),
  "value of a Map": (inner) => new Map([["a", inner]]),
  Set: (inner) => new Set([inner]),
  "argument of a constructor": (inner) => new Person(inner as string, new Date(0)),
  "rest of a constructor's arguments": (inner) =>
    new Team("core", undefined, inner as Person, inner as Person),
  "field of an instance": (inner) => Object.assign(new Employee("Ada"), { salary: inner }),
  "instance in a field of an instance": (inner) =>
    Object.assign(new Employee("Ada"), { tags: new Map([[new Money(1n), inner]]) }),
  "field of an error": (inner) => Object.assign(new RangeError("far"), { by: inner }),
  "field of an application's error": (inner) =>
    Object.assign(new OutOfStock("tea"), { since: inner }),
  "cause of an error": (inner) => new Error("outer", { cause: inner }),
  "errors of an AggregateError": (inner) => new AggregateError([inner, new Forbidden("x")], "all"),
};
const classes = createWireClasses();
const trusted = { classes, limits: { ...defaultLimits, depth: 1000 }, trusted: true } as const;
const valueOf = (one: (typeof wireCases)[number]): unknown =>
  "decoded" in one ? one.decoded : one.value;
// What is undefined has no place in the others: it is left out.
const sendable = (name: string, one: unknown): boolean =>
  one !== undefined || /array|Map|Set|constructor|instance|application/.test(name);

describe.each(Object.entries(containers))("§2.5 in one %s", (name, contain) => {
  const inside = wireCases
    .map((one) => [one.name, valueOf(one)] as const)
    .filter(([, one]) => sendable(name, one));
  it.each(inside)("%s comes back as it was (D3-2)", async (_, inner) => {
    const value = contain(inner);
    const text = await encodeSerialized(value, { classes });
    const back = decodeSerialized(text, trusted);
    await expectSame(back, value);
    expect(await encodeSerialized(back, { classes })).toBe(text);
    expect(JSON.parse(await encodePlain(value))).toBeDefined();
  });
  it.each(Object.entries(containers))("each %s in it (D3-2)", (other, around) => {
    const inner = new Date(0);
    const value = contain(around(contain(inner)));
    expect(
      decodeSerialized(encodeSerialized(value, { classes }) as string, trusted),
      other,
    ).toStrictEqual(value);
  });
});

describe("§2.5 over sockets, from one node to another and back", () => {
  let sockets: Sockets;
  beforeAll(async () => {
    sockets = await startSockets();
  });
  afterAll(() => sockets.close());
  it.each(Object.entries(containers))("everything in one %s (D3-2)", async (name, contain) => {
    const value = wireCases
      .map(valueOf)
      .filter((one) => sendable(name, one))
      .map(contain);
    const back = await callFrom(sockets.host, sockets.proxy, "wire/relay", { value });
    await expectSame(arrived.value, value);
    await expectSame(back, value);
  });
  it("lines of an error that is a value stay with it", async () => {
    const error = new Forbidden("x");
    setTrace(error, ["[a/b | v1.0.0]"]);
    const back = (await callFrom(sockets.host, sockets.proxy, "wire/relay", {
      value: { error },
    })) as { error: { trace: unknown } };
    expect(back.error.trace).toEqual(["[a/b | v1.0.0]"]);
  });
});
