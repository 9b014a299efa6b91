// A part's text is the source with everything else turned to spaces, the comments that belong to it included: so every
// line and column stays true, and a map can't show what was taken out.

import type { Module, Unit } from "./analyze.ts";
import { type Comment, list, type Node } from "./tree.ts";

type Range = readonly [start: number, end: number];

export interface Kept {
  /** As long as the source. */
  readonly text: string;
  /** Where a statement ended only by what followed it, which may be gone: a semicolon has to stand there. */
  readonly unended: readonly number[];
  /** What is blank in it and isn't in the source, in order. */
  readonly padding: readonly Range[];
}

/** Keeps `units` of the module; declarations stay exported only where `exported` is true. */
export function keep(module: Module, units: ReadonlySet<Unit>, exported: boolean): Kept {
  const ranges: Range[] = pragmas(module);
  const unended: number[] = [];
  for (const statement of list(module.program, "body")) {
    const all = module.units.filter((unit) => unit.statement === statement);
    const kept = all.filter((unit) => units.has(unit));
    if (kept.length === 0) continue;
    const whole =
      kept.length === all.length &&
      !list(statement, "specifiers").some((one) => one["importKind"] === "type");
    ranges.push(...rangesOf(module, statement, kept, whole, exported));
    if (whole) ranges.push(...attached(module, statement));
    const declares = kept.some(
      (unit) => unit.kind === "declaration" && unit.node.type !== "TSImportEqualsDeclaration",
    );
    if (!declares && module.source[statement.end - 1] !== ";") unended.push(statement.end);
  }
  return { ...blank(module.source, ranges), unended };
}

function rangesOf(
  module: Module,
  statement: Node,
  kept: readonly Unit[],
  whole: boolean,
  exported: boolean,
): Range[] {
  const declaration = statement["declaration"] as Node | null | undefined;
  if (declaration === null || declaration === undefined) {
    if (whole) return [[statement.start, statement.end]];
    return statement.type === "ImportDeclaration"
      ? someSpecifiers(module, statement, kept)
      : someDeclarators(module, statement, kept);
  }
  // Decorators may stand before `export`.
  const before = list(declaration, "decorators").filter((one) => one.start < statement.start);
  const ranges: Range[] = before.map((one) => [one.start, one.end]);
  if (exported) ranges.push(...words(module, statement.start, declaration.start));
  if (!whole)
    return [
      ...ranges,
      ...someDeclarators(module, declaration, kept),
      [declaration.end, statement.end],
    ];
  return [...ranges, [declaration.start, statement.end]];
}

function someDeclarators(module: Module, declaration: Node, kept: readonly Unit[]): Range[] {
  const all = list(declaration, "declarations");
  const ranges: Range[] = words(module, declaration.start, all[0]?.start ?? declaration.end);
  ranges.push(...inList(module, all, new Set(kept.map((unit) => unit.node))));
  const last = all.at(-1)?.end ?? declaration.end;
  return [...ranges, ...words(module, last, declaration.end)];
}

function someSpecifiers(module: Module, statement: Node, kept: readonly Unit[]): Range[] {
  const all = list(statement, "specifiers");
  const nodes = new Set(kept.map((unit) => unit.node));
  const source = statement["source"] as Node;
  const first = all.find((one) => one.type !== "ImportDefaultSpecifier");
  const standard = all.find((one) => one.type === "ImportDefaultSpecifier");
  const named = all.filter((one) => one.type === "ImportSpecifier");
  // `import`, and `from "…"` with its attributes.
  const from = findWord(module, "from", all.at(-1)?.end ?? statement.start, source.start);
  const ranges: Range[] = [
    [statement.start, statement.start + "import".length],
    [from, from + "from".length],
    [source.start, statement.end],
  ];
  const rest = all.filter((one) => one !== standard && nodes.has(one));
  if (standard !== undefined && nodes.has(standard)) {
    ranges.push([standard.start, standard.end]);
    if (rest.length > 0) ranges.push(comma(module, standard.end, first?.start ?? standard.end));
  }
  if (first?.type === "ImportNamespaceSpecifier" && nodes.has(first))
    ranges.push([first.start, first.end]);
  if (named.some((one) => nodes.has(one))) {
    const open = findWord(
      module,
      "{",
      standard?.end ?? statement.start,
      named[0]?.start ?? statement.end,
    );
    const close = findWord(module, "}", named.at(-1)?.end ?? open, from);
    ranges.push([open, open + 1], [close, close + 1], ...inList(module, named, nodes));
  }
  return ranges;
}

