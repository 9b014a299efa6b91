// Finds the function behind every entry of the segment files, and what is wrong with entries.

import { fqnOf, fqnOfAnonymousDefault, procedureKey } from "../../../src/base/fqn.ts";
import { type Problem, nearest } from "../../../src/base/problem.ts";
import type { SegmentFile, SegmentFileEntry } from "../../../src/runtime/segment.ts";
import type { ModuleDescription, ModuleExport } from "../../../src/split/describe/describe.ts";
import { parameterNames } from "../../../src/split/procedures/read-parameters.ts";
import {
  type ApplicationProcedure,
  type NamedEntry,
  type NamedFunction,
  disagreement,
  generator,
  groupBy,
  isRoute,
  placeOf,
  sameNames,
  scattered,
  twins,
  versionParameter,
} from "./application-procedure.ts";
import { routeProblems } from "../rules/route-problems.ts";
import { declarationOf, exportNames } from "../read/export-declarations.ts";
import type { FileMemory } from "../read/file-memory.ts";
import { linkOnTheWay } from "../rules/links.ts";
import type { Modules, SourceModule } from "../read/modules.ts";

/**
 * Finds the function behind every entry. Mistakes in segment files are added to `problems` and
 * `warnings`; the result has the procedures and routes without problems.
 */
export async function resolveEntries(
  segments: readonly SegmentFile[],
  { modules, memory }: { modules: Modules; memory: FileMemory },
  problems: Problem[],
  warnings: Problem[],
): Promise<readonly ApplicationProcedure[]> {
  problems.push(...sameNames(segments));
  const found: NamedFunction[] = [];
  for (const segment of segments) {
    const memo = memory.ofObject<{ latest?: FunctionsOfSegment }>(segment, () => ({}));
    if (memo.latest?.modules !== modules || !modules.hold(memo.latest.consulted))
      memo.latest = await findFunctions(segment, modules);
    found.push(...memo.latest.found);
    problems.push(...memo.latest.problems);
  }
  const procedures: ApplicationProcedure[] = [];
  // Two exports of one function are one function, so its own name decides, if it has one.
  for (const group of groupBy(
    found,
    (named) => `${named.module.id}#${named.export.ownName ?? named.export.name}`,
  )) {
    const [first, ...others] = group as [NamedFunction, ...NamedFunction[]];
    problems.push(...others.flatMap((other) => disagreement(first, other)));
    const isMadeRoute = first.entry.route !== undefined && first.export.untyped === true;
    if (first.export.problems.length > 0 && !isMadeRoute) problems.push(...first.export.problems);
    else
      procedures.push({
        fqn: first.fqn,
        version: first.entry.version,
        module: first.module,
        export: first.export.name,
        parameters: first.export.parameters ?? [],
        entries: group,
        ...(first.entry.route !== undefined && { route: first.entry.route }),
      });
  }
  const calls = procedures.filter((procedure) => !isRoute(procedure));
  problems.push(...twins(calls), ...scattered(calls), ...routeProblems(procedures));
  warnings.push(...found.filter((named) => named.export.generator === true).map(generator));
  warnings.push(
    ...procedures
      .filter((procedure) => !isRoute(procedure))
      .filter((procedure) => procedure.parameters.flatMap(parameterNames).includes("version"))
      .map(versionParameter),
  );
  const keyed = procedures.map((procedure) => ({
    procedure,
    key: procedureKey(procedure.fqn, procedure.version),
  }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ procedure }) => procedure);
}

/** The functions of one segment file, valid while the consulted modules don't change. */
interface FunctionsOfSegment {
  readonly found: readonly NamedFunction[];
  readonly problems: readonly Problem[];
  readonly modules: Modules;
  readonly consulted: ReadonlyMap<SourceModule, ModuleDescription>;
}

