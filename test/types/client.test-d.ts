// The type of `client.import` without the declarations that a build writes. With them: generated.test.ts.

import { type Client, type Imported, startClient } from "seamline/client";
import { describe, expectTypeOf, it } from "vitest";

import type { Money, Quote, units } from "./_shop.ts";

const client: Client = await startClient("ui");

describe("client.import", () => {
  it("has the type of the module at the path", async () => {
    const shop = await client.import<typeof import("./_shop.ts")>("./shop.js");
    expectTypeOf(await shop.quote("tweed")).toEqualTypeOf<Quote>();
    expectTypeOf(await shop.default({ sku: "a" })).toEqualTypeOf<number>();
    expectTypeOf(await shop.largest(1, 2)).toEqualTypeOf<number>();
    expectTypeOf(new shop.Money(1)).toEqualTypeOf<Money>();
    expectTypeOf(shop.units).toEqualTypeOf<typeof units>();
    // @ts-expect-error a number is no cloth
    await shop.quote(1);
    // @ts-expect-error the module has no such export
    await shop.order();
  });

  it("returns procedures that pages call without a context", async () => {
    const { whoAmI, language, ...shop } =
      await client.import<typeof import("./_shop.ts")>("./shop.js");
    expectTypeOf(await whoAmI("Hello")).toEqualTypeOf<string>();
    expectTypeOf(await language()).toEqualTypeOf<string | undefined>();
    expectTypeOf(
      await (shop as Imported<typeof import("./_shop.ts")>).whoAmI("Hello"),
    ).toEqualTypeOf<string>();
    // @ts-expect-error a number is no greeting
    await whoAmI(1);
  });

  it("returns an untyped module if its type isn't known", async () => {
    const { quote } = await client.import("./shop/quote.js");
    expectTypeOf(quote).toBeUnknown();
    // @ts-expect-error so it can't be called
    await quote("tweed");
  });

  it("is a method of the client that startClient returns", async () => {
    // @ts-expect-error segments are named by texts
    await startClient(["ui"]);
    // @ts-expect-error a path is a text
    await client.import(new URL("http://a.b/shop.js"));
  });
});

describe("startClient with options", () => {
  it("takes headers without segments, and segments that may be undefined", async () => {
    const token: string | undefined = undefined;
    expectTypeOf(await startClient({ headers: () => ({ token }) })).toEqualTypeOf<Client>();
    await startClient({ headers: async () => ({ token: null }), segments: undefined });
    // @ts-expect-error there is no such option
    await startClient({ header: () => ({}) });
    // @ts-expect-error headers are made for each call
    await startClient({ headers: { token: "a" } });
  });
});

describe("client.observe", () => {
  it("passes each call to the listener", () => {
    const end = client.observe(({ fqn, version, error }) => {
      expectTypeOf(fqn).toEqualTypeOf<string>();
      expectTypeOf(version).toEqualTypeOf<string>();
      expectTypeOf(error).toBeUnknown();
    });
    expectTypeOf(end).toEqualTypeOf<() => void>();
  });
});
