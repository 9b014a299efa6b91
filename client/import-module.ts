// From what a page writes in `client.import('./shop/quote.js')` to the file that holds the module's face.

import { entryOf, type Manifest } from "../src/manifest.ts";

/**
 * The file of the module at `path` (§4.6): relative to the source root, with any of the languages' extensions or none;
 * a directory means its index. `undefined` for what browsers can't get.
 */
export function fileOfModule({ modules }: Manifest, path: string): string | undefined {
  const named = path.replace(/^(\.?\/)+|^\.$|\/$/g, "");
  const names = [named, withoutExtension(named), named === "" ? "index" : `${named}/index`];
  return names.map((name) => entryOf(modules, name)).find((one) => one !== undefined)?.file;
}

export function withoutExtension(path: string): string {
  return path.replace(/\.(m?[jt]s|[jt]sx)$/, "");
}
