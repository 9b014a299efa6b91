import { describe, expect, it } from "vitest";

import type { Manifest } from "../../src/manifest.ts";
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

describe("a manifest that takes the place of another", () => {
  const quote = {
    fqn: "shop/quote",
    version: "0.0.0",
    module: "shop/quote",
    export: "quote",
    parameters: [],
  };
  const stock = {
    fqn: "shop/stock",
    version: "0.0.0",
    module: "shop/stock",
    export: "stock",
    parameters: [],
  };
  const manifest = (
    segments: Manifest["segments"],
    procedures: Manifest["procedures"] = [quote, stock],
  ): Manifest => ({
    format: 1,
    revision: "next",
    procedures,
    segments,
    classes: [],
    modules: {},
    files: {},
  });
  const filled = (): Registry => {
    const registry = new Registry();
    registry.add("shop", quote, { procedure: 0, access: "public" }, async () => "quote");
    registry.add("shop", stock, { procedure: 1, access: "private" }, async () => "stock");
    return registry;
  };

  it("lets go of what its segments don't name, and tells", () => {
    const registry = filled();
    expect(
      registry.follow(manifest({ shop: [{ procedure: 1, access: "private" }] }), ["shop"]),
    ).toEqual(["shop/quote@0.0.0"]);
    expect(registry.all().map((one) => one.record.fqn)).toEqual(["shop/stock"]);
    expect(() => registry.findForOutside("shop/quote", "0.0.0", true)).toThrow(
      "Procedure 'shop/quote' v0.0.0 not found",
    );
  });

  it("closes what was open, and opens what was closed", () => {
    const registry = filled();
    registry.follow(
      manifest({
        shop: [
          { procedure: 0, access: "private" },
          { procedure: 1, access: "public" },
        ],
      }),
      ["shop"],
    );
    expect(registry.callable()).toEqual(["shop/stock"]);
  });

  it("takes other parameters, under the function that is there", async () => {
    const registry = filled();
    const record = { ...quote, parameters: [{ kind: "plain", name: "sku" }] as const };
    registry.follow(manifest({ shop: [{ procedure: 0, access: "public" }] }, [record]), ["shop"]);
    const found = registry.find("shop/quote", "0.0.0");
    expect(found?.bind(new Map([["sku", "tweed"]]))).toEqual(["tweed"]);
    expect(await found?.run()).toBe("quote");
  });

  it("brings nothing that isn't there", () => {
    const registry = new Registry();
    expect(
      registry.follow(manifest({ shop: [{ procedure: 0, access: "public" }] }), ["shop", "none"]),
    ).toEqual([]);
    expect(registry.all()).toEqual([]);
  });
});
