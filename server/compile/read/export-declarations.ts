// Where the exports of a module are declared, through re-exports.

import type { ModuleExport } from "../../../src/split/describe/describe.ts";
import type { Modules, SourceModule } from "./modules.ts";

/** Where an export is declared, after all re-exports; or why it can't be found. */
export type Declaration =
  | { readonly module: SourceModule; readonly export: ModuleExport }
  | { readonly missing: "export"; readonly module: SourceModule; readonly name: string }
  | { readonly missing: "package"; readonly module: SourceModule; readonly specifier: string };

/** {@link declarationOf} if the module itself decides, which it nearly always does. */
export function declaredIn(
  modules: Modules,
  module: SourceModule,
  name: string,
): Declaration | undefined {
  const { exports, starReexports } = modules.outline(module);
  if (exports.some((candidate) => candidate.name === name)) {
    const found = modules.describe(module).exports.find((candidate) => candidate.name === name);
    return found !== undefined && found.from === undefined ? { module, export: found } : undefined;
  }
  return starReexports.length === 0 || name === "default"
    ? { missing: "export", module, name }
    : undefined;
}

/** Resolves an import in a file. */
type Resolve = (specifier: string, importer: string) => Promise<SourceModule | undefined>;

/**
 * Follows re-exports (`export { a } from`, `export * from`) to the module that declares `name`.
 * `resolve` decides which modules are followed; by default those of the application.
 */
export async function declarationOf(
  modules: Modules,
  module: SourceModule,
  name: string,
  resolve: Resolve = modules.resolve.bind(modules),
  visited: ReadonlySet<string> = new Set(),
): Promise<Declaration> {
  const missing = { missing: "export", module, name } as const;
  const key = `${module.file} ${name}`;
  if (visited.has(key)) return missing;
  const here = declaredIn(modules, module, name);
  if (here !== undefined) return here;
  const { exports, starReexports } = modules.outline(module);
  const from = exports.find((candidate) => candidate.name === name)?.from;
  const seen = new Set([...visited, key]);
  if (from !== undefined) {
    const target = await resolve(from.specifier, module.file);
    return target === undefined
      ? { missing: "package", module, specifier: from.specifier }
      : await declarationOf(modules, target, from.name, resolve, seen);
  }
  for (const specifier of starReexports) {
    const target = await resolve(specifier, module.file);
    if (target === undefined) continue;
    const there = await declarationOf(modules, target, name, resolve, seen);
    if (!("missing" in there) || there.missing === "package") return there;
  }
  return missing;
}

/** Names that a module exports, those of `export *` included. */
export async function exportNames(
  modules: Modules,
  module: SourceModule,
  visited: Set<string> = new Set(),
): Promise<readonly string[]> {
  if (visited.has(module.id)) return [];
  visited.add(module.id);
  const description = modules.outline(module);
  const names = description.exports.map((candidate) => candidate.name);
  for (const specifier of description.starReexports) {
    const target = await modules.resolve(specifier, module.file);
    if (target !== undefined)
      names.push(
        ...(await exportNames(modules, target, visited)).filter((name) => name !== "default"),
      );
  }
  return [...new Set(names)];
}
