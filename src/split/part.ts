// From kept text and edits to a part: code, and a map that knows nothing but that text.

import MagicString from "magic-string";

import type { LocalExport, Module, Unit } from "./analyze.ts";
import type { Kept } from "./blank.ts";
import { importList, Names } from "./names.ts";
import type { Procedure } from "./procedures.ts";
import type { Part, SplitInput } from "./split-module.ts";

/** A part while it is edited. Offsets are those of the source. */
export class Draft {
  readonly text: MagicString;
  readonly names: Names;
  readonly #module: Module;
  readonly #ids: SplitInput["ids"];
  readonly #procedures: readonly Procedure[];
  readonly #seams = new Map<Procedure, string>();
  readonly #imports: string[] = [];

  constructor(
    module: Module,
    text: string,
    procedures: readonly Procedure[],
    ids: SplitInput["ids"],
  ) {
    this.text = new MagicString(text);
    this.names = new Names(module.taken);
    this.#module = module;
    this.#procedures = procedures;
    this.#ids = ids;
  }

  /** The name under which this part has the seam of a procedure. */
  seam(procedure: Procedure): string {
    const known =
      this.#seams.get(procedure) ?? this.names.fresh(`$${procedure.local ?? "default"}`);
    this.#seams.set(procedure, known);
    return known;
  }

  /**
   * Lets mentions of procedures in `units` mean their seams, as the procedures may be on another machine. `direct` may
   * name another function for a mention.
   */
  useSeams(
    units: Iterable<Unit>,
    direct: (unit: Unit, procedure: Procedure, call: boolean) => string | undefined = () =>
      undefined,
  ): void {
    for (const unit of units) {
      for (const { name, start, end, shorthand, call, soft } of unit.references) {
        const procedure = this.#procedures.find((one) => one.local === name);
        if (procedure === undefined || soft || start === end) continue;
        const meant = direct(unit, procedure, call) ?? this.seam(procedure);
        if (meant !== name) this.text.update(start, end, shorthand ? `${name}: ${meant}` : meant);
      }
    }
  }

  import(pairs: readonly (readonly [imported: string, local: string])[], specifier: string): void {
    this.#imports.push(importList(pairs, specifier));
  }

  /** Generated code goes behind the last line, imports too: so every line of the source keeps its number, and the first comment its place. */
  finish({ unended, padding }: Pick<Kept, "unended" | "padding">, behind: readonly string[]): Part {
    for (const end of unended) this.text.appendLeft(end, ";");
    this.import(
      [...this.#seams].map(([procedure, local]) => [procedure.record.export, local]),
      this.#ids.face,
    );
    const after = [...this.#imports, ...behind].filter((one) => one !== "").join("\n");
    if (after !== "") this.text.append(`\n${after}\n`);
    return partOf(this.text, this.#module.file, padding);
  }
}

/** Code and map of edited text. `padding` is what stands in it for the rest of the source. */
export function partOf(text: MagicString, file: string, padding: Kept["padding"] = []): Part {
  const {
    version,
    sources,
    sourcesContent = [],
    names,
    mappings,
  } = text.generateMap({ source: file, includeContent: true, hires: true });
  return {
    code: text.toString(),
    unpadded: unpadded(text, padding),
    map: {
      version,
      sources: sources.map((one) => one ?? file),
      sourcesContent: sourcesContent.map((one) => one ?? ""),
      names,
      mappings,
    },
  };
}

function unpadded(text: MagicString, padding: Kept["padding"]): string {
  const copy = text.clone();
  for (const [start, end] of padding) copy.update(start, end, "\n");
  return copy.toString().trim();
}

/** Exports that keep their place in the text, because the declaration itself is exported. */
export function standsInPlace(found: LocalExport): boolean {
  return found.units.some((unit) => unit.node === found.node || unit.statement === found.node);
}
