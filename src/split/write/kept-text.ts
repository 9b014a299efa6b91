// The text of a part: the source with everything else turned to spaces, comments that don't belong
// to the part included. So all lines and columns stay true, and a source map can't show what was
// taken out.

import type { Module } from "../read/analyze.ts";
import { child, type Comment, list, need, type Node } from "../read/tree.ts";
import type { Unit } from "../read/units.ts";

type Range = readonly [start: number, end: number];

export interface KeptText {
  /** As long as the source. */
  readonly text: string;
  /** Ends of statements that need a semicolon, as what followed them may be gone. */
  readonly unended: readonly number[];
  /** The ranges that were blanked, in order. */
  readonly padding: readonly Range[];
}

/** The text of a module with only these units. Declarations stay exported if `exported` is true. */
export function keepUnits(
  module: Module,
  units: ReadonlySet<Unit>,
  { exported }: { readonly exported: boolean },
): KeptText {
  const ranges: Range[] = jsxPragmas(module);
  const unended: number[] = [];
  for (const statement of list(module.program, "body")) {
    const all = module.units.filter((unit) => unit.statement === statement);
    const kept = all.filter((unit) => units.has(unit));
    if (kept.length === 0) continue;
    const whole =
      kept.length === all.length &&
      !list(statement, "specifiers").some((specifier) => specifier["importKind"] === "type");
    ranges.push(...statementRanges(module, statement, kept, whole, exported));
    if (whole) ranges.push(...attachedComments(module, statement));
    const declares = kept.some(
      ({ kind, node }) => kind === "declaration" && node.type !== "TSImportEqualsDeclaration",
    );
    if (!declares && module.source[statement.end - 1] !== ";") unended.push(statement.end);
  }
  return { ...blankOutside(module.source, ranges), unended };
}

function statementRanges(
  module: Module,
  statement: Node,
  kept: readonly Unit[],
  whole: boolean,
  exported: boolean,
): Range[] {
  const declaration = child(statement, "declaration");
  if (declaration === undefined) {
    if (whole) return [[statement.start, statement.end]];
    return statement.type === "ImportDeclaration"
      ? specifierRanges(module, statement, kept)
      : declaratorRanges(module, statement, kept);
  }
  // Decorators may stand before `export`.
  const ranges = list(declaration, "decorators")
    .filter((decorator) => decorator.start < statement.start)
    .map(({ start, end }): Range => [start, end]);
  if (exported) ranges.push(...codeBetween(module, statement.start, declaration.start));
  if (!whole)
    return [
      ...ranges,
      ...declaratorRanges(module, declaration, kept),
      [declaration.end, statement.end],
    ];
  return [...ranges, [declaration.start, statement.end]];
}

function declaratorRanges(module: Module, declaration: Node, kept: readonly Unit[]): Range[] {
  const all = list(declaration, "declarations");
  const lastEnd = all.at(-1)?.end ?? declaration.end;
  return [
    ...codeBetween(module, declaration.start, all[0]?.start ?? declaration.end),
    ...listRanges(module, all, new Set(kept.map(({ node }) => node))),
    ...codeBetween(module, lastEnd, declaration.end),
  ];
}

function specifierRanges(module: Module, statement: Node, kept: readonly Unit[]): Range[] {
  const all = list(statement, "specifiers");
  const keptNodes = new Set(kept.map(({ node }) => node));
  const source = need(statement, "source");
  const defaultImport = all.find(({ type }) => type === "ImportDefaultSpecifier");
  const first = all.find(({ type }) => type !== "ImportDefaultSpecifier");
  const named = all.filter(({ type }) => type === "ImportSpecifier");
  // `import`, and `from "…"` with its attributes.
  const from = findToken(module, "from", all.at(-1)?.end ?? statement.start, source.start);
  const ranges: Range[] = [
    [statement.start, statement.start + "import".length],
    [from, from + "from".length],
    [source.start, statement.end],
  ];
  if (defaultImport !== undefined && keptNodes.has(defaultImport)) {
    ranges.push([defaultImport.start, defaultImport.end]);
    if (keptNodes.size > 1)
      ranges.push(commaBetween(module, defaultImport.end, first?.start ?? defaultImport.end));
  }
  if (first?.type === "ImportNamespaceSpecifier" && keptNodes.has(first))
    ranges.push([first.start, first.end]);
  if (named.some((specifier) => keptNodes.has(specifier))) {
    const open = findToken(module, "{", defaultImport?.end ?? statement.start, statement.end);
    const close = findToken(module, "}", named.at(-1)?.end ?? open, from);
    ranges.push([open, open + 1], [close, close + 1], ...listRanges(module, named, keptNodes));
  }
  return ranges;
}

