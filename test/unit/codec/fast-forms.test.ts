import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { encodeSerialized } from "../../../src/codec/serialized.ts";
import { dateFrom } from "../../../src/codec/values/dates.ts";
import { quickDateFrom, quickIsoOf } from "../../../src/codec/values/quick-dates.ts";
import { createWireClasses, Employee, Money, Person, Team } from "../../_wire-classes.ts";
import { decode, mark } from "./_codec.ts";

const services = createWireClasses();
/** As pages have them. */
const pages = Object.defineProperty(createWireClasses(), "fast", { value: undefined });

describe("what services do in a faster way than pages", { timeout: 60_000 }, () => {
  const text = fc
    .array(fc.nat(0xffff), { maxLength: 6 })
    .map((codes) => String.fromCharCode(...codes));
  const key = fc.oneof(text, fc.constantFrom("serialized", "name", "toJSON", "0", "base64"));
  const values = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      fc.oneof(text, fc.string(), fc.double(), fc.bigInt(), fc.date({ noInvalidDate: false })),
      fc.constantFrom(
        null,
        undefined,
        true,
        -0,
        /a"\\/g,
        () => 1,
        Symbol.iterator,
        Object.assign([], { length: 2 }),
      ),
      fc.uint8Array(),
      fc.array(tie("any")),
      fc.dictionary(key, tie("any")),
      fc.dictionary(key, tie("any")).map((members) => ({ ...members, serialized: true })),
      fc.array(fc.tuple(tie("any"), tie("any"))).map((entries) => new Map(entries)),
      fc.array(tie("any")).map((items) => new Set(items)),
      fc.tuple(text, fc.date()).map(([name, born]) => new Person(name, born)),
      tie("any").map((salary) => Object.assign(new Employee("Ada"), { salary })),
      fc.array(tie("any")).map((people) => new Team("a", 1, ...(people as never[]))),
      fc.bigInt().map((cents) => new Money(cents)),
      tie("any").map((cause) => new TypeError("text", { cause })),
    ),
  })).any;
  const encoded = (value: unknown, classes: typeof services): unknown => {
    try {
      return JSON.parse(encodeSerialized(value, { classes, stacks: false }) as string);
    } catch (thrown) {
      return String(thrown);
    }
  };

  it("forms as text are what forms as objects become", () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(encoded(value, services)).toEqual(encoded(value, pages));
      }),
      { numRuns: 1500, seed: 12 },
    );
  });
  it("dates have the platform's text, and text has the platform's dates", () => {
    const time = fc.oneof(
      fc.date({ noInvalidDate: false }).map(Number),
      fc.integer({ min: 0, max: 4_000_000_000_000 }),
    );
    fc.assert(
      fc.property(time, (ms) => {
        const iso = new Date(ms).toJSON() as string | null;
        expect(quickIsoOf(new Date(ms))).toBe(iso);
        if (iso !== null) expect(quickDateFrom(iso) ?? dateFrom(iso)).toEqual(new Date(ms));
      }),
      { numRuns: 5000, seed: 12 },
    );
    for (let day = -800_000; day < 3_000_000; day += 97)
      expect(quickIsoOf(new Date(day * 86_400_000 - 1))).toBe(
        new Date(day * 86_400_000 - 1).toJSON(),
      );
  });
  it.each([
    "2021-02-29T00:00:00.000Z",
    "2021-04-31T00:00:00.000Z",
    "2021-13-01T00:00:00.000Z",
    "2021-00-01T00:00:00.000Z",
    "2021-01-00T00:00:00.000Z",
    "2021-01-01T24:00:00.000Z",
    "2021-01-01T00:60:00.000Z",
    "2021-01-01T00:00:60.000Z",
    "2021-01-01T00:00:00.00xZ",
    "2021-01-01 00:00:00.000Z",
    "2021/01/01T00:00:00.000Z",
  ])("text that isn't a date is refused: %s", (value) => {
    expect(() => decode(mark("Date", { value }))).toThrow("not a valid Date form");
  });
  it.each(["QQ=a", "Q", "QQ-=", "QQ_=", "Q=Q=", "====", "QQ==QQ=="])(
    "text that isn't base64 is refused: %s",
    (base64) => {
      expect(() => decode(mark("Binary", { type: "Uint8Array", base64 }))).toThrow(
        "not a valid Binary form",
      );
    },
  );
});
