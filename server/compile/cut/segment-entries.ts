// Finds the function behind every entry of the segment files.

import { lstatSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";

import { fqnOf, fqnOfAnonymousDefault, procedureKey } from "../../../src/base/fqn.ts";
import { type Problem, nearest } from "../../../src/base/problem.ts";
import type { SegmentFile, SegmentFileEntry } from "../../../src/runtime/segment.ts";
import type { ModuleExport } from "../../../src/split/describe/describe.ts";
import { isInside, realPath, slashed } from "../../files/sources.ts";
import { declarationOf, declaredIn, exportNames } from "../read/export-declarations.ts";
import type { Modules, SourceModule } from "../read/modules.ts";
import { type Guard, type Guards, resolveGuards } from "./guards.ts";
import {
  type ApplicationProcedure,
  type NamedEntry,
  type NamedFunction,
  functionKey,
  groupBy,
  placeOf,
} from "./application-procedure.ts";

/** The functions that segment files name. */
export interface SegmentEntries {
  /** One for each entry. */
  readonly functions: readonly NamedFunction[];
  /** The procedures and routes without problems, in a fixed order. */
  readonly named: readonly ApplicationProcedure[];
  /** The guards that callers from outside must pass before some of them, by name. */
  readonly guards: ReadonlyMap<string, Guard>;
  /** Mistakes in single entries, and in the functions that they name. */
  readonly problems: readonly Problem[];
}

/** Finds the function behind every entry. `validate` counts where an entry says nothing of it. */
export async function resolveEntries(
  segments: readonly SegmentFile[],
  modules: Modules,
  validate?: boolean,
): Promise<SegmentEntries> {
  const problems: Problem[] = [];
  const written: NamedFunction[] = [];
  for (const segment of segments) {
    const found = await findFunctions(segment, modules);
    written.push(...found.functions);
    problems.push(...found.problems);
  }
  const guards = await resolveGuards(segments, written, modules);
  problems.push(...guards.problems);
  const functions = written.map((named) => withDefaults(named, { guards, validate, modules }));
  const named: ApplicationProcedure[] = [];
  for (const group of groupBy(functions, functionKey)) {
    const [first] = group;
    const isMadeRoute = first.entry.route !== undefined && first.export.untyped === true;
    if (first.export.problems.length > 0 && !isMadeRoute) problems.push(...first.export.problems);
    else named.push(procedureOf(group, modules));
  }
  const keyOf = ({ fqn, version }: ApplicationProcedure): string => procedureKey(fqn, version);
  return {
    functions,
    named: named.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
    guards: guards.all,
    problems,
  };
}

/**
 * The previous reading's results for one entry. If nothing has changed, they are the same objects, so that
 * values cached by them are found again.
 */
interface Earlier {
  named?: NamedFunction;
  procedure?: ApplicationProcedure;
}

const earlierOf = (entry: object, { memory }: Modules): Earlier =>
  memory.ofObject<Earlier>(entry, () => ({}));

/** The procedure that these entries name. */
function procedureOf(
  group: ApplicationProcedure["entries"],
  modules: Modules,
): ApplicationProcedure {
  const [first] = group;
  const earlier = earlierOf(first, modules);
  const { entries } = earlier.procedure ?? {};
  if (entries?.length === group.length && group.every((named, at) => named === entries[at]))
    return earlier.procedure!;
  return (earlier.procedure = {
    fqn: first.fqn,
    version: first.entry.version,
    module: first.module,
    export: first.export.name,
    parameters: first.export.parameters ?? [],
    ...(first.export.stream && { stream: true as const }),
    entries: group,
    ...(first.entry.route !== undefined && { route: first.entry.route }),
  });
}

/**
 * The function with its guard by name, which other entries may write in another way, and with the defaults of
 * its entry.
 */
function withDefaults(
  named: NamedFunction,
  {
    guards,
    validate,
    modules,
  }: {
    readonly guards: Guards;
    readonly validate: boolean | undefined;
    readonly modules: Modules;
  },
): NamedFunction {
  const { entry } = named;
  const guard = entry.guard && (guards.nameOf(entry.guard) ?? entry.guard);
  const isChecked = entry.validate ?? (entry.route === undefined ? validate : undefined);
  if (guard === entry.guard && isChecked === entry.validate) return named;
  const earlier = earlierOf(named, modules);
  const known = earlier.named?.entry;
  if (earlier.named !== undefined && known?.guard === guard && known?.validate === isChecked)
    return earlier.named;
  const added = {
    ...(guard !== undefined && { guard }),
    ...(isChecked !== undefined && { validate: isChecked }),
  };
  return (earlier.named = { ...named, entry: { ...entry, ...added } });
}

async function findFunctions(
  segment: SegmentFile,
  modules: Modules,
): Promise<Pick<SegmentEntries, "functions" | "problems">> {
  const functions: NamedFunction[] = [];
  const problems: Problem[] = [];
  /** JSON paths of the entries that name classes. */
  const classes: string[] = [];
  for (const entry of segment.entries) {
    const found = findFunction({ segment, entry }, modules, problems);
    const named = found instanceof Promise ? await found : found;
    if (named?.export.kind === "class") {
      classes.push(entry.path);
      problems.push(...named.export.problems);
    } else if (named !== undefined) functions.push(named);
  }
  for (const { module: key, export: name, path } of segment.unread) {
    const module = modules.find(key);
    const declared = module === undefined ? undefined : await declarationOf(modules, module, name);
    if (declared === undefined || "missing" in declared || declared.export.kind !== "class")
      continue;
    classes.push(path);
    problems.push(...declared.export.problems);
  }
  // Classes need no entry, so other mistakes in such an entry don't matter.
  const rest = segment.problems.filter(
    ({ path = "" }) => !classes.some((classPath) => isAtOrBelow(path, classPath)),
  );
  return { functions, problems: [...rest, ...problems] };
}

/** Whether a JSON path is `entry` or below it. */
function isAtOrBelow(path: string, entry: string): boolean {
  return path === entry || path.startsWith(`${entry}.`) || path.startsWith(`${entry}[`);
}

/** No promise where the entry's module itself declares the function: there are thousands of entries. */
function findFunction(
  named: NamedEntry,
  modules: Modules,
  problems: Problem[],
): NamedFunction | undefined | Promise<NamedFunction | undefined> {
  const { entry } = named;
  const refuse = refuser(named, problems);
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
  const declaration = declaredIn(modules, module, entry.export);
  return declaration === undefined || "missing" in declaration
    ? followFunction(named, module, modules, problems)
    : functionOf(named, module, declaration, modules);
}

type Refuse = (message: string, hint?: string) => undefined;

const refuser =
  (named: NamedEntry, problems: Problem[]): Refuse =>
  (message, hint) => {
    problems.push({ ...placeOf(named), message, ...(hint === undefined ? {} : { hint }) });
  };

/** The function where other modules may declare it, or why there is none. */
async function followFunction(
  named: NamedEntry,
  module: SourceModule,
  modules: Modules,
  problems: Problem[],
): Promise<NamedFunction | undefined> {
  const { entry } = named;
  const refuse = refuser(named, problems);
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
  return functionOf(named, module, declaration, modules);
}

function functionOf(
  named: NamedEntry,
  module: SourceModule,
  declaration: Pick<NamedFunction, "module" | "export">,
  modules: Modules,
): NamedFunction {
  const { entry } = named;
  const fqn = nameOf(module, entry, declaration.export);
  const earlier = earlierOf(entry, modules);
  if (
    earlier.named?.fqn !== fqn ||
    earlier.named.module !== declaration.module ||
    earlier.named.export !== declaration.export
  )
    earlier.named = { ...named, ...declaration, fqn };
  return earlier.named;
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

/**
 * The last symbolic link in a path that a segment file names, and the path to name instead, if
 * there is one.
 */
function linkOnTheWay(
  key: string,
  { root, source }: Pick<Modules, "root" | "source">,
): { readonly link: string; readonly instead: string | undefined } | undefined {
  for (let path = dirname(resolve(source, key)); isInside(source, path); path = dirname(path)) {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
    const instead = resolve(realPath(path), relative(path, resolve(source, key)));
    return {
      link: slashed(relative(root, path)),
      instead: isInside(source, instead) ? `./${slashed(relative(source, instead))}` : undefined,
    };
  }
  return undefined;
}
