import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { Args } from "../../src/base/call.ts";
import {
  BadRequest,
  InvalidParameterValue,
  MissingParameterValue,
  UnknownParameter,
} from "../../src/base/errors.ts";
import type { Parameter } from "../../src/base/manifest.ts";
import {
  bindArguments,
  convertFields,
  convertQuery,
  nameArguments,
} from "../../src/runtime/parameters.ts";
import { defaultLimits } from "../../src/base/limits.ts";

const args = (given: Record<string, unknown>): Args => new Map(Object.entries(given));
const plain = (name: string, more: object = {}): Parameter => ({ kind: "plain", name, ...more });
const optional = { optional: true } as const;
const rest: Parameter = { kind: "rest", name: "names" };
const object: Parameter = { kind: "object", names: [{ name: "a" }, { name: "b", optional: true }] };
const array: Parameter = {
  kind: "array",
  names: [{ name: "first" }, null, { name: "third", optional: true }],
};

describe("binding named arguments to positions", () => {
  it.each<[string, Parameter[], Record<string, unknown>, unknown[]]>([
    ["plain, in any order", [plain("a"), plain("b")], { b: 2, a: 1 }, [1, 2]],
    ["optional left out", [plain("a"), plain("b", optional)], { a: 1 }, [1, undefined]],
    [
      "undefined and null are values",
      [plain("a"), plain("b")],
      { a: undefined, b: null },
      [undefined, null],
    ],
    ["rest, spread", [plain("a"), rest], { a: 1, "...names": [2, 3] }, [1, 2, 3]],
    ["rest, absent", [plain("a"), rest], { a: 1 }, [1]],
    ["object pattern", [object], { a: 1, b: 2 }, [{ a: 1, b: 2 }]],
    ["object pattern without what has a default", [object], { a: 1 }, [{ a: 1 }]],
    [
      "object pattern of which nothing is required",
      [{ kind: "object", names: [{ name: "a", ...optional }] }],
      {},
      [{}],
    ],
    ["object pattern with a default, nothing given", [{ ...object, ...optional }], {}, [undefined]],
    [
      "object pattern with a default, one given",
      [{ ...object, ...optional }],
      { b: 2 },
      [{ b: 2 }],
    ],
    ["array pattern with a hole", [array], { first: 1, third: 3 }, [[1, null, 3]]],
    ["array pattern with a default, nothing given", [{ ...array, ...optional }], {}, [undefined]],
    [
      "a name that two patterns take",
      [object, { kind: "object", names: [{ name: "a" }] }],
      { a: 1 },
      [{ a: 1 }, { a: 1 }],
    ],
    [
      "names of Object.prototype",
      [plain("toString"), plain("constructor")],
      { constructor: 1, toString: 2 },
      [2, 1],
    ],
    ["no parameters", [], {}, []],
  ])("%s", (_, parameters, given, positions) => {
    expect(bindArguments(parameters)(args(given))).toEqual(positions);
  });

  it("makes an own property of every name of a pattern", () => {
    const [bound] = bindArguments([{ kind: "object", names: [{ name: "__proto__" }] }])(
      new Map([["__proto__", 1]]),
    );
    expect(Object.entries(bound as object)).toEqual([["__proto__", 1]]);
  });

  it("keeps the default of a name that every object inherits", () => {
    const take = ({
      toString,
      valueOf = 3,
      __proto__ = 4,
    }: {
      toString: unknown;
      valueOf?: unknown;
      __proto__?: unknown;
    }): unknown[] => [toString, valueOf, __proto__];
    const names = [
      { name: "toString" },
      { name: "valueOf", ...optional },
      { name: "__proto__", ...optional },
    ];
    const [bound] = bindArguments([{ kind: "object", names }])(args({ toString: "x" }));
    expect(take(bound as never)).toEqual(["x", 3, 4]);
    // Other functions around the procedure may call its methods.
    expect(Object.getPrototypeOf(bound)).toBe(Object.prototype);
  });

  it("reports all missing names, in the order of the parameters, before unknown ones", () => {
    const bind = bindArguments([plain("a"), plain("b", optional), object, plain("c")]);
    expect(() => bind(args({ x: 1 }))).toThrow(
      new MissingParameterValue("Missing value for parameters 'a', 'c'"),
    );
    expect(() => bind(args({ c: 1 }))).toThrow(
      new MissingParameterValue("Missing value for parameter 'a'"),
    );
  });

  it("reports all unknown names", () => {
    const bind = bindArguments([plain("a")]);
    expect(() => bind(args({ a: 1, x: 1, y: 2 }))).toThrow(
      new UnknownParameter("Unknown parameters 'x', 'y'"),
    );
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"])
      expect(() =>
        bind(
          new Map([
            ["a", 1],
            [name, 1],
          ]),
        ),
      ).toThrow(new UnknownParameter(`Unknown parameter '${name}'`));
    expect(() => bindArguments([rest])(args({ names: [1] }))).toThrow(UnknownParameter);
  });

  it("takes an array of limited length for a rest parameter", () => {
    const bind = bindArguments([rest]);
    for (const wrong of ["ab", { length: 1 }, null, undefined, new Set()])
      expect(() => bind(args({ "...names": wrong }))).toThrow(
        new InvalidParameterValue("parameter '...names' must be an array"),
      );
    expect(() => bind(args({ "...names": Array.from({ length: 10_001 }) }))).toThrow(
      InvalidParameterValue,
    );
    expect(bind(args({ "...names": Array.from({ length: 10_000 }) }))).toHaveLength(10_000);
  });
});

