import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { checked, InvalidParameterValue, type StandardSchema } from "../../src/index.ts";

const line = z.object({ sku: z.string().min(1), metres: z.number().positive() });
const order = z.object({
  email: z.email(),
  lines: z.array(line),
  due: z.string().transform(Number),
});

/** A schema of no library, which says what a test wants. */
function schemaOf(validate: StandardSchema["~standard"]["validate"]): StandardSchema {
  return { "~standard": { version: 1, vendor: "test", validate } };
}

function refusing(
  ...issues: { message: string; path?: readonly (PropertyKey | { key: PropertyKey })[] }[]
): StandardSchema {
  return schemaOf(() => ({ issues }));
}

async function refusal(call: Promise<unknown>): Promise<string> {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(InvalidParameterValue);
  return (error as Error).message;
}

describe("checked", () => {
  it("calls the function with what the schema makes of the first argument, and the others as they are", async () => {
    const run = checked(order, async (given, ...others: number[]) => [given.due, ...others]);
    expect(await run({ email: "ada@example.org", lines: [], due: "7" }, 1, 2)).toEqual([7, 1, 2]);
  });

  it("passes `this` on, and lets a default fill in what a schema leaves undefined", async () => {
    const run = checked(z.string().optional(), async function (this: { a: string }, b = "none") {
      return this.a + b;
    });
    expect(await run.call({ a: "x" })).toBe("xnone");
    expect(await run.call({ a: "x" }, "y")).toBe("xy");
  });

  it("rejects with InvalidParameterValue and the path of each issue, and doesn't run the function", async () => {
    let ran = 0;
    const run = checked(order, async (given) => [++ran, given]);
    const bad = { email: "ada", lines: [{ sku: "", metres: -1 }], due: 7 } as never;
    const message = await refusal(run(bad));
    expect(message.split("\n").map((each) => each.replace(/: .*/, ""))).toEqual([
      "email",
      "lines[0].sku",
      "lines[0].metres",
      "due",
    ]);
    expect(message).toContain("email: Invalid email address");
    expect(ran).toBe(0);
  });

  it("begins paths with the parameter's name, if it is told", async () => {
    const run = checked(order, async (given) => given, "order");
    expect(await refusal(run(null as never))).toMatch(/^order: Invalid input/);
    expect(await refusal(run({ email: "a@b.org", lines: [1], due: "" } as never))).toMatch(
      /^order\.lines\[0\]: Invalid input/,
    );
  });

  it("takes schemas of valibot, whose paths have objects, and asynchronous ones", async () => {
    const schema = v.objectAsync({
      names: v.arrayAsync(
        v.pipeAsync(
          v.string(),
          v.checkAsync(async (name) => name !== "root", "taken"),
        ),
      ),
    });
    const run = checked(schema, async ({ names }) => names.length);
    expect(await run({ names: ["ada"] })).toBe(1);
    expect(await refusal(run({ names: ["ada", "root"] }))).toBe("names[1]: taken");
  });

  it("takes schemas that are functions, as those of arktype are", async () => {
    const schema = Object.assign(
      () => {},
      schemaOf((value) => ({ value: [value] })),
    );
    expect(await checked(schema, async (all) => all)("a")).toEqual(["a"]);
  });

  it("writes each kind of key, and cuts paths and messages", async () => {
    const message = await refusal(
      checked(
        refusing(
          { message: "a", path: ["x y", 0, Symbol("s"), { key: "b" }] },
          { message: "b", path: Array<string>(200).fill("deep") },
          { message: "c".repeat(1_000) },
        ),
        async (given) => given,
      )(1),
    );
    const [first, second, third] = message.split("\n");
    expect(first).toBe('["x y"][0][Symbol(s)].b: a');
    expect(second).toMatch(/^deep\.deep.*….*\.deep: b$/);
    expect(second!.length).toBeLessThan(270);
    expect(third).toBe("c".repeat(256));
  });

  it("lists at most 20 issues", async () => {
    const issues = Array.from({ length: 21 }, (_, index) => ({ message: "no", path: [index] }));
    const lines = (await refusal(checked(refusing(...issues), async (given) => given)(1))).split(
      "\n",
    );
    expect(lines).toHaveLength(21);
    expect(lines.slice(-2)).toEqual(["[19]: no", "and more"]);
  });

  it("has a message also if the schema gives none", async () => {
    expect(await refusal(checked(refusing(), async (given) => given)(1))).toBe("Invalid request");
  });

  it("rejects with what a schema throws", async () => {
    const schema = schemaOf(() => {
      throw new RangeError("broken");
    });
    await expect(checked(schema, async (given) => given)(1)).rejects.toThrow(
      new RangeError("broken"),
    );
  });

  it.each([
    ["nothing", undefined],
    ["null", null],
    ["a function", () => true],
    ["a schema of zod 3", { parse() {} }],
  ])("throws at once if it gets no schema, but %s", (_, schema) => {
    expect(() => checked(schema as never, async () => {})).toThrow(
      new TypeError("checked() needs a Standard Schema"),
    );
  });
});
