// Segment entries to procedures: which function is meant, what its name is, and what entries must not say of it (decisions §1, §6).

import { fqnOf, fqnOfAnonymousDefault, procedureKey } from "../../src/fqn.ts";
import type { Parameter } from "../../src/manifest.ts";
import { type Problem, nearest } from "../../src/problem.ts";
import type { SegmentFile, SegmentFileEntry } from "../../src/segment.ts";
import type { ModuleDescription, ModuleExport } from "../../src/split/describe.ts";
import { namesOf } from "../../src/split/parameters.ts";
import type { FileMemory } from "./file-memory.ts";
import type { Modules, SourceModule } from "./modules.ts";

/** One function of the application that segments name. */
export interface Procedure {
  readonly fqn: string;
  readonly version: string;
  /** Declares it. */
  readonly module: SourceModule;
  readonly export: string;
  readonly parameters: readonly Parameter[];
  /** The entries that name it, with their segments. */
  readonly entries: readonly NamedEntry[];
}

export interface NamedEntry {
  readonly segment: SegmentFile;
  readonly entry: SegmentFileEntry;
}

interface Found extends NamedEntry {
  readonly fqn: string;
  readonly module: SourceModule;
  readonly export: ModuleExport;
}

/** Finds the function behind every entry. What is wrong in segment files goes to `problems`, what may be to `warnings`; the result holds the rest. */
export async function findProcedures(
  segments: readonly SegmentFile[],
  { modules, memory }: { modules: Modules; memory: FileMemory },
  problems: Problem[],
  warnings: Problem[],
): Promise<readonly Procedure[]> {
  problems.push(...sameNames(segments));
  const found: Found[] = [];
  for (const segment of segments) {
    const known = memory.ofObject<{ latest?: FoundInSegment }>(segment, () => ({}));
    if (known.latest?.modules !== modules || !modules.hold(known.latest.consulted))
      known.latest = await findFunctions(segment, modules);
    found.push(...known.latest.found);
    problems.push(...known.latest.problems);
  }
  const procedures: Procedure[] = [];
  // Two exports of one function are one function, so its own name decides where it has one.
  for (const group of groupBy(
    found,
    (one) => `${one.module.id}#${one.export.ownName ?? one.export.name}`,
  )) {
    const [first, ...others] = group as [Found, ...Found[]];
    problems.push(...others.flatMap((other) => disagreement(first, other)));
    if (first.export.problems.length > 0) problems.push(...first.export.problems);
    else
      procedures.push({
        fqn: first.fqn,
        version: first.entry.version,
        module: first.module,
        export: first.export.name,
        parameters: first.export.parameters ?? [],
        entries: group,
      });
  }
  problems.push(...twins(procedures), ...scattered(procedures));
  warnings.push(...found.filter((one) => one.export.generator === true).map(generator));
  warnings.push(
    ...procedures
      .filter((one) => one.parameters.flatMap(namesOf).includes("version"))
      .map(versionParameter),
  );
  const keyed = procedures.map((one) => ({ one, key: procedureKey(one.fqn, one.version) }));
  return keyed.sort((one, other) => (one.key < other.key ? -1 : 1)).map(({ one }) => one);
}

/** What the entries of one segment file mean, as long as the modules say what they say. */
interface FoundInSegment {
  readonly found: readonly Found[];
  readonly problems: readonly Problem[];
  readonly modules: Modules;
  readonly consulted: ReadonlyMap<SourceModule, ModuleDescription>;
}

async function findFunctions(segment: SegmentFile, modules: Modules): Promise<FoundInSegment> {
  const found: Found[] = [];
  const problems: Problem[] = [];
  /** Paths of the entries that name classes. */
  const classes: string[] = [];
  const consulted = await modules.consulted(async () => {
    for (const entry of segment.entries) {
      const one = await findFunction({ segment, entry }, modules, problems);
      if (one?.export.kind === "class") {
        classes.push(entry.path);
        problems.push(...one.export.problems);
      } else if (one !== undefined) found.push(one);
    }
    for (const { module: key, export: name, path } of segment.unread) {
      const module = modules.find(key);
      const declared = module === undefined ? undefined : await modules.declaration(module, name);
      if (declared === undefined || "missing" in declared || declared.export.kind !== "class")
        continue;
      classes.push(path);
      problems.push(...declared.export.problems);
    }
  });
  // A class needs no entry at all, so what else is wrong with its entry doesn't matter.
  const rest = segment.problems.filter(
    ({ path = "" }) => !classes.some((one) => isAtOrBelow(path, one)),
  );
  return { found, problems: [...rest, ...problems], modules, consulted };
}

/** Whether a JSON path means `entry` or one of its fields. */
function isAtOrBelow(path: string, entry: string): boolean {
  return path === entry || path.startsWith(`${entry}.`) || path.startsWith(`${entry}[`);
}

