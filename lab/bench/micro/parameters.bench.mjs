// From names to positions, and back.
import { bench, describe } from "vitest";

import { bindArguments, convertQuery, nameArguments } from "../../../src/runtime/parameters.ts";

const plain = (name, more) => ({ kind: "plain", name, ...more });
const shapes = {
  "two plain": [[plain("a"), plain("b")], { a: 1, b: 2 }, [1, 2]],
  "an optional one left out": [[plain("a"), plain("b", { optional: true })], { a: 1 }, [1]],
  "a destructured one": [
    [{ kind: "object", names: [{ name: "sku" }, { name: "metres" }] }],
    { sku: "tweed", metres: 2 },
    [{ sku: "tweed", metres: 2 }],
  ],
  rest: [[plain("a"), { kind: "rest", name: "more" }], { a: 1, "...more": [2, 3] }, [1, 2, 3]],
};

describe("parameters", () => {
  for (const [name, [parameters, named, positions]] of Object.entries(shapes)) {
    const bind = bindArguments(parameters);
    const back = nameArguments(parameters);
    const args = new Map(Object.entries(named));
    bench(`to positions, ${name}`, () => {
      bind(args);
    });
    bench(`to names, ${name}`, () => {
      back(positions);
    });
  }
  const typed = [plain("a", { type: "number" }), plain("b", { type: "number" })];
  bench("from a query, two numbers", () => {
    convertQuery(typed, new URLSearchParams("a=1&b=2"));
  });
});
