// Modules that can't be loaded: what a start, a log or a session says of them.

import { relative } from "node:path";
import { inspect } from "node:util";

import type { ServerManifest } from "../src/manifest.ts";
import { Problems, type Problem } from "../src/problem.ts";
import { slashed } from "./sources.ts";
import { missingImport, sourceOfBuilt, thrownPlace, withMappedFrame } from "./thrown-place.ts";

export interface LoadedModule {
  /** The application folder. */
  readonly root: string;
  /** The built module, absolute. */
  readonly file?: string;
  /** What it was wanted for. */
  readonly purpose: string;
}

/** The error in the place of what a module threw while it was loaded: where, in the sources, and for what. `cause` is what was thrown. */
export function loadFailure(thrown: unknown, { root, file, purpose }: LoadedModule): Problems {
  const found = thrownPlace(thrown);
  const place = found && file !== undefined ? withMappedFrame(found, file) : found;
  const source = place?.file ?? (file === undefined ? root : (sourceOfBuilt(file) ?? file));
  const shown = slashed(relative(root, source)) || ".";
  const { line, column, frame } = place ?? {};
  const problem: Problem = {
    file: shown,
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
    ...(frame !== undefined && { frame }),
    message: `${shownError(thrown)}, while loading ${purpose}`,
  };
  const problems = Object.assign(new Problems([problem]), { cause: thrown });
  // Where it is told of says nothing; what was thrown has a stack of its own.
  problems.stack = problems.message;
  return problems;
}

/** What was thrown, in one line; the file of an import that failed is said otherwise. */
export function shownError(thrown: unknown): string {
  if (!(thrown instanceof Error)) return `${inspect(thrown)} was thrown`;
  const missing = missingImport(thrown.message);
  if (missing !== undefined) return `Cannot find ${missing.kind} '${missing.specifier}'`;
  if ((thrown as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND") return thrown.message;
  return `${thrown.name}: ${thrown.message}`;
}

// Of a module with more procedures people know by these which it is.
const mostNamed = 3;

/** What a built module is loaded for: the procedures of a body and their segments, else its name. */
export function purposeOf(
  file: string,
  manifest: Pick<ServerManifest, "modules" | "procedures" | "segments">,
): string {
  const [id, module] = Object.entries(manifest.modules).find(
    ([, one]) => one.file === file || one.body === file,
  ) ?? [file];
  if (module?.body !== file) return `the module ${id}`;
  const isHeld = (index: number): boolean => manifest.procedures[index]?.module === id;
  const held = manifest.procedures.filter((_, index) => isHeld(index)).map(({ fqn }) => fqn);
  const named = [...new Set(held)];
  const segments = Object.entries(manifest.segments).filter(([, entries]) =>
    entries.some(({ procedure }) => isHeld(procedure)),
  );
  const more = named.length > mostNamed ? ` and ${named.length - mostNamed} more` : "";
  const which = segments.map(([name]) => name).join(", ");
  return `${named.slice(0, mostNamed).join(", ")}${more} (segment${segments.length === 1 ? "" : "s"} ${which})`;
}
