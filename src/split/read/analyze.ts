// A module as the splitter sees it: its units, the bindings of its names, and its exports.

import type { SourceText } from "./code-frame.ts";
import { type Exports, exportsOf } from "./exports.ts";
import {
  type Comment,
  namesIn,
  type Node,
  type Parse,
  type ParsedModule,
  programOf,
} from "./tree.ts";
import type { NotedNodes } from "./references.ts";
import { type Unit, unitsOf } from "./units.ts";
import { LocalTypes } from "./value-types.ts";

export interface Module extends SourceText, Exports, NotedNodes {
  readonly program: Node;
  readonly comments: readonly Comment[];
  /** In source order. */
  readonly units: readonly Unit[];
  /** The units that bind each name: several if declarations merge. */
  readonly bindings: ReadonlyMap<string, readonly Unit[]>;
  /** All names in the text, if a generated name may be among them: it must differ from them. */
  readonly taken: ReadonlySet<string>;
  /** The types that the module declares. */
  readonly types: LocalTypes;
  /** The parser that read the module. */
  readonly parse: Parse;
}

/** A text that may have a name such as `$seam` or `arg0`, as generated ones are. An escape may hide one. */
const mayBeGenerated = /\$(?!\{)|\barg\d|\\u/;

/** Analyzes a module that was parsed without errors. */
export function analyze(
  { file, source, parse }: SourceText & { readonly parse: Parse },
  parsed: ParsedModule,
): Module {
  const program = programOf(parsed);
  const { units, noted } = unitsOf(program, parsed.comments);
  const bindings = new Map<string, Unit[]>();
  for (const unit of units)
    for (const name of unit.names) bindings.set(name, [...(bindings.get(name) ?? []), unit]);
  const { exports, reexports, stars } = exportsOf(program, units, bindings);
  // `export default f` only gives `f` another name, so there is no code in it to be placed.
  const aliases = new Set(
    [...exports.filter(({ local }) => local !== undefined), ...reexports].map(({ node }) => node),
  );
  let taken: ReadonlySet<string> | undefined;
  let types: LocalTypes | undefined;
  return {
    file,
    source,
    program,
    comments: parsed.comments,
    units: units.filter(({ kind, node }) => kind !== "default" || !aliases.has(node)),
    bindings,
    exports,
    reexports,
    stars,
    ...noted,
    // Lazy, as most modules are described and never split.
    get taken() {
      return (taken ??= mayBeGenerated.test(source) ? namesIn([program]) : new Set());
    },
    get types() {
      return (types ??= new LocalTypes(program));
    },
    parse,
  };
}
