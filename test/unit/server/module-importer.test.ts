import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";

import { applicationImporter } from "../../../server/modules/module-importer.ts";

const root = mkdtempSync(join(tmpdir(), "application-importer-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const files = {
  "node_modules/words/package.json": '{ "type": "module", "exports": { "import": "./index.js" } }',
  "node_modules/words/index.js": 'export const name = "package";',
  "checks/disk.mjs": 'export const name = "path";',
};
for (const [path, text] of Object.entries(files)) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

describe("the application's importer", () => {
  const importer = applicationImporter(root);

  it.each([
    ["a package as the application has it installed", "words", "package"],
    ["a path from the application folder", "./checks/disk.mjs", "path"],
    ["an absolute path", join(root, "checks/disk.mjs"), "path"],
    ["a file by its address", pathToFileURL(join(root, "checks/disk.mjs")).href, "path"],
    ["a module of Node", "node:path", undefined],
  ])("imports %s", async (_, specifier, name) => {
    expect((await importer(specifier))["name"]).toBe(name);
  });

  it("rejects with Node's own error if a package isn't installed", async () => {
    await expect(importer("no-such-package")).rejects.toMatchObject({
      code: "ERR_MODULE_NOT_FOUND",
    });
  });
});
