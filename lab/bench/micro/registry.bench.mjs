// From a name to a procedure, by how many there are.
import { bench, describe } from "vitest";

import { Registry } from "../../../src/runtime/registry.ts";

const of = (count) => {
  const registry = new Registry();
  for (let at = 0; at < count; at++) {
    const record = { fqn: `parts/add${at}`, version: "0.0.0", parameters: [] };
    registry.add("parts", record, { access: "public" }, async () => at);
  }
  return registry;
};

describe("registry", () => {
  for (const count of [10, 1_000, 100_000]) {
    const registry = of(count);
    const name = `parts/add${count - 1}`;
    bench(`find, ${count} procedures`, () => {
      registry.find(name, "0.0.0");
    });
    bench(`findForOutside, ${count} procedures`, () => {
      registry.findForOutside(name, "0.0.0", false);
    });
  }
});
