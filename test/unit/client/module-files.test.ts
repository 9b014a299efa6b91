import { describe, expect, it } from "vitest";
import { createModuleFiles } from "../../../client/module-files.ts";
import { FileNotFound } from "../../../src/base/errors.ts";
import { createBrowser, fileOf, manifestOf } from "./_page.ts";

const manifest = manifestOf({
  files: {
    "a.js": fileOf("b.js", "photo.png"),
    "b.js": fileOf("c.js"),
    "c.js": fileOf("a.js"),
    "other.js": fileOf("c.js"),
    "photo.png": fileOf(),
  },
});

describe("loading the files of a build", () => {
  it("requests a file and all its imports at once, including circular ones", async () => {
    const browser = createBrowser({ "a.js": {}, "b.js": {}, "c.js": {} });
    const files = createModuleFiles(browser);
    files.add(manifest);
    const done = files.preload(["a.js"]);
    expect(browser.preloaded).toEqual(["a.js", "b.js", "c.js"]);
    await done;
  });

  it("requests each file once", async () => {
    const browser = createBrowser({ "a.js": {}, "b.js": {}, "c.js": {}, "other.js": {} });
    const files = createModuleFiles(browser);
    files.add(manifest);
    await Promise.all([files.import("a.js"), files.import("other.js")]);
    await files.import("a.js");
    expect(browser.preloaded).toEqual(["a.js", "b.js", "c.js", "other.js"]);
  });

  it("doesn't run a module with a missing import, and names the missing file", async () => {
    const browser = createBrowser({ "a.js": {}, "b.js": {} });
    const files = createModuleFiles(browser);
    files.add(manifest);
    const failure = await files.import("a.js").catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(FileNotFound);
    expect((failure as Error).message).toMatch(/http:\/\/shop\.test\/c\.js/);
    expect(browser.imported).toEqual([]);
  });

  it("requests a file again after a failure", async () => {
    const served: Record<string, object> = { "a.js": {}, "b.js": {} };
    const browser = createBrowser(served as never);
    const files = createModuleFiles(browser);
    files.add(manifest);
    await expect(files.import("a.js")).rejects.toThrow(FileNotFound);
    served["c.js"] = {};
    await files.import("a.js");
    expect(browser.imported).toEqual(["a.js"]);
    expect(browser.preloaded.filter((file) => file === "a.js")).toHaveLength(1);
  });
});

describe("preloading", () => {
  it("includes style sheets that modules import, but not images or unknown files", async () => {
    const browser = createBrowser({ "page.mjs": {}, "page.css": {} });
    const files = createModuleFiles(browser);
    files.add(
      manifestOf({
        files: {
          "page.mjs": fileOf("page.css", "logo.svg", "elsewhere.js"),
          "page.css": fileOf(),
          "logo.svg": fileOf(),
        },
      }),
    );
    await files.import("page.mjs");
    expect(browser.preloaded).toEqual(["page.mjs", "page.css"]);
    expect(browser.imported).toEqual(["page.mjs"]);
  });

  it("knows the files of two revisions at the same time", async () => {
    const browser = createBrowser({ "a-1.js": {}, "a-2.js": {} });
    const files = createModuleFiles(browser);
    files.add(manifestOf({ files: { "a-1.js": fileOf() } }));
    files.add(manifestOf({ revision: "r2", files: { "a-2.js": fileOf() } }));
    await files.preload(["a-1.js", "a-2.js"]);
    expect(browser.preloaded).toEqual(["a-1.js", "a-2.js"]);
  });
});
