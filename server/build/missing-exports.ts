// Imports of names that the other module doesn't export. A page that loads one is dead, as the browser refuses to link it; on a node the name is
// `undefined` when it is used. A bundler refuses both, and nothing else does.

import { nearest, type Problem } from "../../src/problem.ts";
import { analyze, importedName, specifierOf } from "../../src/split/analyze.ts";
import { problemAt } from "../../src/split/mark.ts";
import type { Modules, SourceModule } from "./modules.ts";
import type { OpenApplication } from "./open-application.ts";

/** A name that a module imports or re-exports, from a module that has no value of this name. */
interface Suspect {
  readonly specifier: string;
  readonly name: string;
  readonly target: SourceModule;
}

/** One problem for each such name in the modules that pages and nodes load. */
export async function missingExports({
  application,
  parse,
}: Pick<OpenApplication, "application" | "parse">): Promise<readonly Problem[]> {
  const { modules, reached, serverModules } = application;
  const problems: Problem[] = [];
  for (const module of [...new Set([...reached, ...serverModules])].sort((one, other) =>
    one.file < other.file ? -1 : 1,
  )) {
    const suspects = await suspectsIn(module, modules);
    if (suspects.length > 0) problems.push(...judge(module, suspects, modules, parse));
  }
  return problems;
}

async function suspectsIn(module: SourceModule, modules: Modules): Promise<readonly Suspect[]> {
  const { imports, exports } = modules.describe(module);
  const named = [
    ...imports.flatMap(({ specifier, typeOnly, unused, names }) =>
      typeOnly || unused === true
        ? []
        : names.map(({ imported }) => ({ specifier, name: imported })),
    ),
    ...exports.flatMap(({ from }) => from ?? []),
  ];
  const suspects: Suspect[] = [];
  for (const { specifier, name } of named) {
    // With a query, it is what a plugin makes of the file.
    if (name === "*" || /[?#]/.test(specifier)) continue;
    const target = await modules.resolve(specifier, module.file);
    if (target !== undefined && !(await mayExport(target, name, modules)))
      suspects.push({ specifier, name, target });
  }
  return suspects;
}

/** Whether a module exports a value of this name, as far as the application's own modules tell: others may pass on anything. */
async function mayExport(
  module: SourceModule,
  name: string,
  modules: Modules,
  visited: Set<SourceModule> = new Set(),
): Promise<boolean> {
  const { exports, starReexports, problems } = modules.describe(module);
  if (problems.length > 0 || exports.some((one) => one.name === name)) return true;
  if (
    exports.length === 0 &&
    /\bmodule\.exports\b|\bexports\s*[.[]|\bexport\s*=/.test(modules.text(module.file))
  )
    return true;
  if (name === "default") return false;
  visited.add(module);
  for (const specifier of starReexports) {
    const target = await modules.resolve(specifier, module.file);
    if (target === undefined) return true;
    if (!visited.has(target) && (await mayExport(target, name, modules, visited))) return true;
  }
  return false;
}

/** Leaves out what goes with the types: what TypeScript uses as a type only. What it passes on stays, unless it says `type`. */
function judge(
  importer: SourceModule,
  suspects: readonly Suspect[],
  modules: Modules,
  parse: OpenApplication["parse"],
): readonly Problem[] {
  const source = modules.text(importer.file);
  const module = analyze({ file: importer.name, source, parse }, parse(importer.file, source));
  const isTypeScript = /\.m?tsx?$/.test(importer.file);
  const used = new Set(
    module.units.flatMap(({ references }) =>
      references.filter((one) => !one.soft).map((one) => one.name),
    ),
  );
  const find = (specifier: string, name: string): Suspect | undefined =>
    suspects.find((one) => one.specifier === specifier && one.name === name);
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
  if (locals.includes(name) && !exports.some((one) => one.name === name))
    return `Export it in ${target.name}, which declares it.`;
  const names = exports.map((one) => one.name).filter((one) => one !== "default");
  const near = name === "default" ? undefined : nearest(name, names);
  if (near !== undefined) return `Did you mean "${near}"?`;
  return `Export it in ${target.name}, or take the import out.`;
}
