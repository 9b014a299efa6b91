// Describes modules that fail to load: the error, its place in the sources, and the purpose of loading.

import { relative } from "node:path";
import { inspect } from "node:util";

import { guardParts, type ServerManifest } from "../../src/base/manifest.ts";
import { Problems, type Problem } from "../../src/base/problem.ts";
import { slashed } from "../files/sources.ts";
import { missingImport, sourceOfBuilt, errorLocation, withMappedFrame } from "./error-location.ts";

export interface LoadedModule {
  /** The application folder. */
  readonly root: string;
  /** The absolute path of the built module. */
  readonly file?: string;
  /** The purpose of loading it. */
  readonly purpose: string;
}

/**
 * Replaces an error that a module threw while loading with one that has the place in the sources, and the purpose.
 */
export function loadFailure(thrown: unknown, { root, file, purpose }: LoadedModule): Problems {
  const found = errorLocation(thrown);
  const location = found && file !== undefined ? withMappedFrame(found, file) : found;
  const source = location?.file ?? (file === undefined ? root : (sourceOfBuilt(file) ?? file));
  const shown = slashed(relative(root, source)) || ".";
  const { line, column, frame } = location ?? {};
  const problem: Problem = {
    file: shown,
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
    ...(frame !== undefined && { frame }),
    message: `${shownError(thrown)}, while loading ${purpose}`,
  };
  const problems = Object.assign(new Problems([problem]), { cause: thrown });
  // This stack would lead to our own code; the cause has a stack of its own.
  problems.stack = problems.message;
  return problems;
}

/** A thrown error in one line, without the file of a failed import. */
export function shownError(thrown: unknown): string {
  if (!(thrown instanceof Error)) return `${inspect(thrown)} was thrown`;
  const missing = missingImport(thrown.message);
  if (missing !== undefined) return `Cannot find ${missing.kind} '${missing.specifier}'`;
  if ((thrown as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND") return thrown.message;
  // Libraries often put the real reason in the cause: "Database failed to open", as it is locked.
  const { cause } = thrown;
  const why = cause instanceof Error && cause.message !== "" ? `: ${cause.message}` : "";
  return `${thrown.name}: ${thrown.message}${why}`;
}

// These are enough to recognise a module that has more.
const maxNamed = 3;

/** The guard that a module has, and the segments whose calls it guards. */
function guardOf(
  id: string,
  { segments, routes = {} }: Pick<ServerManifest, "segments" | "routes">,
): string | undefined {
  const named = [...Object.entries(segments), ...Object.entries(routes)].flatMap(
    ([segment, entries]) =>
      entries.flatMap(({ guard }) =>
        guard !== undefined && guardParts(guard).module === id ? [{ guard, segment }] : [],
      ),
  );
  const [first] = named;
  if (first === undefined) return undefined;
  const held = [...new Set(named.map(({ segment }) => segment))];
  return `the guard ${first.guard} (segment${held.length === 1 ? "" : "s"} ${held.join(", ")})`;
}

/** The purpose of loading a built module: a body's procedures and segments, or the module's name. */
export function purposeOf(
  file: string,
  manifest: Pick<ServerManifest, "modules" | "procedures" | "segments" | "routes" | "types">,
): string {
  if (file === manifest.types) return "the types of parameters";
  const [id, module] = Object.entries(manifest.modules).find(
    ([, record]) => record.file === file || record.body === file,
  ) ?? [file];
  if (module?.body !== file) return guardOf(id, manifest) ?? `the module ${id}`;
  const isHeld = (index: number): boolean => manifest.procedures[index]?.module === id;
  const fqns = manifest.procedures.filter((_, index) => isHeld(index)).map(({ fqn }) => fqn);
  const names = [...new Set(fqns)];
  const segments = Object.entries(manifest.segments).filter(([, entries]) =>
    entries.some(({ procedure }) => isHeld(procedure)),
  );
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : "";
  const segmentNames = segments.map(([name]) => name).join(", ");
  return `${names.slice(0, maxNamed).join(", ")}${more} (segment${segments.length === 1 ? "" : "s"} ${segmentNames})`;
}
