// Checks that bundled and plain pages run. Each reports differences by name, "" for none.

import * as seamline from "seamline";
import { OutOfStock, Person, Refused } from "../people/people.ts";
import { wireCases } from "../people/wire-cases.ts";
import { difference } from "./difference.ts";

/** The module `wire/wire`, or its procedures called by name. */
export interface Wire {
  echo(value: unknown): Promise<unknown>;
  example(name: string): Promise<unknown>;
  fail(name: string): Promise<unknown>;
  kinds(
    plain: string,
    optional: Date | undefined,
    pattern: { inner: bigint; other?: number },
    list: readonly [Map<string, number>],
    ...rest: readonly unknown[]
  ): Promise<unknown>;
  first(how: string): Promise<unknown>;
  hidden(): Promise<unknown>;
}

export type Report = Readonly<Record<string, string>>;

/** An error as the page caught it. */
export interface Caught {
  readonly name: string;
  readonly message: string;
  readonly trace: readonly string[];
  /** Whether its constructor is the page's class of this name. */
  readonly own: boolean;
}

export interface Checks {
  /** Names of different pairs that the comparison fails to tell apart. */
  blindSpots(): Promise<readonly string[]>;
  /** Every case sent there and back, and every case created on the node. */
  values(): Promise<Report>;
  /** Every class of error, thrown on the node. */
  errors(): Promise<Report>;
  /** Every kind of parameter. */
  kinds(): Promise<Report>;
  /** An error that passes three procedures on two nodes. */
  threeHops(how: string): Promise<Caught>;
  hidden(): Promise<Caught>;
}

const kindsOf: Readonly<Record<string, unknown>> = {
  ...(seamline as Readonly<Record<string, unknown>>),
  OutOfStock,
  Refused,
};

const caught = async (act: () => Promise<unknown>): Promise<Caught> => {
  const error = await act().then(
    () => new Error("nothing was thrown"),
    (thrown: unknown) => thrown as Error,
  );
  const { name, message, trace = [] } = error as Error & { trace?: readonly string[] };
  return {
    name,
    message,
    trace,
    own: error instanceof Error && error.constructor === (kindsOf[name] ?? Error),
  };
};

export function checks(wire: Wire): Checks {
  return {
    blindSpots,
    async values() {
      const report: Record<string, string> = {};
      for (const wireCase of wireCases) {
        const expected = "decoded" in wireCase ? wireCase.decoded : wireCase.value;
        report[`${wireCase.name}: made there`] =
          (await difference(expected, await wire.example(wireCase.name))) ?? "";
        // Services refuse these values from outside, where they could harm the receiver.
        if (wireCase.trusted) {
          const { name, own } = await caught(() => wire.echo(wireCase.value));
          report[`${wireCase.name}: refused`] =
            name === "InvalidSerializedValue" && own ? "" : `it was ${name}`;
        } else
          report[`${wireCase.name}: there and back`] =
            (await difference(expected, await wire.echo(wireCase.value))) ?? "";
      }
      return report;
    },
    async errors() {
      const report: Record<string, string> = {};
      const line = "[wire/fail | v0.0.0]";
      const framework = Object.keys(seamline).filter((name) =>
        isErrorClass((seamline as Readonly<Record<string, unknown>>)[name]),
      );
      for (const name of framework) {
        const found = await caught(() => wire.fail(name));
        const message = name === "Teapot" ? "I'm a teapot" : `by ${name}`;
        // The base class inherits `name` from Error.
        const expected = {
          name: name === "ServiceError" ? found.name : name,
          message,
          trace: [line],
          own: name === "ServiceError" ? found.own : true,
        };
        report[name] = (await difference(expected, found)) ?? "";
      }
      const outOfStock = Object.assign(new OutOfStock("tea"), { since: new Date(0) });
      for (const error of [outOfStock, new Refused("no", 7)]) {
        Object.defineProperty(error, "trace", { value: [line] });
        const found = await wire.fail(error.name).catch((thrown: unknown) => thrown);
        report[error.name] = (await difference(error, found)) ?? "";
      }
      return report;
    },
    async kinds() {
      const day = new Date(5);
      const map = new Map([["a", 1]]);
      const people = [new Person("Ada"), new Person("Bob")];
      return {
        all:
          (await difference(
            ["a", day, 7n, 6, map, people],
            await wire.kinds("a", day, { inner: 7n, other: 6 }, [map], ...people),
          )) ?? "",
        defaults:
          (await difference(
            ["a", new Date(0), 7n, 5, map, []],
            await wire.kinds("a", undefined, { inner: 7n }, [map]),
          )) ?? "",
      };
    },
    threeHops: (how) => caught(() => wire.first(how)),
    hidden: () => caught(() => wire.hidden()),
  };
}

function isErrorClass(value: unknown): boolean {
  if (typeof value !== "function") return false;
  return value === seamline.ServiceError || value.prototype instanceof seamline.ServiceError;
}

async function blindSpots(): Promise<readonly string[]> {
  const ada = new Person("Ada");
  const traced = Object.defineProperty(new Refused("no", 7), "trace", { value: ["[a | v0.0.0]"] });
  const pairs: readonly (readonly [name: string, one: unknown, other: unknown])[] = [
    ["minus zero", -0, 0],
    ["NaN", Number.NaN, null],
    ["a hole", [undefined], []],
    ["undefined and nothing", { a: undefined }, {}],
    ["class and object", ada, { born: undefined }],
    ["private state", ada, new Person("Bob")],
    ["order of a map", new Map([["a", 1], ["b", 2]]), new Map([["b", 2], ["a", 1]])], // prettier-ignore
    ["order of a set", new Set([1, 2]), new Set([2, 1])],
    ["bytes", new Uint8Array([1]), new Uint8Array([2])],
    ["kind of bytes", new Uint8Array([1]), new Int8Array([1])],
    ["bytes of a Blob", new Blob(["a"]), new Blob(["b"])],
    ["type of a Blob", new Blob(["a"], { type: "a/b" }), new Blob(["a"])],
    [
      "name of a File",
      new File([], "a", { lastModified: 0 }),
      new File([], "b", { lastModified: 0 }),
    ],
    [
      "time of a File",
      new File([], "a", { lastModified: 0 }),
      new File([], "a", { lastModified: 1 }),
    ],
    ["File and Blob", new File([], "a"), new Blob([])],
    [
      "name of a DOMException",
      new DOMException("a", "AbortError"),
      new DOMException("a", "TimeoutError"),
    ],
    ["DOMException and Error", new DOMException("a", "Error"), new Error("a")],
    ["invalid date", new Date(Number.NaN), new Date(0)],
    ["flags", /a/g, /a/],
    ["class of an error", new Refused("no", 7), new Error("no")],
    ["field of an error", new Refused("no", 7), new Refused("no", 8)],
    ["cause", new Error("a", { cause: 1 }), new Error("a")],
    ["trace", traced, new Refused("no", 7)],
  ];
  const blind: string[] = [];
  for (const [name, one, other] of pairs)
    if ((await difference(one, other)) === undefined || (await difference(one, one)) !== undefined)
      blind.push(name);
  return blind;
}
