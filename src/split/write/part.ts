// A part: one of the three modules that a module is split into, with its source map.

import MagicString from "magic-string";

import type { Module } from "../read/analyze.ts";
import { type CodeDescription, type ModuleImport, describePart } from "../describe/describe.ts";
import type { KeptText } from "./kept-text.ts";
import type { LocatedProcedure } from "../procedures/locate-procedures.ts";
import { FreshNames, importList } from "../read/names.ts";
import type { Unit } from "../read/units.ts";

export interface Part {
  /** In the language of the source file, with its types and JSX. */
  readonly code: string;
  readonly description: CodeDescription;
  /** The code without padding: it changes only if this part does, not if a neighbour grows. */
  readonly unpadded: string;
  readonly map: SourceMap;
}

/** Version 3. `sourcesContent` holds the source with everything blanked that isn't in this part. */
export interface SourceMap {
  readonly version: number;
  readonly sources: string[];
  readonly sourcesContent: string[];
  readonly names: string[];
  readonly mappings: string;
}

/** The specifiers by which parts import each other, and the graph's module. */
export interface PartIds {
  readonly face: string;
  readonly shared: string;
  readonly graph: string;
}

/** A part while it is edited. Offsets are those of the source. */
export class PartDraft {
  readonly text: MagicString;
  readonly names: FreshNames;
  readonly #module: Module;
  readonly #ids: PartIds;
  readonly #procedures: readonly LocatedProcedure[];
  /** Procedure → the name under which this part imports its seam. */
  readonly #seams = new Map<LocatedProcedure, string>();
  readonly #imports: { readonly pairs: NamePairs; readonly specifier: string }[] = [];

  constructor(module: Module, text: string, procedures: readonly LocatedProcedure[], ids: PartIds) {
    this.text = new MagicString(text);
    this.names = new FreshNames(module.taken);
    this.#module = module;
    this.#procedures = procedures;
    this.#ids = ids;
  }

  /**
   * Makes references to procedures in `units` refer to their seams, as the procedures may be on
   * another machine. `replace` may return the name of another function for a reference.
   */
  useSeams(
    units: Iterable<Unit>,
    replace: (
      unit: Unit,
      procedure: LocatedProcedure,
      isCall: boolean,
    ) => string | undefined = () => undefined,
  ): void {
    for (const unit of units) {
      for (const { name, start, end, shorthand, call, soft } of unit.references) {
        const procedure = this.#procedures.find(({ local }) => local === name);
        if (procedure === undefined || soft || start === end) continue;
        const target = replace(unit, procedure, call) ?? this.#seam(procedure);
        if (target !== name)
          this.text.update(start, end, shorthand ? `${name}: ${target}` : target);
      }
    }
  }

  #seam(procedure: LocatedProcedure): string {
    const name = this.#seams.get(procedure) ?? this.names.fresh(`$${procedure.local ?? "default"}`);
    this.#seams.set(procedure, name);
    return name;
  }

  import(pairs: NamePairs, specifier: string): void {
    if (pairs.length > 0) this.#imports.push({ pairs, specifier });
  }

  /**
   * Adds the imports and `generated` behind the last line, so that every line of the source keeps
   * its number, and a comment at the top its place.
   */
  finish(
    units: ReadonlySet<Unit>,
    { unended, padding }: KeptText,
    generated: readonly string[],
  ): Part {
    for (const end of unended) this.text.appendLeft(end, ";");
    this.import(
      [...this.#seams].map(([procedure, local]) => [procedure.record.export, local]),
      this.#ids.face,
    );
    const imports = this.#imports.map(({ pairs, specifier }) => importList(pairs, specifier));
    const appended = [...imports, ...generated].filter((code) => code !== "").join("\n");
    if (appended !== "") this.text.append(`\n${appended}\n`);
    const described = this.#imports.map(({ pairs, specifier }) =>
      generatedImport(pairs, specifier),
    );
    const description = describePart(this.#module, units, described);
    return partOf(this.text, this.#module.file, description, padding);
  }
}

type NamePairs = readonly (readonly [imported: string, local: string])[];

/** The description of an import that the splitter writes. */
export function generatedImport(pairs: NamePairs, specifier: string): ModuleImport {
  const names = pairs.map(([imported, local]) => ({ imported, local }));
  return { specifier, typeOnly: false, names };
}

/** Code and map of edited text, which must not change any more. `padding` was blanked. */
export function partOf(
  text: MagicString,
  file: string,
  description: CodeDescription,
  padding: KeptText["padding"] = [],
): Part {
  let map: SourceMap | undefined;
  let unpadded: string | undefined;
  return {
    code: text.toString(),
    description,
    // These cost more than the code, and most parts never need them.
    get unpadded() {
      return (unpadded ??= withoutPadding(text, padding));
    },
    get map() {
      return (map ??= mapOf(text, file));
    },
  };
}

function mapOf(text: MagicString, file: string): SourceMap {
  const map = text.generateMap({ source: file, includeContent: true, hires: true });
  return {
    version: map.version,
    sources: map.sources.map((source) => source ?? file),
    sourcesContent: (map.sourcesContent ?? []).map((content) => content ?? ""),
    names: map.names,
    mappings: map.mappings,
  };
}

function withoutPadding(text: MagicString, padding: KeptText["padding"]): string {
  const copy = text.clone();
  for (const [start, end] of padding) copy.update(start, end, "\n");
  return copy.toString().trim();
}
