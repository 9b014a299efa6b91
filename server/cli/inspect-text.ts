// What `seamline inspect` prints for people: lines that fit the terminal, of three procedures as of two thousand.

import { formatProblem } from "../../src/problem.ts";
import type {
  InspectedBrowser,
  InspectedProcedure,
  InspectedSegment,
  Inspection,
} from "../build/inspection.ts";
import type { Why, WhyStep } from "../build/why.ts";

export interface Style {
  readonly width: number;
  readonly paint: (format: "bold" | "dim" | "yellow" | "green", text: string) => string;
}

// With more, a segment is one line, and its procedures are asked for by its name.
const mostProcedures = 40;
const mostModules = 15;
const mostWarnings = 10;

/** Segments and their procedures, what browsers receive, warnings. */
export function overview(
  inspection: Inspection,
  style: Style,
  isChosen: boolean,
): readonly string[] {
  const { segments, procedures, browser, warnings } = inspection;
  const isLong = !isChosen && procedures.length > mostProcedures;
  const lines = [
    `${count(procedures.length, "procedure")} in ${count(segments.length, "segment")}`,
  ];
  if (isLong)
    lines.push(
      "",
      ...table(segments.map(segmentRow), style),
      "",
      style.paint("dim", "seamline inspect --segment NAME lists the procedures of one"),
    );
  else for (const segment of segments) lines.push("", ...segmentLines(segment, procedures, style));
  if (isChosen) return lines;
  lines.push("", ...browserLines(browser, style));
  for (const warning of warnings.slice(0, mostWarnings))
    lines.push("", `${style.paint("yellow", "warning:")} ${formatProblem(warning)}`);
  if (warnings.length > mostWarnings)
    lines.push(
      "",
      style.paint(
        "dim",
        `and ${warnings.length - mostWarnings} more warnings, which seamline check tells`,
      ),
    );
  return lines;
}

function segmentRow({
  name,
  file,
  browsers,
  procedures,
  access,
}: InspectedSegment): readonly string[] {
  const levels = Object.entries(access).filter(([, number]) => number > 0);
  return [
    name,
    count(procedures, "procedure"),
    levels.map(([level, number]) => `${number} ${level}`).join(", "),
    where(browsers),
    file,
  ];
}

function segmentLines(
  segment: InspectedSegment,
  all: readonly InspectedProcedure[],
  style: Style,
): readonly string[] {
  const head = `${style.paint("bold", segment.name)}  ${where(segment.browsers)}  ${style.paint("dim", segment.file)}`;
  const here = all.flatMap((one) =>
    one.segments.filter(({ name }) => name === segment.name).map(({ access }) => ({ one, access })),
  );
  const rows = here.map(({ one, access }) => [`  ${nameOf(one)}`, access, one.signature]);
  const lines = table(rows, style);
  return [
    head,
    ...lines.flatMap((line, at) => [line, ...importedBy(here[at]?.one.importers ?? [], style)]),
  ];
}

function importedBy(importers: InspectedProcedure["importers"], style: Style): readonly string[] {
  if (importers.length === 0) return [];
  const [first, second] = importers.map(placeOf);
  const more = importers.length > 2 ? ` and ${importers.length - 2} more` : "";
  return [
    style.paint(
      "dim",
      clip(`    from ${first}${second === undefined ? "" : `, ${second}`}${more}`, style.width),
    ),
  ];
}

function browserLines(
  { modules, files, sizes, build }: InspectedBrowser,
  style: Style,
): readonly string[] {
  const grouped = byPackage(modules);
  if (grouped.length === 0)
    return ["Browsers receive nothing: there is no page, and no segment that one starts"];
  const bytes = sum((sizes === "built" ? files : modules).map((one) => one.bytes));
  const gzip = files.length === 0 ? "" : `, ${size(sum(files.map((one) => one.gzip)))} gzipped`;
  const inFiles = files.length === 0 ? " of source" : ` in ${count(files.length, "file")}${gzip}`;
  const lines = [
    style.paint(
      "bold",
      `Browsers receive ${count(modules.length, "module")}: ${size(bytes)}${inFiles}`,
    ),
  ];
  if (sizes === "source") {
    const why = build === "none" ? "there is no build" : "the build is older than the sources";
    lines.push(style.paint("dim", `  sizes are those of the sources, as ${why}: seamline build`));
  }
  const widest = Math.max(...grouped.map((one) => size(one.bytes).length));
  for (const { name, bytes: one } of grouped.slice(0, mostModules))
    lines.push(clip(`  ${size(one).padStart(widest)}  ${name}`, style.width));
  if (grouped.length > mostModules)
    lines.push(
      style.paint("dim", `  and ${grouped.length - mostModules} smaller ones, which --json lists`),
    );
  return lines;
}

