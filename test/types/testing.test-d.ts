// Fakes have the parameters and results of what they stand for, by a module, by a function, or by the application's own modules.

import { describe, expectTypeOf, it } from "vitest";

import { mswHandlers, type Fakes, type ProceduresOf } from "../../client/testing/msw.ts";
import { createTestCluster, type TestCluster } from "../../server/testing/index.ts";
import type { Context } from "../../src/base/context.ts";
import type { Money, Quote } from "./_shop.ts";

type Shop = typeof import("./_shop.ts");
type Application = ProceduresOf<{
  "./shop/quote.js": Shop;
  "./tools/index": {
    count(text: string): Promise<number>;
    lines(text: string): AsyncGenerator<string>;
    readonly limit: 3;
  };
}>;

describe("ProceduresOf", () => {
  it("has the async functions of modules by FQN, and nothing else", () => {
    expectTypeOf<Application["shop/quote"]>().toEqualTypeOf<Shop["quote"]>();
    expectTypeOf<Application["tools/count"]>().toEqualTypeOf<(text: string) => Promise<number>>();
    expectTypeOf<Application["tools/lines"]>().returns.toEqualTypeOf<AsyncGenerator<string>>();
    expectTypeOf<"tools/limit" extends keyof Application ? true : false>().toEqualTypeOf<false>();
    expectTypeOf<
      keyof ProceduresOf<{ "./top": { act(): Promise<void> } }>
    >().toEqualTypeOf<"act">();
  });

  it("allows any name if the modules aren't known", () => {
    const fakes: Fakes<ProceduresOf> = { "any/name": (text: string) => text.length };
    expectTypeOf(fakes).not.toBeNever();
  });
});

describe("a test cluster", () => {
  const cluster = {} as TestCluster<Application>;
  const unknown = {} as TestCluster;

  it("imports modules with the given type", async () => {
    const { quote } = await unknown.import<Shop>("./shop/quote");
    expectTypeOf(await quote("tweed", 2)).toEqualTypeOf<Quote>();
    // @ts-expect-error a number is no cloth
    await quote(1);
  });

  it("takes fakes by the names of the application", () => {
    cluster.fake("tools/count", function (text) {
      expectTypeOf(this).toEqualTypeOf<Context>();
      expectTypeOf(text).toEqualTypeOf<string>();
      return 3;
    });
    cluster.fake("tools/count", async (text) => text.length);
    // @ts-expect-error a count is a number
    cluster.fake("tools/count", (text) => text);
    cluster.fake("tools/lines", async function* (text) {
      expectTypeOf(text).toEqualTypeOf<string>();
      yield text;
    });
    // @ts-expect-error a line is a text
    cluster.fake("tools/lines", async function* (text) {
      yield text.length;
    });
  });

  it("takes fakes by a function's type, or a module's", () => {
    unknown.fake<Shop["quote"]>("shop/quote", (cloth, metres) => {
      expectTypeOf([cloth, metres] as const).toEqualTypeOf<readonly [string, number | undefined]>();
      return {} as Quote;
    });
    unknown.fake<{ count(text: string): Promise<number> }>("tools/count", (text) => text.length);
    unknown.fake("any/name", (price: Money) => price);
    // @ts-expect-error a quote is no number
    unknown.fake<Shop["quote"]>("shop/quote", () => 3);
  });

  it("has a type that doesn't depend on its fakes", async () => {
    expectTypeOf(
      createTestCluster({ fakes: { "a/b": () => 1 } }),
    ).resolves.toEqualTypeOf<TestCluster>();
    // @ts-expect-error there is no such procedure
    await createTestCluster<Application>({ fakes: { "tools/cuont": () => 1 } });
  });
});

describe("mswHandlers", () => {
  it("takes fakes by the names of the application", () => {
    mswHandlers<Application>({ manifest: {} }, { "tools/count": (text) => text.length });
    mswHandlers({ manifest: {} }, { "any/name": (text: string) => text.length });
    // @ts-expect-error there is no such procedure
    mswHandlers<Application>({ manifest: {} }, { "tools/cuont": () => 1 });
    // @ts-expect-error a count is a number
    mswHandlers<Application>({ manifest: {} }, { "tools/count": () => "1" });
  });
});
