import { describe, expectTypeOf, it } from "vitest";

import type { Format, Int, Max, MaxLength, Min, MinLength, Pattern } from "seamline/types";

type Metres = number & Min<0> & Max<100>;
type Sku = string & MinLength<1> & MaxLength<20> & Pattern<"^[a-z]+$">;

declare function order(sku: Sku, metres: Metres, count?: number & Int): string;
declare function subscribe(to: string & Format<"email">, tags: string[] & MaxLength<3>): void;

describe("constraints", () => {
  it("take plain values, and values with other constraints, as their parameter isn't used", () => {
    order("tweed", 3, 1);
    subscribe("ada@example.org", ["a"]);
    const more = 5 as number & Min<5>;
    order("tweed", more);
    expectTypeOf<number>().toExtend<Metres>();
    expectTypeOf<number & Min<5>>().toExtend<number & Min<0>>();
    expectTypeOf<Metres>().toExtend<number>();
    expectTypeOf<string>().toExtend<Sku>();
    // @ts-expect-error a text is no number
    order("tweed", "3");
    // @ts-expect-error formats have names
    expectTypeOf<Format<"mail">>();
  });

  it("can be told apart by a switch", () => {
    const name = (metres: Metres): string => {
      switch (metres) {
        case 0:
          return "none";
        default:
          return "some";
      }
    };
    expectTypeOf(name).parameter(0).toExtend<number>();
  });
});
