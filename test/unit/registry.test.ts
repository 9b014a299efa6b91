import { expect, it } from "vitest";

import { Registry } from "../../src/registry.ts";

it("lists the versions that are there in their order, in whichever order segments brought them", () => {
  const registry = new Registry();
  for (const version of ["10.0.0", "2.1.0", "2.0.0"])
    registry.add(
      "shop",
      { fqn: "shop/quote", version, module: "shop/quote", export: "quote", parameters: [] },
      { procedure: 0, access: "public" },
      async () => version,
    );
  expect(() => registry.findForOutside("shop/quote", "0.0.0", false)).toThrow(
    "Procedure 'shop/quote' v0.0.0 not found; there is v2.0.0, v2.1.0, v10.0.0",
  );
});
