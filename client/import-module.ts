// `client.import('./shop/quote.js')`. Part of /svc/plain.js: bundled pages have imports.

import type { ModuleLoader, ModuleNamespace } from "../src/base/ports.ts";
import { entryOf, type Manifest } from "../src/base/manifest.ts";
import { noSuchModule, withoutExtension } from "./no-such-module.ts";
import type { Revisions } from "./page-parts.ts";

/** The module at `path`, with its faces. Rejects with FileNotFound if browsers can't get it. */
export async function importModule(
  {
    revisions,
    files,
  }: { readonly revisions: Revisions; readonly files: Pick<ModuleLoader, "import"> },
  path: string,
): Promise<ModuleNamespace> {
  return await revisions.use(async (manifest) => {
    const file = fileOfModule(manifest, path);
    if (file === undefined) throw noSuchModule(manifest, path);
    return await files.import(file);
  });
}

/**
 * The file of the module at `path`, which is relative to the source root; a script extension is
 * optional, and a directory means its index. `undefined` if browsers can't get the module.
 */
export function fileOfModule({ modules }: Manifest, path: string): string | undefined {
  const base = path.replace(/^(\.?\/)+|^\.$|\/$/g, "");
  const names = [base, withoutExtension(base), base === "" ? "index" : `${base}/index`];
  return names.map((name) => entryOf(modules, name)).find(Boolean)?.file;
}
