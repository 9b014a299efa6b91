import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

import type { ModuleNamespace } from "../../src/base/ports.ts";
import type { OwnImporter } from "./application.ts";

/**
 * Under Vitest, imports modules as the running test does, so that calls return instances of the
 * classes that the test imports. Otherwise `undefined`, and classes come from `cluster.import`.
 */
export async function testImporter(root: string): Promise<OwnImporter | undefined> {
  if (process.env["VITEST"] === undefined) return undefined;
  const file = vitestFile(root) ?? vitestFile(import.meta.dirname);
  if (file === undefined) return undefined;
  const { vi } = (await import(pathToFileURL(file).href)) as {
    vi: { importActual(file: string): Promise<ModuleNamespace> };
  };
  return async (module) => await vi.importActual(module);
}

/** Vitest's ES module entry. `require` would resolve to one that only throws. */
function vitestFile(folder: string): string | undefined {
  try {
    const file = join(
      dirname(createRequire(join(folder, "package.json")).resolve("vitest/package.json")),
      "dist",
      "index.js",
    );
    return existsSync(file) ? file : undefined;
  } catch {
    return undefined;
  }
}
