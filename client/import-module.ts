// Resolves the path in `client.import('./shop/quote.js')` to the file with the module's face.

import { entryOf, type Manifest } from "../src/base/manifest.ts";

/**
 * The file of the module at `path`, which is relative to the source root; a script extension is
 * optional, and a directory means its index. `undefined` if browsers can't get the module.
 */
export function fileOfModule({ modules }: Manifest, path: string): string | undefined {
  const base = path.replace(/^(\.?\/)+|^\.$|\/$/g, "");
  const names = [base, withoutExtension(base), base === "" ? "index" : `${base}/index`];
  return names.map((name) => entryOf(modules, name)).find(Boolean)?.file;
}

export function withoutExtension(path: string): string {
  return path.replace(/\.(m?[jt]s|[jt]sx)$/, "");
}
