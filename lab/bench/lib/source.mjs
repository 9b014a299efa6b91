// Parts of a checkout's sources, bundled as the package is, for benches of what it doesn't export.

import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { repository } from "./application.mjs";

/**
 * Bundles what an entry exports; paths in it begin with `~/`, the checkout.
 * @param {string} entry
 * @param {string} [checkout]
 * @returns {Promise<string>} the address of a module
 */
export async function bundled(entry, checkout = repository) {
  const root = resolve(checkout);
  const folder = mkdtempSync(join(tmpdir(), "seamline-source-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const input = join(folder, "entry.ts");
  await writeFile(input, entry.replaceAll('"~/', `"${root}/`));
  const resolver = createRequire(join(root, "package.json"));
  const { build } = await import(pathToFileURL(resolver.resolve("vite")).href);
  await build({
    configFile: false,
    root,
    logLevel: "error",
    ssr: { noExternal: true },
    build: {
      ssr: input,
      outDir: join(folder, "out"),
      target: "node20.19",
      minify: false,
      rolldownOptions: { output: { entryFileNames: "[name].mjs" } },
    },
  });
  return pathToFileURL(join(folder, "out/entry.mjs")).href;
}