describe("naming positional arguments", () => {
  const name = (parameters: Parameter[], ...given: unknown[]): [string, unknown][] => [
    ...nameArguments(parameters)(given),
  ];
  it("sends undefined for a required one that was left out, and nothing for an optional one", () => {
    expect(name([plain("a"), plain("b", optional)])).toEqual([["a", undefined]]);
    expect(name([plain("a"), plain("b", optional)], undefined, undefined)).toEqual([
      ["a", undefined],
    ]);
    expect(name([plain("a"), plain("b", optional)], null, null)).toEqual([
      ["a", null],
      ["b", null],
    ]);
  });
  it("drops arguments that the function has no parameter for", () => {
    expect(name([plain("a")], 1, 2)).toEqual([["a", 1]]);
  });
  it("sends the rest parameter as an array", () => {
    expect(name([plain("a"), rest], 1, 2, 3)).toEqual([
      ["a", 1],
      ["...names", [2, 3]],
    ]);
    expect(name([plain("a"), rest], 1)).toEqual([["a", 1]]);
  });
  it("destructures patterns, inherited members and iterables included", () => {
    class Point {
      get a(): number {
        return 5;
      }
    }
    expect(name([object], new Point())).toEqual([["a", 5]]);
    expect(name([object], { b: 2 })).toEqual([
      ["a", undefined],
      ["b", 2],
    ]);
    expect(name([array], new Set([1, 2, 3]))).toEqual([
      ["first", 1],
      ["third", 3],
    ]);
    expect(name([array], [1])).toEqual([["first", 1]]);
  });
  it("doesn't send members that every object inherits", () => {
    const names = [{ name: "toString", ...optional }, { name: "valueOf" }, { name: "kind" }];
    const value = Object.create({ kind: "inherited" }) as object;
    expect([...nameArguments([{ kind: "object", names }])([value])]).toEqual([
      ["valueOf", undefined],
      ["kind", "inherited"],
    ]);
  });

  it("takes no more values from a generator than the pattern has names", () => {
    let taken = 0;
    const endless = function* (): Generator<number> {
      for (;;) yield ++taken;
    };
    name([array], endless());
    expect(taken).toBe(3);
  });
  it("leaves a pattern's default to the procedure, unless an argument was passed", () => {
    const withDefault: Parameter = {
      ...object,
      ...optional,
      names: [{ name: "a", optional: true }],
    };
    expect(name([withDefault])).toEqual([]);
    expect(name([withDefault], {})).toEqual([["a", undefined]]);
  });
  it("throws a TypeError when there is nothing to destructure", () => {
    expect(() => name([object])).toThrow(TypeError);
    expect(() => name([{ ...object, ...optional }], null)).toThrow(TypeError);
    expect(() => name([array], 5)).toThrow(TypeError);
  });
  it("is the inverse of binding", () => {
    const parameters = [plain("x"), plain("y", optional), object, rest];
    fc.assert(
      fc.property(
        fc.anything(),
        fc.anything(),
        fc.record({ a: fc.anything() }),
        fc.array(fc.anything()),
        (a, b, pattern, more) => {
          const positions = bindArguments(parameters)(
            nameArguments(parameters)([a, b, pattern, ...more]),
          );
          expect(positions).toEqual([a, b, pattern, ...more]);
        },
      ),
    );
  });
});

