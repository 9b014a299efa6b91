// From what a page writes in `client.import('./shop/quote.js')` to the file that holds the module's face.

import { FileNotFound } from "../src/errors.ts";
import type { Manifest } from "../src/manifest.ts";
import { nearest } from "../src/problem.ts";

/**
 * The file of the module at `path` (§4.6): relative to the source root, with any of the languages' extensions or none;
 * a directory means its index. Throws {@link FileNotFound} for what browsers can't get.
 */
export function fileOfModule({ modules }: Manifest, path: string): string {
  const named = path.replace(/^(\.?\/)+|^\.$|\/$/g, "");
  const bare = named.replace(/\.(m?[jt]s|[jt]sx)$/, "");
  for (const module of [named, bare, `${named}/index`.replace(/^\//, "")])
    if (Object.hasOwn(modules, module)) return modules[module]?.file as string;
  const meant = nearest(bare, Object.keys(modules));
  throw new FileNotFound(
    `'${path}' is not a module that browsers can get; a literal client.import('${path}') in the application, or a glob in clientModules, makes it one` +
      (meant === undefined ? "" : `; did you mean './${meant}'?`),
  );
}
