// Finds imports of names that the imported module doesn't export. In a browser the page fails to
// load; on a node the name is `undefined`. Only a bundler would refuse both.

import { nearest, type Problem } from "../../../src/base/problem.ts";
import { problemAt } from "../../../src/split/read/code-frame.ts";
import { importedName, specifierOf } from "../../../src/split/read/node-names.ts";
import type { Modules, SourceModule } from "../read/modules.ts";
import type { Application } from "../cut/application.ts";

/** An import or re-export of a name of which the target exports no value. */
interface Suspect {
  readonly specifier: string;
  readonly name: string;
  readonly target: SourceModule;
}

/** Reports each such name in the modules that pages and nodes load. */
export async function missingExports({
  modules,
  pageModules,
  serverModules,
}: Pick<Application, "modules" | "pageModules" | "serverModules">): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const module of [...new Set([...pageModules, ...serverModules])].sort((a, b) =>
    a.file < b.file ? -1 : 1,
  )) {
    const suspects = await suspectsIn(module, modules);
    if (suspects.length > 0) problems.push(...judge(module, suspects, modules));
  }
  return problems;
}

async function suspectsIn(module: SourceModule, modules: Modules): Promise<readonly Suspect[]> {
  const found = modules.importsOf(module);
  const suspects: Suspect[] = [];
  for (const edge of found instanceof Promise ? await found : found) {
    const { specifier, typeOnly, names, module: target } = edge;
    // With a query, a plugin decides about the exports.
    if (typeOnly || /[?#]/.test(specifier)) continue;
    for (const name of names)
      if (name !== "*" && !exportsItself(target, name, modules))
        if (!(await mayReexport(target, name, modules))) suspects.push({ specifier, name, target });
  }
  return suspects;
}

function exportsItself(module: SourceModule, name: string, modules: Modules): boolean {
  const { exports, problems } = modules.outline(module);
  return (
    problems.length > 0 ||
    exports.some((candidate) => candidate.name === name) ||
    (exports.length === 0 &&
      /\bmodule\.exports\b|\bexports\s*[.[]|\bexport\s*=/.test(modules.text(module.file)))
  );
}

/**
 * Whether a module re-exports a value of this name by a star. If it re-exports a module outside the
 * application, it may.
 */
async function mayReexport(
  module: SourceModule,
  name: string,
  modules: Modules,
  visited: Set<SourceModule> = new Set(),
): Promise<boolean> {
  if (name === "default") return false;
  visited.add(module);
  for (const specifier of modules.outline(module).starReexports) {
    const target = await modules.resolve(specifier, module.file);
    if (target === undefined) return true;
    if (visited.has(target)) continue;
    if (exportsItself(target, name, modules)) return true;
    if (await mayReexport(target, name, modules, visited)) return true;
  }
  return false;
}

/**
 * Ignores names that TypeScript removes because they are used as types only. Re-exports stay unless
 * they say `type`.
 */
function judge(
  importer: SourceModule,
  suspects: readonly Suspect[],
  modules: Modules,
): readonly Problem[] {
  const { module, source } = modules.read(importer);
  if (module === undefined) return [];
  const isTypeScript = /\.m?tsx?$/.test(importer.file);
  const used = new Set(
    module.units.flatMap(({ references }) =>
      references.filter((reference) => !reference.soft).map((reference) => reference.name),
    ),
  );
  const find = (specifier: string, name: string): Suspect | undefined =>
    suspects.find((suspect) => suspect.specifier === specifier && suspect.name === name);
  const problems: Problem[] = [];
  const tell = ({ specifier, name, target }: Suspect, start: number): void => {
    const message =
      name === "default"
        ? `"${specifier}" has no default export`
        : `"${specifier}" doesn't export "${name}"`;
    problems.push(
      problemAt({ file: importer.name, source }, start, message, hintFor(name, target, modules)),
    );
  };
  for (const { kind, node, statement, names } of module.units) {
    const suspect =
      kind === "import" ? find(specifierOf(statement), importedName(node)) : undefined;
    if (suspect !== undefined && (!isTypeScript || names.some((name) => used.has(name))))
      tell(suspect, node.start);
  }
  for (const { specifier, imported, node } of module.reexports) {
    const suspect = find(specifier, imported);
    if (suspect !== undefined) tell(suspect, node.start);
  }
  return problems;
}

function hintFor(name: string, target: SourceModule, modules: Modules): string {
  const { exports, locals } = modules.describe(target);
  if (
    new RegExp(`\\b(?:interface|type)\\s+${name.replace(/\W/g, "\\$&")}(?![\\w$])`).test(
      modules.text(target.file),
    )
  )
    return `If the type "${name}" is meant, write "type" before it.`;
  if (locals.includes(name) && !exports.some((candidate) => candidate.name === name))
    return `Export it in ${target.name}, which declares it.`;
  const names = exports
    .map((candidate) => candidate.name)
    .filter((exported) => exported !== "default");
  const near = name === "default" ? undefined : nearest(name, names);
  if (near !== undefined) return `Did you mean "${near}"?`;
  return `Export it in ${target.name}, or remove the import.`;
}
