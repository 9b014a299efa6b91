// The type of a call is the type of the function: nothing stands between an import and its source. `tsc -b` checks these files.

import {
  type Context,
  type MaybeContext,
  type Procedure,
  runProcedure,
  withOptions,
} from "seamline";
import type { Server } from "seamline/server";
import { describe, expectTypeOf, it } from "vitest";

import * as shop from "./_shop.ts";
import order, {
  language,
  largest,
  type Money,
  notAsync,
  prices,
  quote,
  type Quote,
  whoAmI,
} from "./_shop.ts";

describe("a call of an imported procedure", () => {
  it("has the parameters and the result of its function", async () => {
    expectTypeOf(await quote("tweed", 2)).toEqualTypeOf<Quote>();
    expectTypeOf(await quote("tweed"))
      .toHaveProperty("price")
      .toEqualTypeOf<Money>();
    expectTypeOf(await order({ sku: "a" })).toEqualTypeOf<number>();
    // @ts-expect-error a number is no cloth
    await quote(1);
    // @ts-expect-error the cloth is missing
    await quote();
    // @ts-expect-error there is no such property
    await order({ sku: "a", colour: "red" });
  });

  it("keeps generics and rest parameters", async () => {
    expectTypeOf(await largest(1, 2, 3)).toEqualTypeOf<number>();
    // @ts-expect-error the items are of one type
    await largest(1, "2");
  });

  it("returns a promise whose type has no rejection", () => {
    // @ts-expect-error an await is missing
    void quote("tweed").price;
  });
});

describe("a call of an async generator", () => {
  it("returns it at once, with the types of its items and its returned value", async () => {
    for await (const price of prices("tweed")) expectTypeOf(price).toEqualTypeOf<Money>();
    const next = await prices("tweed", 2).next();
    if (next.done) expectTypeOf(next.value).toEqualTypeOf<number>();
    // @ts-expect-error a number is no cloth
    prices(1);
  });

  it("has options as any call", async () => {
    const { signal } = new AbortController();
    expectTypeOf(withOptions(prices, { signal })).toEqualTypeOf<typeof prices>();
    for await (const price of withOptions(prices, { timeoutMs: 5 })("tweed"))
      expectTypeOf(price).toEqualTypeOf<Money>();
    const typed: (cloth: string) => AsyncIterable<Money> = prices;
    expectTypeOf(withOptions(typed, {})).toEqualTypeOf<typeof typed>();
  });
});

describe("withOptions", () => {
  it("returns a function of the same type, generic ones too", async () => {
    const options = { signal: undefined, headers: { a: "1", b: undefined }, timeoutMs: 5 };
    expectTypeOf(withOptions(quote, options)).toEqualTypeOf<typeof quote>();
    expectTypeOf(withOptions(whoAmI, {})).toEqualTypeOf<typeof whoAmI>();
    expectTypeOf(await withOptions(largest, {})(1, 2)).toEqualTypeOf<number>();
    // @ts-expect-error a function that isn't async is no procedure
    withOptions(notAsync, {});
    // @ts-expect-error there is no such option
    withOptions(quote, { timeout: 5 });
  });
});