/** The kept items of a list, with a comma before each but the first. */
function listRanges(module: Module, all: readonly Node[], kept: ReadonlySet<Node>): Range[] {
  const ranges: Range[] = [];
  all.forEach((item, index) => {
    if (!kept.has(item)) return;
    if (ranges.length > 0)
      ranges.push(commaBetween(module, all[index - 1]?.end ?? item.start, item.start));
    ranges.push([item.start, item.end]);
  });
  return ranges;
}

function commaBetween(module: Module, from: number, to: number): Range {
  const offset = findToken(module, ",", from, to);
  return [offset, offset + 1];
}

/** The offset of a token between two offsets, outside of comments. */
export function findToken(module: Module, token: string, from: number, to: number): number {
  for (const [start, end] of codeBetween(module, from, to)) {
    const index = module.source.slice(start, end).indexOf(token);
    if (index >= 0) return start + index;
  }
  throw new TypeError(`Expected '${token}' between ${from} and ${to} in ${module.file}`);
}

/** The text between two offsets, without its comments. */
function codeBetween(module: Module, from: number, to: number): Range[] {
  const ranges: Range[] = [];
  let start = from;
  for (const comment of commentsBetween(module, from, to)) {
    ranges.push([start, comment.start]);
    start = comment.end;
  }
  return [...ranges, [start, to]];
}

function commentsBetween(module: Module, from: number, to: number): Comment[] {
  return module.comments.filter(({ start, end }) => start >= from && end <= to);
}

/**
 * The comments right above a statement, and the one behind it on its line. Any other may be about
 * code that isn't in the part, so it goes.
 */
function attachedComments(module: Module, statement: Node): Range[] {
  const { source } = module;
  const ranges: Range[] = [];
  const decorators = list(child(statement, "declaration") ?? statement, "decorators");
  let start = Math.min(statement.start, ...decorators.map((decorator) => decorator.start));
  for (const comment of module.comments.filter(({ end }) => end <= start).toReversed()) {
    const between = source.slice(comment.end, start);
    if (between.trim() !== "" || between.split("\n").length > 2) break;
    // A comment behind code on its line is about that code.
    const line = source.slice(source.lastIndexOf("\n", comment.start) + 1, comment.start);
    if (line.trim() !== "") break;
    ranges.push([comment.start, comment.end]);
    start = comment.start;
  }
  const newline = source.indexOf("\n", statement.end);
  const lineEnd = newline < 0 ? source.length : newline;
  const [next] = commentsBetween(module, statement.end, lineEnd);
  if (
    next !== undefined &&
    (source.slice(statement.end, next.start) + source.slice(next.end, lineEnd)).trim() === ""
  )
    ranges.push([next.start, next.end]);
  return ranges;
}

// `@jsxImportSource …` in a comment says how the file is compiled, so it stays in every part.
function jsxPragmas(module: Module): Range[] {
  if (!module.file.endsWith("x")) return [];
  return module.comments.flatMap((comment) => {
    const text = module.source.slice(comment.start, comment.end);
    const pragmas = [...text.matchAll(/@jsx(?:ImportSource|Runtime|Frag)?[ \t]+[^\s*]+/g)];
    if (pragmas.length === 0 || !text.startsWith("/*")) return [];
    const openLength = text.startsWith("/**") && text.length > 4 ? 3 : 2;
    return [
      [comment.start, comment.start + openLength],
      ...pragmas.map(({ 0: pragma, index }): Range => {
        const start = comment.start + index;
        return [start, start + pragma.length];
      }),
      [comment.end - 2, comment.end],
    ] satisfies Range[];
  });
}

function blankOutside(
  source: string,
  ranges: readonly Range[],
): Pick<KeptText, "text" | "padding"> {
  const sorted = ranges.filter(([start, end]) => end > start).sort(([a], [b]) => a - b);
  const padding: Range[] = [];
  let text = "";
  let done = 0;
  for (const [start, end] of [...sorted, [source.length, source.length] satisfies Range]) {
    if (start > done) padding.push([done, start]);
    if (end < done) continue;
    const from = Math.max(done, start);
    text += blanked(source.slice(done, from)) + source.slice(from, end);
    done = end;
  }
  return { text, padding };
}

/** Spaces in place of a text. Line breaks stay. */
export function blanked(text: string): string {
  return text.replace(/[^\n\r\u2028\u2029]+/g, (line) => " ".repeat(line.length));
}
