// Callers give what a schema takes, and the function gets what it makes of it.

import { checked, type Context, type Procedure, runProcedure } from "seamline";
import * as v from "valibot";
import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";

const schema = z.object({ email: z.email(), metres: z.string().transform(Number) });
type In = { email: string; metres: string };
type Out = { email: string; metres: number };

const order = checked(schema, async (given) => {
  expectTypeOf(given).toEqualTypeOf<Out>();
  return given.metres;
});

describe("checked", () => {
  it("takes the schema's input, and gives its output to the function", async () => {
    expectTypeOf(order).parameters.toEqualTypeOf<[given: In]>();
    expectTypeOf(await order({ email: "", metres: "1" })).toEqualTypeOf<number>();
    // @ts-expect-error the function's own type isn't that of callers
    await order({ email: "", metres: 1 });
    // @ts-expect-error the argument is missing
    await order();
    expectTypeOf(order).toExtend<Procedure>();
    expectTypeOf(await runProcedure<typeof order>("order")).toEqualTypeOf<number>();
  });

  it("takes an async generator", () => {
    const rows = checked(schema, async function* (given, after: number) {
      yield given.metres + after;
    });
    expectTypeOf(rows).parameters.toEqualTypeOf<[given: In, after: number]>();
    expectTypeOf(rows).returns.toExtend<AsyncGenerator<number>>();
    expectTypeOf(rows).toExtend<Procedure>();
  });

  it("works with other libraries", () => {
    const run = checked(
      v.object({ a: v.pipe(v.string(), v.transform(Number)) }),
      async ({ a }) => a,
    );
    expectTypeOf(run).parameter(0).toEqualTypeOf<{ a: string }>();
    expectTypeOf(run).returns.toEqualTypeOf<Promise<number>>();
  });

  it("keeps parameters that are optional, and further ones", async () => {
    const optional = checked(schema.optional(), async (given?) => given?.metres);
    await optional();
    expectTypeOf(optional).parameters.toEqualTypeOf<[given?: In | undefined]>();
    const more = checked(schema, async (given, admin: boolean, ...tags: string[]) => tags);
    expectTypeOf(more).parameters.toEqualTypeOf<[given: In, admin: boolean, ...tags: string[]]>();
    // @ts-expect-error a number is no boolean
    await more({ email: "", metres: "" }, 1);
  });

  it("keeps `this`", async () => {
    const run = checked(schema, async function (this: Context, given) {
      return this.headers.size + given.metres;
    });
    expectTypeOf(run).thisParameter.toEqualTypeOf<Context>();
    // Also a member of a namespace can be called.
    await { order }.order({ email: "", metres: "" });
  });

  it("refuses other functions and schemas", () => {
    // @ts-expect-error the schema makes another type
    checked(schema, async (given: string) => given);
    // @ts-expect-error the function isn't async
    checked(schema, (given) => given.metres);
    // @ts-expect-error no Standard Schema
    checked({ parse: (value: unknown) => value }, async (given) => given);
  });
});
