// A private procedure answers on its own nodes only (decisions §6, private). Code of another segment that imports it will get
// ProcedureNotFound, so the build says so beforehand.

import type { Problem } from "../../src/problem.ts";
import type { ModuleImport } from "../../src/split/describe.ts";
import type { CutModule } from "./cut.ts";
import type { Modules, SourceModule } from "./modules.ts";
import type { Procedure } from "./procedures.ts";

interface Step {
  readonly module: SourceModule;
  readonly imports: readonly ModuleImport[];
  readonly from?: Step;
}

/** One warning for each private procedure and segment whose code imports it without holding it, with the chain of imports. */
export async function privateImports(options: {
  procedures: readonly Procedure[];
  cut: ReadonlyMap<string, CutModule>;
  modules: Modules;
  clients: readonly string[];
  pages: ReadonlySet<SourceModule>;
}): Promise<readonly Problem[]> {
  const { procedures, cut, modules } = options;
  const hidden = procedures.filter((one) => one.entries.every(({ entry }) => entry.access === "private"));
  if (hidden.length === 0) return [];
  const warnings: Problem[] = [];
  const check = async (who: string, holders: readonly string[], start: readonly Step[]): Promise<void> => {
    const away = hidden.filter((one) => !one.entries.some(({ segment }) => holders.includes(segment.name)));
    for (const { procedure, chain } of await findImports(away, start, cut, modules))
      warnings.push({
        file: chain[0] ?? procedure.module.name,
        message: `"${procedure.fqn}" is private to ${segmentsOf(procedure)}, but code of ${who} imports it: ${chain.join(" → ")}`,
        hint: "A call from there will be a ProcedureNotFound: name it in that segment too, or make it public or protected.",
      });
  };
  for (const segment of new Set(procedures.flatMap((one) => one.entries.map((entry) => entry.segment.name)))) {
    const held = procedures.filter((one) => one.entries.some((entry) => entry.segment.name === segment));
    const start = [...new Set(held.map((one) => one.module))].map((module) => bodyOf(module, held, cut, modules));
    await check(`segment "${segment}"`, [segment], start);
  }
  const pages = [...options.pages].filter((module) => !cut.has(module.file));
  await check(
    "pages",
    options.clients,
    pages.map((module) => ({ module, imports: modules.describe(module).imports })),
  );
  return warnings;
}

/** What the code of these procedures imports, that of their siblings left out. */
function bodyOf(module: SourceModule, held: readonly Procedure[], cut: ReadonlyMap<string, CutModule>, modules: Modules): Step {
  const exports = new Set(held.filter((one) => one.module === module).map((one) => one.export));
  return { module, imports: modules.describePart(module, cut.get(module.file)?.bodyOf(exports)).imports };
}

async function findImports(
  hidden: readonly Procedure[],
  start: readonly Step[],
  cut: ReadonlyMap<string, CutModule>,
  modules: Modules,
): Promise<readonly { procedure: Procedure; chain: readonly string[] }[]> {
  const found = new Map<Procedure, readonly string[]>();
  const visited = new Set<SourceModule>();
  const queue = [...start];
  for (let step = queue.shift(); step !== undefined; step = queue.shift()) {
    for (const { specifier, typeOnly, names } of step.imports) {
      const target = typeOnly ? undefined : await modules.resolve(specifier, step.module.file);
      if (target === undefined) continue;
      for (const { imported } of names) {
        const declared = imported === "*" ? undefined : await modules.declaration(target, imported);
        const procedure = hidden.find((one) =>
          declared === undefined
            ? one.module === target
            : !("missing" in declared) && one.module === declared.module && one.export === declared.export.name,
        );
        if (procedure !== undefined && !found.has(procedure)) found.set(procedure, [...chainOf(step), procedure.module.name]);
      }
      if (visited.has(target)) continue;
      visited.add(target);
      // Behind a face stands its shared part, never a body.
      const parts = cut.get(target.file)?.parts.server;
      const { imports } = parts === undefined ? modules.describe(target) : modules.describePart(target, parts.shared);
      queue.push({ module: target, imports, from: step });
    }
  }
  return [...found].map(([procedure, chain]) => ({ procedure, chain }));
}

function chainOf(step: Step): readonly string[] {
  return step.from === undefined ? [step.module.name] : [...chainOf(step.from), step.module.name];
}

function segmentsOf(procedure: Procedure): string {
  return procedure.entries.map(({ segment }) => `"${segment.name}"`).join(", ");
}
