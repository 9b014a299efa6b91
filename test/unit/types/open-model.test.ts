// Checks that are written when a function is first called.

import { runInThisContext } from "node:vm";
import { expect, it, vi } from "vitest";
import { openModel } from "../../../server/types/open-model.ts";
import type { TypeModel } from "../../../server/types/model.ts";

const parameter = (to: string) =>
  ({ parameters: [{ kind: "plain", name: "value", type: { kind: "ref", to } }] }) as const;
const node = {
  kind: "object",
  members: {
    metres: { type: { kind: "number" } },
    next: { type: { kind: "ref", to: "Node" }, optional: true },
  },
} as const;
const model: TypeModel = {
  functions: { list: [parameter("List")], name: [parameter("Name")] },
  classes: {},
  definitions: {
    List: { kind: "array", items: { kind: "ref", to: "Node" } },
    Node: node,
    Name: { kind: "object", members: { first: { type: { kind: "string" } } } },
  },
};
const settings = {
  source: "json",
  extra: "drop",
  masked: false,
  maxDigits: 100,
  isTree: true,
  isInstance: () => false,
} as const;

it("a function's checks are written at its first call, of the types that it reaches", () => {
  const evaluate = vi.fn((source: string): unknown => runInThisContext(source));
  const types = openModel(model, evaluate);
  expect(evaluate).not.toHaveBeenCalled();
  const list = types.of("list")!;
  expect(types.of("list")).toBe(list);
  expect(evaluate).toHaveBeenCalledTimes(1);
  expect(evaluate.mock.calls[0]![0]).toContain('v["metres"]');
  expect(evaluate.mock.calls[0]![0]).not.toContain('v["first"]');
  const value = [{ metres: 1, next: { metres: 2 } }];
  expect(list.check([value], settings)).toMatchObject({ positions: [value] });
  expect(list.check([[{ metres: 1, next: { metres: "2" } }]], settings)).toMatchObject({
    refusal: { faults: [expect.objectContaining({ path: "value[0].next.metres" })] },
  });
  expect(types.of("name")!.check([{ first: 1 }], settings)).toHaveProperty("refusal");
});

it("a function that the model hasn't is unknown, whatever it is called", () => {
  const types = openModel(model, runInThisContext);
  expect([types.of("none"), types.of("constructor")]).toEqual([undefined, undefined]);
});