describe("this: Context", () => {
  const context: Context = {} as Context;

  it("is passed on with Function.prototype.call", async () => {
    expectTypeOf(await whoAmI.call(context, "Hello")).toEqualTypeOf<string>();
    // @ts-expect-error the greeting is missing
    await whoAmI.call(context);
    // @ts-expect-error this is no context
    await whoAmI.call({ headers: {} }, "Hello");
    // @ts-expect-error a procedure that asks for a context can't be called without one
    await whoAmI("Hello");
  });

  it("need not be passed to a procedure that declares `Context | void`", async () => {
    expectTypeOf(await language()).toEqualTypeOf<string | undefined>();
    expectTypeOf(await language.call(context)).toEqualTypeOf<string | undefined>();
    // @ts-expect-error nor may it be something else
    await language.call("en");
  });

  it("may be called as a member of a namespace if the procedure declares `MaybeContext`", async () => {
    expectTypeOf(await shop.region("EU")).toEqualTypeOf<string>();
    expectTypeOf(await shop.region.call(context, "EU")).toEqualTypeOf<string>();
    const { region, language: byName } = shop;
    expectTypeOf(await region("EU")).toEqualTypeOf<string>();
    expectTypeOf(await byName()).toEqualTypeOf<string | undefined>();
    const loaded = await import("./_shop.ts");
    expectTypeOf(await loaded.region("EU")).toEqualTypeOf<string>();
    // @ts-expect-error the namespace is no context, and nothing else is allowed here
    await shop.language();
    // @ts-expect-error headers of another kind
    await region.call({ headers: {} }, "EU");
    // @ts-expect-error the region is missing
    await shop.region();
  });

  it("has members that may each be missing in a procedure that declares `MaybeContext`", async () => {
    const given = context as MaybeContext;
    expectTypeOf(given?.headers).toEqualTypeOf<ReadonlyMap<string, string> | undefined>();
    expectTypeOf(given?.signal).toEqualTypeOf<AbortSignal | undefined>();
    expectTypeOf(given?.deadline).toEqualTypeOf<Date | undefined>();
    await shop.region.call(given, "EU");
  });

  it("has headers by name, a signal, a deadline and the trace", () => {
    expectTypeOf(context.headers).toEqualTypeOf<ReadonlyMap<string, string>>();
    expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>();
    expectTypeOf(context.deadline).toEqualTypeOf<Date | undefined>();
    expectTypeOf(context.trace).toEqualTypeOf<readonly string[]>();
    // @ts-expect-error the context is read only
    context.deadline = new Date();
  });
});

describe("a function that a segment file may name", () => {
  it("is a Procedure", () => {
    const procedures: Procedure[] = [quote, largest, whoAmI, language, order];
    // @ts-expect-error it isn't async
    procedures.push(notAsync);
    procedures.push(async (cloth: string) => cloth.length);
    // @ts-expect-error nor is this
    procedures.push((cloth: string) => cloth.length);
    procedures.push(prices);
    // @ts-expect-error a generator that isn't async
    procedures.push(function* count() {
      yield 1;
    });
  });

  it("is an error where it is written if it uses satisfies Procedure", () => {
    const length = (async (cloth: string) => cloth.length) satisfies Procedure;
    expectTypeOf(length).toEqualTypeOf<(cloth: string) => Promise<number>>();
    const count = async function* (from: number) {
      yield from;
    } satisfies Procedure;
    expectTypeOf(count).parameters.toEqualTypeOf<[from: number]>();
    // @ts-expect-error an async is missing
    const broken = ((cloth: string) => cloth.length) satisfies Procedure;
    expectTypeOf(broken).not.toBeNever();
  });
});

describe("runProcedure", () => {
  it("returns unknown, or the result of the function type that is passed", async () => {
    expectTypeOf(await runProcedure("shop/quote")).toBeUnknown();
    expectTypeOf(
      await runProcedure<typeof quote>("shop/quote", "1.0.0", { cloth: "tweed" }),
    ).toEqualTypeOf<Quote>();
    expectTypeOf(await runProcedure<typeof whoAmI>("whoAmI")).toEqualTypeOf<string>();
    expectTypeOf(await runProcedure<typeof prices>("prices")).toEqualTypeOf<
      AsyncGenerator<Money, number>
    >();
    expectTypeOf<Server["runProcedure"]>().toEqualTypeOf(runProcedure);
    // @ts-expect-error arguments have names
    await runProcedure("shop/quote", "1.0.0", "tweed");
    // @ts-expect-error a version is a text
    await runProcedure("shop/quote", 1);
    // @ts-expect-error it isn't async, and so no procedure
    void runProcedure<typeof notAsync>("notAsync");
  });
});
