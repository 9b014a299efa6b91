// One module becomes three: face, shared part and body (docs/architecture.md).

import MagicString from "magic-string";

import type { Parameter } from "../manifest.ts";
import type { Problem } from "../problem.ts";
import { analyze } from "./analyze.ts";
import { allBlank } from "./blank.ts";
import { writeBody } from "./body.ts";
import { writeFace } from "./face.ts";
import { parseProblems } from "./mark.ts";
import { partOf } from "./part.ts";
import { leftBehind, place, unplaced, writesAcross } from "./place.ts";
import { findProcedures } from "./procedures.ts";
import { sharedNames, writeShared } from "./shared.ts";
import type { Parse } from "./tree.ts";

export type { Parse } from "./tree.ts";

/** An export that a segment names. */
export interface SegmentedExport {
  readonly export: string;
  readonly fqn: string;
  /** Three numbers. */
  readonly version: string;
  readonly parameters: readonly Parameter[];
}

/** Version 3. `sourcesContent` holds the text of this part only, the rest of the source blanked. */
export interface SourceMap {
  readonly version: number;
  readonly sources: string[];
  readonly sourcesContent: string[];
  readonly names: string[];
  readonly mappings: string;
}

export interface Part {
  /** In the language of the source file: types and JSX are still in it. */
  readonly code: string;
  /** The code without what is blank for the rest of the source: the same text as long as this part says the same. */
  readonly unpadded: string;
  readonly map: SourceMap;
}

export interface SplitInput {
  readonly source: string;
  /** Names the source in problems and maps; its extension says the language. */
  readonly file: string;
  readonly parse: Parse;
  /** Every export of this module that some segment names. */
  readonly procedures: readonly SegmentedExport[];
  /** Export names of the procedures whose code this build may hold. */
  readonly held: ReadonlySet<string>;
  readonly environment: "browser" | "server";
  /** What the parts import each other, and the graph's module, by. */
  readonly ids: { readonly face: string; readonly shared: string; readonly graph: string };
}

export interface SplitModule {
  /** The same in every build, whatever is held, but for what it keeps back. */
  readonly face: Part;
  /** `undefined` when it would hold nothing. */
  readonly shared: Part | undefined;
  /** `undefined` when this build holds no procedure of the module. */
  readonly body: Part | undefined;
  /** Of the module as a whole, so the same for both builds. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** What one build may hold of a module. */
export interface Variant extends Pick<SplitInput, "held" | "environment"> {
  /** What the face keeps back; without, it has a seam for every procedure. */
  readonly keptBack?: KeptBack | undefined;
}

/** What those who get a face can't call, and are to learn nothing of. */
export interface KeptBack {
  /** Export of a procedure → the error of the framework with which its function rejects in place of a call. */
  readonly closed: ReadonlyMap<string, "ProcedureNotFound" | "Unauthorized">;
  /** Exports, of such procedures or passed on, that the face leaves out, as nobody who gets it names them. */
  readonly unnamed: ReadonlySet<string>;
}

/** Splits a module. Never throws for what the source says: look at `problems`, with any of which the parts are not to be used. */
export function splitModule(input: SplitInput): SplitModule {
  return splitVariants(input, [input])[0] as SplitModule;
}

/** Splits a module for several builds, and reads it once. Parts that are the same in them are the same objects. */
export function splitVariants(
  input: Omit<SplitInput, keyof Variant>,
  variants: readonly Variant[],
): readonly SplitModule[] {
  const { source, file, ids } = input;
  const parsed = input.parse(file, source);
  if (parsed.errors.length > 0)
    return variants.map(() => unreadable(input, parseProblems({ file, source }, parsed.errors)));
  const module = analyze({ file, source, parse: input.parse }, parsed);
  const { procedures, problems } = findProcedures(module, input.procedures);
  // What a build that holds everything would do decides over problems, and over what the shared part lends to bodies:
  // so both are the same in every build.
  const whole = place(module, procedures, procedures);
  const names = sharedNames(module, procedures, whole);
  const all = [...problems, ...writesAcross(module, procedures, whole)];
  const face = writeFace(module, procedures, ids);
  const faces = new Map<KeptBack | undefined, Part>([[undefined, face]]);
  const shared = writeShared(module, procedures, whole, names, ids);
  const bodies = new Map<string, Part | undefined>();
  return variants.map(({ held, environment, keptBack }) => {
    const here = procedures.filter((one) => held.has(one.record.export));
    const placement = here.length === procedures.length ? whole : place(module, procedures, here);
    const key = here.map((one) => one.record.export).join();
    if (!bodies.has(key))
      bodies.set(key, writeBody(module, procedures, here, placement, names, ids));
    const warnings =
      environment === "server" ? unplaced(module, whole) : leftBehind(module, here, placement);
    if (!faces.has(keptBack)) faces.set(keptBack, writeFace(module, procedures, ids, keptBack));
    return {
      face: faces.get(keptBack) ?? face,
      shared,
      body: bodies.get(key),
      problems: all,
      warnings,
    };
  });
}

function unreadable(
  { file, source }: Pick<SplitInput, "file" | "source">,
  problems: readonly Problem[],
): SplitModule {
  return {
    face: partOf(new MagicString(allBlank(source)), file),
    shared: undefined,
    body: undefined,
    problems,
    warnings: [],
  };
}
