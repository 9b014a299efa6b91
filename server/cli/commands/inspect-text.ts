// The text output of `seamline inspect`: lines that fit the terminal, for applications of any size.

import { formatProblem } from "../../../src/base/problem.ts";
import type {
  InspectedBrowser,
  InspectedProcedure,
  InspectedSegment,
  Inspection,
} from "../../report/inspection.ts";
import type { Why, WhyStep } from "../../report/why.ts";
import { routeDetails, routeRows } from "./inspect-routes.ts";
import { count, thousands, type Paint } from "../../base/paint.ts";

export interface Style {
  readonly width: number;
  readonly paint: Paint;
}

// With more procedures, the overview has one line per segment.
const maxProcedures = 40;
const maxModules = 15;
const maxWarnings = 10;

/** Segments and their procedures, what browsers receive, warnings. */
export function overview(
  inspection: Inspection,
  style: Style,
  isSelection: boolean,
): readonly string[] {
  const { segments, procedures, routes, browser, warnings } = inspection;
  const isLong = !isSelection && procedures.length > maxProcedures;
  const lines = [
    `${count(procedures.length, "procedure")}${routes.length === 0 ? "" : ` and ${count(routes.length, "route")}`} in ${count(segments.length, "segment")}`,
  ];
  if (isLong)
    lines.push(
      "",
      ...table(segments.map(segmentRow), style),
      "",
      style.paint("dim", "seamline inspect --segment NAME lists a segment's procedures"),
    );
  else
    for (const segment of segments)
      lines.push(
        "",
        ...segmentLines(segment, procedures, style),
        ...table(routeRows(segment.name, routes), style),
      );
  if (isSelection) return lines;
  lines.push("", ...browserLines(browser, style));
  for (const warning of warnings.slice(0, maxWarnings))
    lines.push("", `${style.paint("yellow", "warning:")} ${formatProblem(warning)}`);
  if (warnings.length > maxWarnings)
    lines.push(
      "",
      style.paint(
        "dim",
        `and ${warnings.length - maxWarnings} more warnings. Run seamline check to see all of them`,
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
    levels.map(([level, number]) => `${thousands(number)} ${level}`).join(", "),
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
  const members = all.flatMap((procedure) =>
    procedure.segments
      .filter(({ name }) => name === segment.name)
      .map(({ access }) => ({ procedure, access })),
  );
  const rows = members.map(({ procedure, access }) => [
    `  ${nameOf(procedure)}`,
    access,
    procedure.signature,
  ]);
  const lines = table(rows, style);
  return [
    head,
    ...lines.flatMap((line, index) => [
      line,
      ...importedBy(members[index]?.procedure.importers ?? [], style),
    ]),
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
    return ["Browsers receive nothing: there is no page and no browser segment"];
  const bytes = sum((sizes === "built" ? files : modules).map((entry) => entry.bytes));
  const gzip = files.length === 0 ? "" : `, ${size(sum(files.map((file) => file.gzip)))} gzipped`;
  const inFiles = files.length === 0 ? " of source" : ` in ${count(files.length, "file")}${gzip}`;
  const lines = [
    style.paint(
      "bold",
      `Browsers receive ${count(modules.length, "module")}: ${size(bytes)}${inFiles}`,
    ),
  ];
  if (sizes === "source") {
    const reason = build === "none" ? "there is no build" : "the build is older than the sources";
    lines.push(
      style.paint("dim", `  sizes are those of the sources: ${reason}. Run seamline build`),
    );
  }
  const widest = Math.max(...grouped.map((entry) => size(entry.bytes).length));
  for (const entry of grouped.slice(0, maxModules))
    lines.push(clip(`  ${size(entry.bytes).padStart(widest)}  ${entry.name}`, style.width));
  if (grouped.length > maxModules)
    lines.push(
      style.paint("dim", `  and ${grouped.length - maxModules} smaller ones, listed by --json`),
    );
  return lines;
}

/** Sums up the files of a package, largest entry first. */
function byPackage(
  modules: InspectedBrowser["modules"],
): readonly { readonly name: string; readonly bytes: number }[] {
  const groups = new Map<string, { name: string; bytes: number; files: number }>();
  for (const { name, package: packageName, part, bytes } of modules) {
    const key = packageName ?? `${name}${part === undefined ? "" : ` (${part})`}`;
    const group = groups.get(key) ?? { name: key, bytes: 0, files: 0 };
    groups.set(key, { name: key, bytes: group.bytes + bytes, files: group.files + 1 });
  }
  return [...groups.values()]
    .map(({ name, bytes, files }) => ({
      name: files > 1 ? `${name}, ${files} files` : name,
      bytes,
    }))
    .sort((left, right) => right.bytes - left.bytes);
}

/** Declaration, signature, segments and importers of each procedure. */
export function procedureDetails(
  { procedures, routes, segments }: Inspection,
  style: Style,
): readonly string[] {
  const runsInBrowsers = (segmentName: string): boolean =>
    segments.find(({ name }) => name === segmentName)?.browsers === true;
  const lines = procedures.flatMap((procedure, index) => {
    const places = procedure.segments.map(
      ({ name, access }) => `${name} (${access}, ${where(runsInBrowsers(name))})`,
    );
    const [first = "nothing in the sources", ...rest] = procedure.importers.map(placeOf);
    return [
      ...(index === 0 ? [] : [""]),
      `${style.paint("bold", procedure.fqn)} ${procedure.version}`,
      `  declared     ${procedure.file}:${procedure.line}:${procedure.column}`,
      ...wrapped("  takes        ", procedure.signature, style.width),
      `  segments     ${places.join(", ")}`,
      `  imported by  ${first}`,
      ...rest.map((importer) => `               ${importer}`),
    ];
  });
  const ofRoutes = routeDetails(routes, style);
  return [...lines, ...(lines.length === 0 ? ofRoutes.slice(1) : ofRoutes)];
}

/** The import chain that leads to browsers, one step per line, or the importers if none does. */
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
        (importer) =>
          `  ${stepOf(importer)} imports it${importer.part === "face" ? ", but browsers only get that module's face" : ""}`,
      ),
    ];
  }
  const lines = [`${style.paint("bold", name)} reaches browsers`];
  for (const { part, chain } of ways) {
    lines.push("", ...(part === undefined ? [] : [partText[part]]));
    for (const [index, step] of chain.entries())
      lines.push(`  ${index === 0 ? "  " : "→ "}${stepOf(step)}`);
  }
  const others = importers.filter(
    ({ part, name: importer }) =>
      part !== "face" && !ways.some(({ chain }) => chain.some((step) => step.name === importer)),
  );
  if (others.length > 0) lines.push("", `Also imported by ${others.map(stepOf).join(", ")}`);
  return lines;
}

const partText = {
  face: "its face, which only makes calls, through",
  shared: "its shared part, which has no procedures, through",
  body: "its body, the procedures' code, through",
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

/** Pads each column to its widest cell and clips the last one at the terminal's edge. */
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
  return numbers.reduce((total, number) => total + number, 0);
}
