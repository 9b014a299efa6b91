import { describe, expect, it } from "vitest";
import { createModuleFiles } from "../../../client/module-files.ts";
import { FileNotFound } from "../../../src/errors.ts";
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

describe("files of a build in a page (performance P6)", () => {
  it("asks for a file and all that it needs before any of it has come, round a circle too", async () => {
    const browser = createBrowser({ "a.js": {}, "b.js": {}, "c.js": {} });
    const files = createModuleFiles(browser);
    files.add(manifest);
    const done = files.preload(["a.js"]);
    expect(browser.preloaded).toEqual(["a.js", "b.js", "c.js"]);
    await done;
  });

  it("asks for each file once", async () => {
    const browser = createBrowser({ "a.js": {}, "b.js": {}, "c.js": {}, "other.js": {} });
    const files = createModuleFiles(browser);
    files.add(manifest);
    await Promise.all([files.import("a.js"), files.import("other.js")]);
    await files.import("a.js");
    expect(browser.preloaded).toEqual(["a.js", "b.js", "c.js", "other.js"]);
  });

  it("runs nothing of a module of which a part is missing, and names the part", async () => {
    const browser = createBrowser({ "a.js": {}, "b.js": {} });
    const files = createModuleFiles(browser);
    files.add(manifest);
    const failure = await files.import("a.js").catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(FileNotFound);
    expect((failure as Error).message).toMatch(/http:\/\/shop\.test\/c\.js/);
    expect(browser.imported).toEqual([]);
  });

  it("asks again for what has failed", async () => {
    const there: Record<string, object> = { "a.js": {}, "b.js": {} };
    const browser = createBrowser(there as never);
    const files = createModuleFiles(browser);
    files.add(manifest);
    await expect(files.import("a.js")).rejects.toThrow(FileNotFound);
    there["c.js"] = {};
    await files.import("a.js");
    expect(browser.imported).toEqual(["a.js"]);
    expect(browser.preloaded.filter((file) => file === "a.js")).toHaveLength(1);
  });
});