async function findFunctions(segment: SegmentFile, modules: Modules): Promise<FunctionsOfSegment> {
  const found: NamedFunction[] = [];
  const problems: Problem[] = [];
  /** JSON paths of the entries that name classes. */
  const classes: string[] = [];
  const consulted = await modules.consulted(async () => {
    for (const entry of segment.entries) {
      const named = await findFunction({ segment, entry }, modules, problems);
      if (named?.export.kind === "class") {
        classes.push(entry.path);
        problems.push(...named.export.problems);
      } else if (named !== undefined) found.push(named);
    }
    for (const { module: key, export: name, path } of segment.unread) {
      const module = modules.find(key);
      const declared =
        module === undefined ? undefined : await declarationOf(modules, module, name);
      if (declared === undefined || "missing" in declared || declared.export.kind !== "class")
        continue;
      classes.push(path);
      problems.push(...declared.export.problems);
    }
  });
  // Classes need no entry, so other mistakes in such an entry don't matter.
  const rest = segment.problems.filter(
    ({ path = "" }) => !classes.some((classPath) => isAtOrBelow(path, classPath)),
  );
  return { found, problems: [...rest, ...problems], modules, consulted };
}

/** Whether a JSON path is `entry` or below it. */
function isAtOrBelow(path: string, entry: string): boolean {
  return path === entry || path.startsWith(`${entry}.`) || path.startsWith(`${entry}[`);
}

async function findFunction(
  named: NamedEntry,
  modules: Modules,
  problems: Problem[],
): Promise<NamedFunction | undefined> {
  const { entry } = named;
  const refuse = (message: string, hint?: string): undefined => {
    problems.push({ ...placeOf(named), message, ...(hint === undefined ? {} : { hint }) });
  };
  const module = modules.find(entry.module);
  if (module === undefined) {
    const behind = linkOnTheWay(entry.module, modules);
    if (behind !== undefined)
      return refuse(
        `expected a module of the source folder, but ${JSON.stringify(entry.module)} is behind ${behind.link}, which is a link`,
        behind.instead === undefined
          ? "Put the folder itself there."
          : `Name its real path: "${behind.instead}".`,
      );
    return refuse(
      `expected a module of the source folder, but ${JSON.stringify(entry.module)} isn't one`,
      moduleMeant(entry, modules),
    );
  }
  // The problems of an unreadable module say more than "no such export".
  if (modules.describe(module).problems.length > 0) {
    problems.push(...modules.describe(module).problems);
    return undefined;
  }
  const declaration = await declarationOf(modules, module, entry.export);
  if ("missing" in declaration) {
    if (declaration.missing === "package")
      return refuse(
        `"${entry.export}" of ${module.name} comes from "${declaration.specifier}", which isn't a module of the source folder`,
        "Only functions that the application itself declares can be procedures: wrap it in an async function of your own.",
      );
    const names = await exportNames(modules, module);
    const near = nearest(entry.export, names);
    if (modules.describe(module).locals.includes(entry.export))
      return refuse(
        `expected an export of ${module.name}, but "${entry.export}" is not exported`,
        "Write 'export' in front of it.",
      );
    return refuse(
      `expected an export of ${module.name}, but it has none named "${entry.export}"; it exports ${names.join(", ") || "nothing"}`,
      near === undefined ? undefined : `Did you mean "${near}"?`,
    );
  }
  return { ...named, ...declaration, fqn: nameOf(module, entry, declaration.export) };
}

/** For an entry whose module doesn't exist: one with a similar name, or the only one with the export. */
function moduleMeant(entry: SegmentFileEntry, modules: Modules): string | undefined {
  const near = nearest(
    entry.module.replace(/\.\w+$/, ""),
    [...modules.ids].map((id) => `./${id}`),
  );
  if (near !== undefined) return `Did you mean "${near}"?`;
  if (entry.export === "default") return undefined;
  const [only, ...others] = [...modules.ids].filter((id) => {
    const module = modules.get(id);
    return module && modules.describe(module).exports.some(({ name }) => name === entry.export);
  });
  return only === undefined || others.length > 0
    ? undefined
    : `"./${only}" exports "${entry.export}": if the file was renamed, name it here.`;
}

/** The FQN is that of the module that the segment names, wherever the function is declared. */
function nameOf(module: SourceModule, entry: SegmentFileEntry, declared: ModuleExport): string {
  const name =
    entry.as ?? declared.ownName ?? (entry.export === "default" ? undefined : entry.export);
  return name === undefined ? fqnOfAnonymousDefault(module.id) : fqnOf(module.id, name);
}
