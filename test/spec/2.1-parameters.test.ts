import { describe, expect, it } from "vitest";

import type { Parameter } from "../../src/manifest.ts";
import { type Door, json, knock, serialized } from "../_door.ts";
import { Person } from "../_wire-classes.ts";

const door = (parameters: Parameter[], run: (...args: never[]) => unknown): Door => ({ parameters, run: run });
const post = (at: Door, body: unknown, headers: Record<string, string> = json): ReturnType<typeof knock> =>
  knock(at, { method: "POST", headers, body: JSON.stringify(body) });

describe("§2.1 parameter kinds", () => {
  const greet = door(
    [
      { kind: "plain", name: "greeting" },
      { kind: "plain", name: "name", optional: true },
    ],
    (greeting: string, name = "world") => `${greeting} ${name}`,
  );
  it("plain: by name, in any order", async () => {
    expect(await post(greet, { name: "Ada", greeting: "hello" })).toMatchObject({ status: 200, text: "hello Ada" });
  });
  it("optional: the default value takes the place of what was left out", async () => {
    expect((await post(greet, { greeting: "hello" })).text).toBe("hello world");
    expect((await knock(greet, { query: "greeting=hello" })).text).toBe("hello world");
  });
  it("null is a value, not a missing one", async () => {
    expect((await post(greet, { greeting: null, name: null })).text).toBe("null null");
  });

  const area = door(
    [{ kind: "object", names: [{ name: "width" }, { name: "height", optional: true }] }],
    ({ width: w, height = 2 }: { width: number; height?: number }) => w * height,
  );
  it("destructured: property names at the top level, defaults honoured, aliases by property", async () => {
    expect((await post(area, { width: 3, height: 4 })).text).toBe("12");
    expect((await post(area, { width: 3 })).text).toBe("6");
    expect(await post(area, {})).toMatchObject({ status: 400, text: "Missing value for parameter 'width'" });
    expect(await post(area, { w: 1, width: 1 })).toMatchObject({ status: 400, text: "Unknown parameter 'w'" });
  });
  it("destructured with a default of its own: may be left out as a whole", async () => {
    const whole = door(
      [{ kind: "object", names: [{ name: "a", optional: true }], optional: true }],
      ({ a }: { a?: number } = { a: 7 }) => a,
    );
    expect((await post(whole, {})).text).toBe("7");
    expect((await post(whole, { a: 1 })).text).toBe("1");
  });
  it("destructured array: by the variables' names, holes stay holes", async () => {
    const pair = door(
      [{ kind: "array", names: [{ name: "first" }, null, { name: "third", optional: true }] }],
      ([first, , third = 3]: number[]) => [first, third],
    );
    expect((await post(pair, { first: 1 })).text).toBe("[1,3]");
  });

  const join = door(
    [
      { kind: "plain", name: "by" },
      { kind: "rest", name: "names" },
    ],
    (by: string, ...names: string[]) => names.join(by),
  );
  it("rest: three dots and the name, an array, spread into the call", async () => {
    expect((await post(join, { by: "-", "...names": ["a", "b"] })).text).toBe("a-b");
    expect((await post(join, { by: "-" })).text).toBe("");
  });
  it("rest: needs an array, the dots, and POST", async () => {
    expect(await post(join, { by: "-", "...names": "ab" })).toMatchObject({ status: 400, text: "parameter '...names' must be an array" });
    expect(await post(join, { by: "-", names: ["a"] })).toMatchObject({ status: 400, text: "Unknown parameter 'names'" });
    expect(await knock(join, { query: "by=-&...names=a" })).toMatchObject({ status: 400, text: "parameter '...names' needs POST" });
    expect((await knock(join, { query: "by=-" })).status).toBe(200);
  });

  const describePerson = door([{ kind: "plain", name: "who" }], (who: unknown) =>
    who instanceof Person ? `${who.name}, born ${who.born?.getUTCFullYear()}` : typeof who,
  );
  it("class instance: a serialized object with the header", async () => {
    const who = {
      serialized: true,
      key: "people/Person",
      name: "class",
      args: { 0: "Ada", 1: { serialized: true, name: "Date", value: "1815-12-10T00:00:00.000Z" } },
      fields: {},
    };
    expect((await post(describePerson, { who }, serialized)).text).toBe("Ada, born 1815");
    expect((await post(describePerson, { who })).text).toBe("object");
  });
});