/** A package is one line, however many files it has. */
function byPackage(
  modules: InspectedBrowser["modules"],
): readonly { readonly name: string; readonly bytes: number }[] {
  const found = new Map<string, { name: string; bytes: number; files: number }>();
  for (const { name, package: of, part, bytes } of modules) {
    const key = of ?? `${name}${part === undefined ? "" : ` (${part})`}`;
    const known = found.get(key) ?? { name: key, bytes: 0, files: 0 };
    found.set(key, { name: key, bytes: known.bytes + bytes, files: known.files + 1 });
  }
  return [...found.values()]
    .map(({ name, bytes, files }) => ({
      name: files > 1 ? `${name}, ${files} files` : name,
      bytes,
    }))
    .sort((one, other) => other.bytes - one.bytes);
}

/** All that is known of some procedures. */
export function procedureDetails(
  { procedures, segments }: Inspection,
  style: Style,
): readonly string[] {
  return procedures.flatMap((one, at) => {
    const held = one.segments.map(
      ({ name, access }) =>
        `${name} (${access}, ${where(segments.find((other) => other.name === name)?.browsers === true)})`,
    );
    const [first = "nobody in the sources", ...others] = one.importers.map(placeOf);
    return [
      ...(at === 0 ? [] : [""]),
      `${style.paint("bold", one.fqn)} ${one.version}`,
      `  declared     ${one.file}:${one.line}:${one.column}`,
      ...wrapped("  takes        ", one.signature, style.width),
      `  segments     ${held.join(", ")}`,
      `  imported by  ${first}`,
      ...others.map((other) => `               ${other}`),
    ];
  });
}

/** The way into the browser, a step on each line; or who stands before it. */
export function whyLines(
  { name, inBrowser, ways, importers }: Why,
  style: Style,
): readonly string[] {
  if (!inBrowser) {
    const lines = [`${style.paint("bold", name)} does not reach browsers`];
    if (importers.length === 0) return [...lines, "  nothing imports it by value"];
    return [
      ...lines,
      ...importers.map(
        (one) =>
          `  ${stepOf(one)} imports it${one.part === "face" ? ", of which browsers get the face only" : ""}`,
      ),
    ];
  }
  const lines = [`${style.paint("bold", name)} reaches browsers`];
  for (const { part, chain } of ways) {
    lines.push("", ...(part === undefined ? [] : [partText[part]]));
    for (const [at, step] of chain.entries())
      lines.push(`  ${at === 0 ? "  " : "→ "}${stepOf(step)}`);
  }
  const others = importers.filter(
    (one) =>
      one.part !== "face" &&
      !ways.some(({ chain }) => chain.some((step) => step.name === one.name)),
  );
  if (others.length > 0) lines.push("", `Also imported by ${others.map(stepOf).join(", ")}`);
  return lines;
}

const partText = {
  face: "its face, which only calls, by",
  shared: "its shared part, what is no procedure, by",
  body: "its body, the procedures' code, by",
} as const;

function stepOf({ name, line }: WhyStep): string {
  return line === undefined ? name : `${name}:${line}`;
}

function placeOf({ file, line }: { readonly file: string; readonly line?: number }): string {
  return line === undefined ? file : `${file}:${line}`;
}

function where(browsers: boolean): string {
  return browsers ? "browsers" : "nodes";
}

function nameOf({ fqn, version }: InspectedProcedure): string {
  return version === "0.0.0" ? fqn : `${fqn} ${version}`;
}

/** Columns as wide as what is in them; the last one is cut at the edge. */
function table(rows: readonly (readonly string[])[], { width }: Style): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) =>
    clip(
      row
        .map((cell, column) =>
          column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0),
        )
        .join("  "),
      width,
    ),
  );
}

function wrapped(head: string, text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = head;
  for (const word of text.split(" ")) {
    if (line.trim() !== "" && line.length + word.length > width && line !== head) {
      lines.push(line.trimEnd());
      line = " ".repeat(head.length);
    }
    line += `${word} `;
  }
  return [...lines, line.trimEnd()];
}

function clip(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}

function size(bytes: number): string {
  return bytes < 1_000
    ? `${bytes} B`
    : bytes < 1_000_000
      ? `${(bytes / 1_000).toFixed(1)} kB`
      : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((one, other) => one + other, 0);
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