async function findFunction(
  named: NamedEntry,
  modules: Modules,
  problems: Problem[],
): Promise<Found | undefined> {
  const { entry } = named;
  const refuse = (message: string, hint?: string): undefined => {
    problems.push({ ...placeOf(named), message, ...(hint === undefined ? {} : { hint }) });
  };
  const module = modules.find(entry.module);
  if (module === undefined) {
    const behind = modules.linkTo(entry.module);
    if (behind !== undefined)
      return refuse(
        `expected a module of the source folder, but ${JSON.stringify(entry.module)} lies behind ${behind.link}, which is a link`,
        behind.instead === undefined
          ? "Put the folder itself there."
          : `Name it by where it lies: "${behind.instead}".`,
      );
    const near = nearest(
      entry.module.replace(/\.\w+$/, ""),
      [...modules.ids].map((id) => `./${id}`),
    );
    return refuse(
      `expected a module of the source folder, but ${JSON.stringify(entry.module)} is none`,
      near === undefined ? undefined : `Did you mean "${near}"?`,
    );
  }
  // A module that can't be read has problems of its own, which say more than "no such export".
  if (modules.describe(module).problems.length > 0) {
    problems.push(...modules.describe(module).problems);
    return undefined;
  }
  const declaration = await modules.declaration(module, entry.export);
  if ("missing" in declaration) {
    if (declaration.missing === "package")
      return refuse(
        `"${entry.export}" of ${module.name} comes from "${declaration.specifier}", which is no module of the source folder`,
        "Only functions that the application itself declares can be procedures: wrap it in an async function of your own.",
      );
    const names = await modules.exportNames(module);
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

/** The FQN belongs to the module that the segment names, wherever the function is declared. */
function nameOf(module: SourceModule, entry: SegmentFileEntry, declared: ModuleExport): string {
  const name =
    entry.as ?? declared.ownName ?? (entry.export === "default" ? undefined : entry.export);
  return name === undefined ? fqnOfAnonymousDefault(module.id) : fqnOf(module.id, name);
}

function disagreement(first: Found, other: Found): readonly Problem[] {
  const at = (message: string, hint: string): readonly Problem[] => [
    { ...placeOf(other), message, hint },
  ];
  const function_ = `the function "${first.export.ownName ?? first.export.name}" of ${first.module.name}`;
  const there = `${first.segment.file} at ${first.entry.path}`;
  if (first.fqn !== other.fqn)
    return at(
      `${function_} is named "${other.fqn}" here, and "${first.fqn}" in ${there}`,
      'A function has one name: give both entries the same module and the same "as".',
    );
  if (first.entry.version !== other.entry.version)
    return at(
      `${function_} has version ${other.entry.version} here, and ${first.entry.version} in ${there}`,
      "A function has one version in all segments.",
    );
  if (first.export.name !== other.export.name)
    return at(
      `${function_} is named as export "${other.entry.export}" here, and as "${first.entry.export}" in ${there}`,
      "Name one of its exports everywhere.",
    );
  if (first.segment === other.segment)
    return at(
      `${function_} is named twice in this segment, also at ${first.entry.path}`,
      "Remove one of the two entries.",
    );
  return [];
}

/** Chosen: not refused, as code beside it may use it; but what it gives goes nowhere. */
function generator({ module, export: { name, line, column } }: Found): Problem {
  const message = `"${name}" is a generator: what it yields can't be sent, so every call from elsewhere fails`;
  return {
    file: module.name,
    line,
    column,
    message,
    hint: "Return an array; of much data, a part with each call.",
  };
}

/** Not refused: a POST gives it in its body, and a seam always does (decisions §2, `version`). */
function versionParameter(procedure: Procedure): Problem {
  const { module, export: name, fqn, entries } = procedure;
  const { line, column } = (entries[0] as Found).export;
  return {
    file: module.name,
    line,
    column,
    message: `"${name}" has a parameter "version", which no GET can give: in the query of "${fqn}" that is the version of the procedure`,
    hint: "Rename it, if it is to be called by GET.",
  };
}

/** Two functions under one name and version. */
function twins(procedures: readonly Procedure[]): readonly Problem[] {
  return groupBy(procedures, (one) => procedureKey(one.fqn, one.version)).flatMap(
    ([first, ...others]) =>
      others.map((other) => ({
        ...place(other),
        message: `"${other.fqn}" version ${other.version} stands for two functions: ${text(first as Procedure)}, and ${text(other)}`,
        hint: 'Give one of them another "version", or another name with "as".',
      })),
  );
}

/** All versions of a procedure must be in the same segments (§2.2). */
function scattered(procedures: readonly Procedure[]): readonly Problem[] {
  return groupBy(procedures, (one) => one.fqn).flatMap(([first, ...others]) =>
    others.flatMap((other) => {
      const [here, there] = [other, first as Procedure].map(segmentsOf);
      if (here === there || other.version === first?.version) return [];
      return [
        {
          ...place(other),
          message: `version ${other.version} of "${other.fqn}" is in ${here}, but version ${first?.version} is in ${there} (${place(first as Procedure).file})`,
          hint: "All versions of a procedure must be in the same segments.",
        },
      ];
    }),
  );
}

function sameNames(segments: readonly SegmentFile[]): readonly Problem[] {
  return groupBy(segments, (one) => one.name).flatMap(([first, ...others]) =>
    others.map((other) => ({
      file: other.file,
      message: `segment "${other.name}" is also defined by ${first?.file}`,
      hint: "Rename one of the files, or bring them together.",
    })),
  );
}

function segmentsOf(procedure: Procedure): string {
  return [...new Set(procedure.entries.map((one) => one.segment.name))].sort().join(", ");
}

function place(procedure: Procedure): Place {
  return placeOf(procedure.entries[0] as NamedEntry);
}

type Place = Pick<Problem, "file" | "line" | "column" | "path">;

function placeOf({ segment, entry }: NamedEntry): Place {
  return { file: segment.file, line: entry.line, column: entry.column, path: entry.path };
}

function text(procedure: Procedure): string {
  return `"${procedure.export}" of ${procedure.module.name} (${place(procedure).file})`;
}

function groupBy<T>(all: readonly T[], keyOf: (one: T) => string): readonly (readonly T[])[] {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const key = keyOf(one);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return [...groups.values()];
}