describe("converting arguments from a query string", () => {
  const read = (parameters: Parameter[], query: string): Record<string, unknown> =>
    Object.fromEntries(convertQuery(parameters, new URLSearchParams(query)));
  const typed = (type: string): Parameter[] => [plain("x", { type })];
  it("gives text, and arrays for repeated keys", () => {
    expect(read([plain("a"), plain("b")], "a=1&b=x&b=y+z&c[d]=%C3%A4")).toEqual({
      a: "1",
      b: ["x", "y z"],
      "c[d]": "ä",
    });
  });
  it.each<[string, string, unknown]>([
    ["number", "12", 12],
    ["number", "-0.5e3", -500],
    ["number", ".5", 0.5],
    ["boolean", "true", true],
    ["boolean", "false", false],
    ["bigint", "-12345678901234567890", -12345678901234567890n],
    ["Date", "2021-02-28", new Date("2021-02-28")],
    ["Date", "2021-01-01T10:00:00.5Z", new Date("2021-01-01T10:00:00.500Z")],
    ["Date", "2021-01-01T23:30:00%2B02:00", new Date("2021-01-01T21:30:00Z")],
    ["Date", "2024", new Date("2024")],
    ["number[]", "1", [1]],
    ["number[]", "1&x=2", [1, 2]],
    ["boolean[]", "true&x=false", [true, false]],
    ["bigint[]", "1", [1n]],
    ["Date[]", "2021-01-01", [new Date("2021-01-01")]],
    ["string[]", "a", ["a"]],
  ])("%s: %s", (type, text, value) => {
    expect(read(typed(type), `x=${text}`)).toEqual({ x: value });
  });
  it.each([
    ["number", ""],
    ["number", "abc"],
    ["number", "1x"],
    ["number", "0x10"],
    ["number", " 1"],
    ["number", "1e999"],
    ["number", "NaN"],
    ["number", "1&x=2"],
    ["number[]", "1&x="],
    ["boolean", "1"],
    ["boolean", ""],
    ["bigint", "1.5"],
    ["bigint", ""],
    ["Date", ""],
    ["Date", "tomorrow"],
    ["Date", "5"],
    ["Date", "2021-02-30"],
    ["Date", "2021-13-01"],
    ["Date", "2021-01-01T25:00Z"],
    ["Date[]", "2021-01-01&x=no"],
    ["File[]", "text"],
  ])("%s: %j is refused", (type, text) => {
    expect(() => read(typed(type), `x=${text}`)).toThrow(InvalidParameterValue);
  });
  it("takes a bigint of 10,000 digits, and names the limit past it", () => {
    expect(read(typed("bigint"), `x=-${"9".repeat(10_000)}`)).toEqual({ x: 1n - 10n ** 10_000n });
    expect(() => read(typed("bigint"), `x=${"9".repeat(10_001)}`)).toThrow(
      new InvalidParameterValue("More than 10000 digits (limit 'maxDigits')"),
    );
  });
  it("takes a list of files that has one, too", () => {
    const file = new File(["x"], "x.txt");
    expect(
      convertFields(typed("File[]"), [["x", file]], { limits: defaultLimits }).get("x"),
    ).toEqual([file]);
  });
  it("converts the names of patterns", () => {
    expect(
      read(
        [
          { kind: "object", names: [{ name: "a", type: "number" }] },
          { kind: "array", names: [null, { name: "b", type: "boolean" }] },
        ],
        "a=1&b=true",
      ),
    ).toEqual({ a: 1, b: true });
  });
  it("names all values that don't convert", () => {
    expect(() =>
      read([plain("a", { type: "number" }), plain("b", { type: "Date[]" })], "a=x&b=y"),
    ).toThrow(
      new InvalidParameterValue(
        "parameter 'a' must be a number; parameter 'b' must be a list of which each is an ISO date",
      ),
    );
  });
  it("reports missing and unknown names before values that don't convert", () => {
    const parameters = [plain("a", { type: "number" }), plain("b"), rest];
    expect(() => read(parameters, "a=x")).toThrow(
      new MissingParameterValue("Missing value for parameter 'b'"),
    );
    expect(() => read(parameters, "...names=x")).toThrow(
      new MissingParameterValue("Missing value for parameters 'a', 'b'"),
    );
    expect(() => read(parameters, "a=x&b=1&c=1")).toThrow(
      new UnknownParameter("Unknown parameter 'c'"),
    );
    // A middleware may add what is missing yet.
    expect(read(parameters, "a=1&c=1")).toEqual({ a: 1, c: "1" });
  });
  it("refuses a rest parameter", () => {
    expect(() => read([rest], "...names=a")).toThrow(
      new InvalidParameterValue("parameter '...names' needs POST"),
    );
  });
  it("takes 100 query parameters and refuses more", () => {
    expect(() => read([], "a=1&".repeat(100))).not.toThrow();
    expect(() => read([], "a=1&".repeat(101))).toThrow(
      new BadRequest("More than 100 query parameters (limit 'maxQueryParameters')"),
    );
  });
  it("turns any query into arguments or one of the documented errors", () => {
    const types = ["number", "boolean", "bigint", "Date", "number[]", "Date[]", undefined] as const;
    fc.assert(
      fc.property(
        fc.constantFrom(...types),
        fc.array(fc.tuple(fc.constantFrom("x", "__proto__", "y"), fc.string())),
        (type, query) => {
          try {
            for (const value of convertQuery(
              [plain("x", type === undefined ? {} : { type })],
              query,
              defaultLimits,
            ).values())
              expect(value).toBeDefined();
          } catch (thrown) {
            expect([InvalidParameterValue, MissingParameterValue, UnknownParameter]).toContain(
              (thrown as Error).constructor,
            );
          }
        },
      ),
    );
  });
});