/** The kept members of a list, with a comma before each but the first. */
function inList(module: Module, all: readonly Node[], kept: ReadonlySet<Node>): Range[] {
  const ranges: Range[] = [];
  all.forEach((one, at) => {
    if (!kept.has(one)) return;
    if (ranges.length > 0) ranges.push(comma(module, all[at - 1]?.end ?? one.start, one.start));
    ranges.push([one.start, one.end]);
  });
  return ranges;
}

function comma(module: Module, from: number, to: number): Range {
  const at = findWord(module, ",", from, to);
  return [at, at + 1];
}

/** The text between two offsets, without the comments in it. */
function words(module: Module, from: number, to: number): Range[] {
  const ranges: Range[] = [];
  let at = from;
  for (const comment of commentsIn(module, from, to)) {
    ranges.push([at, comment.start]);
    at = comment.end;
  }
  return [...ranges, [at, to]];
}

/** Where `sought` stands between two offsets, outside of comments. */
export function findWord(module: Module, sought: string, from: number, to: number): number {
  for (const [start, end] of words(module, from, to)) {
    const at = module.source.slice(start, end).indexOf(sought);
    if (at >= 0) return start + at;
  }
  throw new TypeError(`No '${sought}' where the tree says that there is one, in ${module.file}`);
}

function commentsIn(module: Module, from: number, to: number): Comment[] {
  return module.comments.filter((one) => one.start >= from && one.end <= to);
}

/** The comments right above a statement, and the one behind it on its line. Others may speak of anything: they go. */
function attached(module: Module, statement: Node): Range[] {
  const { source } = module;
  const ranges: Range[] = [];
  const decorated = list(
    (statement["declaration"] as Node | null | undefined) ?? statement,
    "decorators",
  );
  let start = Math.min(statement.start, ...decorated.map((one) => one.start));
  for (const comment of module.comments.filter((one) => one.end <= start).toReversed()) {
    const between = source.slice(comment.end, start);
    if (between.trim() !== "" || between.split("\n").length > 2) break;
    // Behind something on its line, it speaks of that.
    const line = source.slice(source.lastIndexOf("\n", comment.start - 1) + 1, comment.start);
    if (line.trim() !== "") break;
    ranges.push([comment.start, comment.end]);
    start = comment.start;
  }
  const newline = source.indexOf("\n", statement.end);
  const lineEnd = newline < 0 ? source.length : newline;
  const [next] = commentsIn(module, statement.end, lineEnd);
  if (
    next !== undefined &&
    (source.slice(statement.end, next.start) + source.slice(next.end, lineEnd)).trim() === ""
  )
    ranges.push([next.start, next.end]);
  return ranges;
}

// A comment with `@jsxImportSource …` says how the file is compiled: that much of it stays in every part.
function pragmas(module: Module): Range[] {
  if (!module.file.endsWith("x")) return [];
  return module.comments.flatMap((comment) => {
    const text = module.source.slice(comment.start, comment.end);
    const found = [...text.matchAll(/@jsx(?:ImportSource|Runtime|Frag)?[ \t]+[^\s*]+/g)];
    if (found.length === 0 || !text.startsWith("/*")) return [];
    const open = text.startsWith("/**") && text.length > 4 ? 3 : 2;
    const pieces = found.map((one): Range => [
      comment.start + one.index,
      comment.start + one.index + one[0].length,
    ]);
    return [
      [comment.start, comment.start + open],
      ...pieces,
      [comment.end - 2, comment.end],
    ] satisfies Range[];
  });
}

/** Spaces for everything outside `ranges`; ends of lines stay. */
function blank(source: string, ranges: readonly Range[]): Pick<Kept, "text" | "padding"> {
  const sorted = ranges
    .filter(([start, end]) => end > start)
    .sort((one, other) => one[0] - other[0]);
  const padding: Range[] = [];
  let text = "";
  let at = 0;
  for (const [start, end] of [...sorted, [source.length, source.length] satisfies Range]) {
    if (start > at) padding.push([at, start]);
    if (end < at) continue;
    text += spaces(source.slice(at, Math.max(at, start))) + source.slice(Math.max(at, start), end);
    at = end;
  }
  return { text, padding };
}

function spaces(text: string): string {
  return text.replace(/[^\n\r\u2028\u2029]/g, " ");
}

/** A whole source, blanked. */
export function allBlank(source: string): string {
  return spaces(source);
}
