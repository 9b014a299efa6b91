// Every form inside every other, from the table of wire cases: in memory one by one, and over
// sockets to another node and back.

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { Forbidden } from "../../src/base/errors.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { encodePlain } from "../../src/codec/plain.ts";
import { decodeSerialized, encodeSerialized } from "../../src/codec/serialized.ts";
import { setTrace } from "../../src/base/trace.ts";
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
const trusted = { classes, limits: { ...defaultLimits, maxDepth: 1000 }, trusted: true } as const;
const valueOf = (wireCase: (typeof wireCases)[number]): unknown =>
  "decoded" in wireCase ? wireCase.decoded : wireCase.value;
// The others leave undefined members out.
const sendable = (name: string, value: unknown): boolean =>
  value !== undefined || /array|Map|Set|constructor|instance|application/.test(name);

describe.each(Object.entries(containers))("in one %s", (name, contain) => {
  const inside = wireCases
    .map((wireCase) => [wireCase.name, valueOf(wireCase)] as const)
    .filter(([, value]) => sendable(name, value));
  it.each(inside)("%s comes back as it was (forms-8)", async (_, inner) => {
    const value = contain(inner);
    const text = await encodeSerialized(value, trusted);
    const back = decodeSerialized(text, trusted);
    await expectSame(back, value);
    expect(await encodeSerialized(back, trusted)).toBe(text);
    expect(JSON.parse(await encodePlain(value))).toBeDefined();
  });
  it.each(Object.entries(containers))("each %s in it (forms-8)", (innerName, around) => {
    const inner = new Date(0);
    const value = contain(around(contain(inner)));
    expect(
      decodeSerialized(encodeSerialized(value, trusted) as string, trusted),
      innerName,
    ).toStrictEqual(value);
  });
});

describe("over sockets, from one node to another and back", () => {
  let sockets: Sockets;
  beforeAll(async () => {
    sockets = await startSockets();
  });
  afterAll(() => sockets.close());
  it.each(Object.entries(containers))("everything in one %s (forms-8)", async (name, contain) => {
    const value = wireCases
      .map(valueOf)
      .filter((value) => sendable(name, value))
      .map(contain);
    const back = await callFrom(sockets.host, sockets.proxy, "wire/relay", { value });
    await expectSame(arrived.value, value);
    await expectSame(back, value);
  });
  it("an error that is a value keeps its trace lines", async () => {
    const error = new Forbidden("x");
    setTrace(error, ["[a/b | v1.0.0]"]);
    const back = (await callFrom(sockets.host, sockets.proxy, "wire/relay", {
      value: { error },
    })) as { error: { trace: unknown } };
    expect(back.error.trace).toEqual(["[a/b | v1.0.0]"]);
  });
});
