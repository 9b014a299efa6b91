// Finds the functions that segment files name as guards.

import { guardParts } from "../../../src/base/manifest.ts";
import { type Problem, nearest } from "../../../src/base/problem.ts";
import type { NamedExport, SegmentFile } from "../../../src/runtime/segment.ts";
import type { ModuleExport } from "../../../src/split/describe/describe.ts";
import { declarationOf, exportNames } from "../read/export-declarations.ts";
import type { Modules, SourceModule } from "../read/modules.ts";
import { functionKey, type NamedFunction, type Place } from "./application-procedure.ts";

/** A function that callers from outside must pass. */
export interface Guard {
  /** As manifests and people name it: `auth#signedIn`. */
  readonly name: string;
  /** The module that declares it. */
  readonly module: SourceModule;
  readonly export: string;
  /** Where segment files name it. */
  readonly places: readonly [Place, ...Place[]];
}

export interface Guards {
  /** By name. */
  readonly all: ReadonlyMap<string, Guard>;
  /** The name of a guard that an entry names, if there is nothing wrong with it. */
  readonly nameOf: (written: string) => string | undefined;
  readonly problems: readonly Problem[];
}

/** Finds all guards. `functions` are those that segments name: none of them can be one. */
export async function resolveGuards(
  segments: readonly SegmentFile[],
  functions: readonly NamedFunction[],
  modules: Modules,
): Promise<Guards> {
  const segmented = new Map(functions.map((named) => [functionKey(named), named]));
  const problems: Problem[] = [];
  const all = new Map<string, Guard>();
  /** As they are written. */
  const names = new Map<string, string>();
  const nameOfFunction = new Map<string, string>();
  for (const { file, guards } of segments)
    for (const named of guards) {
      const written = textOf(named);
      const place = { file, line: named.line, column: named.column, path: named.path };
      const found = await findGuard(named, modules, segmented);
      if ("problems" in found) {
        problems.push(...found.problems.map((problem) => ({ ...place, ...problem })));
        continue;
      }
      const { module, export: declared } = found;
      const key = functionKey(found);
      // Two exports of one function are one guard.
      const name = nameOfFunction.get(key) ?? `${module.id}#${declared.name}`;
      nameOfFunction.set(key, name);
      names.set(written, name);
      const known = all.get(name);
      all.set(
        name,
        known === undefined
          ? { name, module, export: declared.name, places: [place] }
          : { ...known, places: [...known.places, place] },
      );
    }
  return {
    all,
    nameOf(written) {
      const { module, export: name } = guardParts(written);
      return names.get(textOf({ module, export: name }));
    },
    problems,
  };
}

const textOf = ({ module, export: name }: Pick<NamedExport, "module" | "export">): string =>
  `${module}#${name}`;

type Wrong = Pick<Problem, "message"> & Partial<Problem>;
type Found = { readonly module: SourceModule; readonly export: ModuleExport };

async function findGuard(
  { module: key, export: name }: NamedExport,
  modules: Modules,
  segmented: ReadonlyMap<string, NamedFunction>,
): Promise<Found | { readonly problems: readonly Wrong[] }> {
  const wrong = (message: string, hint: string) => ({ problems: [{ message, hint }] });
  const module = modules.find(key);
  if (module === undefined) {
    const near = nearest(
      key.replace(/\.\w+$/, ""),
      [...modules.ids].map((id) => `./${id}`),
    );
    return wrong(
      `expected a guard in a module of the source folder, but ${JSON.stringify(key)} isn't one`,
      near === undefined
        ? `Name the module that exports the guard, relative to the source folder: "./auth.ts#${name}".`
        : `Did you mean "${near}#${name}"?`,
    );
  }
  const unreadable = modules.describe(module).problems;
  if (unreadable.length > 0) return { problems: unreadable };
  const declared = await declarationOf(modules, module, name);
  if ("missing" in declared) {
    if (declared.missing === "package")
      return wrong(
        `the guard "${name}" of ${module.name} comes from "${declared.specifier}", which isn't a module of the source folder`,
        "A guard is a function of the application itself: call the other one in an async function of your own.",
      );
    const names = await exportNames(modules, module);
    const near = nearest(name, names);
    return wrong(
      `expected a guard that ${module.name} exports, but it has no export "${name}"; it exports ${names.join(", ") || "nothing"}`,
      near === undefined
        ? `Export an async function from it, or name another one: "${key}#NAME".`
        : `Did you mean "${near}"?`,
    );
  }
  const reason = mistakeIn(declared.export);
  const shown = `the guard "${name}" of ${declared.module.name}`;
  if (reason !== undefined)
    return wrong(
      `${shown} ${reason}`,
      "A guard is an exported async function without parameters: it reads getContext(), and throws to refuse the call.",
    );
  const entry = segmented.get(functionKey(declared));
  if (entry !== undefined)
    return wrong(
      `${shown} is named as a function of segment "${entry.segment.name}" too (${entry.segment.file} at ${entry.entry.path})`,
      "A guard runs on the node of what it guards, so it can't be in a segment: take it out, or call it in a function of its own.",
    );
  return declared;
}

/** Why an export can't be a guard. */
function mistakeIn({
  kind,
  stream,
  untyped,
  parameters,
  problems,
}: ModuleExport): string | undefined {
  if (kind === "class") return "is a class";
  if (kind === "sync") return "isn't async";
  if (untyped)
    return "is made by another function, and its type doesn't say that it takes no parameters";
  if (kind === "other" || kind === "reexport")
    return "isn't an async function that can be read from the source";
  if (stream) return "is a generator, which runs nothing when it is called";
  if (parameters === undefined || parameters.length > 0 || problems.length > 0)
    return "has parameters, but nothing is passed to a guard";
  return undefined;
}
