import { FileNotFound } from "../src/errors.ts";
import type { Manifest } from "../src/manifest.ts";
import { nearest } from "../src/problem.ts";
import { withoutExtension } from "./import-module.ts";

/** What `client.import` (§4.6) throws for a module that browsers can't get, with the two ways to change that. */
export function noSuchModule({ modules }: Manifest, path: string): FileNotFound {
  const meant = nearest(withoutExtension(path.replace(/^(\.?\/)+/, "")), Object.keys(modules));
  return new FileNotFound(
    `'${path}' is not a module that browsers can get; a literal client.import('${path}') in the application, or a glob in clientModules, makes it one` +
      (meant === undefined ? "" : `; did you mean './${meant}'?`),
  );
}
