import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { loadVite } from "../../../server/compile/read/load-vite.ts";

it("an older Vite is refused with its version and the one to install", async () => {
  const root = mkdtempSync(join(tmpdir(), "seamline-vite-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const vite = join(root, "node_modules/vite");
  mkdirSync(vite, { recursive: true });
  writeFileSync(join(vite, "package.json"), '{ "type": "module", "exports": "./index.js" }');
  writeFileSync(join(vite, "index.js"), 'export const version = "7.3.1";');
  await expect(loadVite(root)).rejects.toThrow(
    `A build needs Vite 8, and ${root} has 7.3.1: npm install --save-dev vite@8`,
  );
});
