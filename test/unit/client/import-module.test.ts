import { describe, expect, it } from "vitest";
import { fileOfModule } from "../../../client/import-module.ts";
import { noSuchModule } from "../../../client/no-such-module.ts";
import { manifestOf } from "./_page.ts";

const manifest = manifestOf({
  modules: {
    "shop/quote": { file: "assets/quote-1.js" },
    "shop/index": { file: "assets/shop-2.js" },
    "charts.min": { file: "assets/charts-3.js" },
    index: { file: "assets/index-4.js" },
  },
});

describe("the module of client.import", () => {
  it.each([
    "./shop/quote.js",
    "./shop/quote.ts",
    "./shop/quote.mjs",
    "./shop/quote.mts",
    "./shop/quote.jsx",
    "./shop/quote.tsx",
    "./shop/quote",
    "shop/quote",
    "/shop/quote.js",
  ])("finds the module that %s names", (path) => {
    expect(fileOfModule(manifest, path)).toBe("assets/quote-1.js");
  });

  it.each(["./shop", "./shop/", "./shop/index.js", "./shop/index"])(
    "resolves the directory %s to its index",
    (path) => {
      expect(fileOfModule(manifest, path)).toBe("assets/shop-2.js");
    },
  );

  it.each(["./", ".", "", "./index.ts"])("resolves '%s' to the source root's index", (path) => {
    expect(fileOfModule(manifest, path)).toBe("assets/index-4.js");
  });

  it("keeps a dot that is part of a module's name", () => {
    expect(fileOfModule(manifest, "./charts.min.js")).toBe("assets/charts-3.js");
    expect(fileOfModule(manifest, "./charts.min")).toBe("assets/charts-3.js");
  });

  it("the error for an unavailable module names both remedies and the most similar module", () => {
    expect(noSuchModule(manifest, "./shop/qoute.js").message).toMatch(
      /client\.import\('\.\/shop\/qoute\.js'\).*browserModules.*did you mean '\.\/shop\/quote'\?/,
    );
    expect(noSuchModule(manifest, "./nothing/like/it").message).not.toContain("did you mean");
  });

  it.each(["./__proto__", "constructor.js", "./toString"])("doesn't find a module %s", (path) => {
    expect(fileOfModule(manifest, path)).toBeUndefined();
  });
});
