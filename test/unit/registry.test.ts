import { describe, expect, it } from "vitest";

import { ProcedureNotFound } from "../../src/base/errors.ts";
import type { Access, Manifest, SegmentEntry } from "../../src/base/manifest.ts";
import { onlyInBrowsers, Registry } from "../../src/runtime/registry.ts";

it("a registry lists versions in order, independent of the order of segments", () => {
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

describe("switching a registry to another manifest", () => {
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

  it("drops what its segments don't name, and returns the keys", () => {
    const registry = filled();
    expect(
      registry.follow(manifest({ shop: [{ procedure: 1, access: "private" }] }), ["shop"]),
    ).toEqual(["shop/quote@0.0.0"]);
    expect(registry.all().map((one) => one.record.fqn)).toEqual(["shop/stock"]);
    expect(() => registry.findForOutside("shop/quote", "0.0.0", true)).toThrow(
      "Procedure 'shop/quote' v0.0.0 not found",
    );
  });

  it("changes access levels in both directions", () => {
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

  it("updates parameters and keeps the loaded function", async () => {
    const registry = filled();
    const record = { ...quote, parameters: [{ kind: "plain", name: "sku" }] as const };
    registry.follow(manifest({ shop: [{ procedure: 0, access: "public" }] }, [record]), ["shop"]);
    const found = registry.find("shop/quote", "0.0.0");
    expect(found?.bind(new Map([["sku", "tweed"]]))).toEqual(["tweed"]);
    expect(await found?.run()).toBe("quote");
  });

  it("adds no procedure that was not loaded", () => {
    const registry = new Registry();
    expect(
      registry.follow(manifest({ shop: [{ procedure: 0, access: "public" }] }), ["shop", "none"]),
    ).toEqual([]);
    expect(registry.all()).toEqual([]);
  });
});

describe("a procedure that several segments bring", () => {
  const record = {
    fqn: "shop/quote",
    version: "1.0.0",
    module: "shop/quote",
    export: "quote",
    parameters: [{ kind: "plain", name: "sku" }] as const,
  };
  const add = (...entries: readonly Partial<SegmentEntry>[]) => {
    const registry = new Registry();
    for (const [index, entry] of entries.entries())
      registry.add(
        `segment ${index}`,
        record,
        { procedure: 0, access: "public", ...entry },
        async () => index,
      );
    return registry.find("shop/quote", "1.0.0");
  };

  it.each<[Access, Access, Access]>([
    ["private", "protected", "protected"],
    ["protected", "private", "protected"],
    ["public", "private", "public"],
    ["protected", "public", "public"],
    ["public", "protected", "public"],
    ["private", "private", "private"],
  ])("A procedure that is %s in one segment and %s in another is %s", (first, second, access) => {
    expect(add({ access: first }, { access: second })?.access).toBe(access);
  });

  it("A stream that can be resumed is idempotent, if one of its segments says so", () => {
    for (const entries of [
      [{ resume: true }, {}],
      [{}, { resume: true }],
    ] as const)
      expect(add(...entries)).toMatchObject({ resume: true, idempotent: true });
    expect(add({}, {})).toMatchObject({ resume: false, idempotent: false });
  });

  it("A procedure is safe if one of its segments says so, whichever comes first", () => {
    expect(add({ safe: true }, {})?.safe).toBe(true);
    expect(add({}, { safe: true })?.safe).toBe(true);
    expect(add({}, {})?.safe).toBe(false);
  });

  it("A procedure knows each of its segments once, and runs what the last one brought", async () => {
    const found = add({}, {});
    expect(found?.segments).toEqual(["segment 0", "segment 1"]);
    expect(await found?.run()).toBe(1);
    expect(found?.bind(new Map([["sku", 7]]))).toEqual([7]);
  });

  it("A procedure that two segments brought is listed as one version", () => {
    const registry = new Registry();
    for (const segment of ["a", "b"])
      registry.add(segment, record, { procedure: 0, access: "public" }, async () => 1);
    expect(() => registry.findForOutside("shop/quote", "2.0.0", false)).toThrow(
      new ProcedureNotFound("Procedure 'shop/quote' v2.0.0 not found; there is v1.0.0"),
    );
  });
});

describe("what a caller from outside can find", () => {
  const registry = new Registry();
  for (const [version, access] of [
    ["1.0.0", "private"],
    ["2.0.0", "protected"],
    ["3.0.0", "public"],
  ] as const)
    registry.add(
      "shop",
      { fqn: "shop/quote", version, module: "shop/quote", export: "quote", parameters: [] },
      { procedure: 0, access },
      async () => version,
    );

  it("A public and a protected version are found, a private one is as if it weren't there", () => {
    expect(registry.findForOutside("shop/quote", "3.0.0", false).access).toBe("public");
    expect(registry.findForOutside("shop/quote", "2.0.0", false).access).toBe("protected");
    for (const version of ["1.0.0", "9.0.0"])
      expect(() => registry.findForOutside("shop/quote", version, false)).toThrow(
        `Procedure 'shop/quote' v${version} not found; there is v3.0.0`,
      );
  });

  it("A service of the deployment is told of protected versions as well", () => {
    expect(() => registry.findForOutside("shop/quote", "1.0.0", true)).toThrow(
      "Procedure 'shop/quote' v1.0.0 not found; there is v2.0.0, v3.0.0",
    );
  });

  it("A name that nobody has is not found, and no version is named", () => {
    expect(() => registry.findForOutside("shop/none", "1.0.0", true)).toThrow(
      /^Procedure 'shop\/none' v1\.0\.0 not found$/,
    );
  });

  it("A name is callable if one of its versions isn't private, and is listed once", () => {
    expect(registry.callable()).toEqual(["shop/quote"]);
    expect(registry.all()).toHaveLength(3);
  });
});

describe("why no server can answer", () => {
  const places = (
    browserSegments: readonly string[] | undefined,
    ...segments: readonly string[]
  ) => ({
    procedures: [
      {
        fqn: "shop/quote",
        version: "1.0.0",
        module: "shop/quote",
        export: "quote",
        parameters: [],
      },
      {
        fqn: "shop/stock",
        version: "1.0.0",
        module: "shop/stock",
        export: "stock",
        parameters: [],
      },
    ],
    segments: Object.fromEntries([
      ...segments.map((name) => [name, [{ procedure: 0, access: "public" as const }]]),
      ["other", [{ procedure: 1, access: "public" as const }]],
    ]) as Manifest["segments"],
    ...(browserSegments !== undefined && { browserSegments }),
  });

  it.each<[string, ReturnType<typeof places>, string | undefined]>([
    [
      "one segment of browsers",
      places(["ui"], "ui"),
      "it is only in segment 'ui', which browsers load",
    ],
    [
      "two segments of browsers",
      places(["ui", "shop"], "ui", "shop"),
      "it is only in segments 'ui' and 'shop', which browsers load",
    ],
    ["a segment of nodes as well", places(["ui"], "ui", "store"), undefined],
    ["no segment at all", places(["ui"]), undefined],
    [
      "a manifest that doesn't know which segments are for browsers",
      places(undefined, "ui"),
      undefined,
    ],
  ])("A procedure in %s", (_, manifest, reason) => {
    expect(onlyInBrowsers(manifest, "shop/quote")).toBe(reason);
  });
});
