import { describe, expectTypeOf, it } from "vitest";

import { type Context, getContext } from "../../server/main.ts";

declare module "../../server/main.ts" {
  interface Locals {
    typeTestUser?: { readonly name: string };
  }
}

declare const context: Context;

describe("the context on Node", () => {
  it("has locals with the members that the application has declared", () => {
    expectTypeOf(getContext().locals.typeTestUser?.name).toEqualTypeOf<string | undefined>();
    expectTypeOf(context.locals).toEqualTypeOf(getContext().locals);
    // @ts-expect-error it isn't declared
    void getContext().locals.other;
  });

  it("has cookies, the outer request, and settings of the answer", () => {
    expectTypeOf(context.cookies.get("session")).toEqualTypeOf<string | undefined>();
    expectTypeOf(context.request?.url).toEqualTypeOf<string | undefined>();
    expectTypeOf(context.timeLeft()).toEqualTypeOf<number>();
    context.response.status = 201;
    context.response.cookies.set("a", "b", { sameSite: "strict", maxAge: 1 });
    const unset: string | undefined = undefined;
    context.response.cookies.set("a", "b", { domain: unset, maxAge: undefined, secure: undefined });
    expectTypeOf(context.params["name"]).toEqualTypeOf<string | undefined>();
    // @ts-expect-error a misspelt parameter is undefined
    void context.params["naem"].length;
    // @ts-expect-error there is no such attribute
    context.response.cookies.set("a", "b", { age: 1 });
    // @ts-expect-error the headers of a context are the request's
    context.headers.set("a", "b");
  });
});
