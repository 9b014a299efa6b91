// An error that a procedure threw: what, where in the sources, and the way it came.

import { pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { traceOf } from "../../../src/trace.ts";
import { packageFolder } from "../../package-folder.ts";
import type { Paint } from "./text.ts";

// Places of one error that are shown: the first ones say where it happened, the last ones who asked.
const mostPlaces = 10;
const mostCauses = 3;

/** Equal errors at the same place are the same, however the procedure was come by. */
export function failureLines(
  error: unknown,
  { root, paint, head }: { root: string; paint: Paint; head: string },
): { readonly text: string; readonly same: string } {
  const lines: string[] = [];
  let cause: unknown = error;
  for (let depth = 0; depth <= mostCauses && cause !== undefined; depth++) {
    const what =
      depth === 0
        ? `${paint("red", `${head}:`)} ${titleOf(cause)}`
        : `  caused by ${titleOf(cause)}`;
    lines.push(what, ...placesOf(cause, root).map((place) => paint("dim", `    ${place}`)));
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  lines.push(...traceOf(error).map((line) => paint("dim", `    ${line}`)));
  const text = lines.join("\n");
  return { text, same: text };
}

/** `NotFound: No such sku`. What a stranger's message says must not steer the terminal. */
export function titleOf(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return stripVTControlCharacters(String(thrown));
    return stripVTControlCharacters(
      thrown.message === "" ? thrown.name : `${thrown.name}: ${thrown.message}`,
    );
  } catch {
    return "what was thrown can't be read";
  }
}

/** What came of something that the session itself was asked for. */
export function reasonOf(thrown: unknown): string {
  return thrown instanceof Error && thrown.name === "Error" ? thrown.message : titleOf(thrown);
}

/** The application's own places, as paths of the application; where there is none, the first of all. */
function placesOf(thrown: unknown, root: string): readonly string[] {
  if (!(thrown instanceof Error) || typeof thrown.stack !== "string") return [];
  const places = thrown.stack
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim());
  const own = places.filter((place) => !isForeign(place, root));
  const shown = (own.length > 0 ? own : places).slice(0, mostPlaces);
  return shown.map((place) =>
    place.replaceAll(`${pathToFileURL(root).href}/`, "").replaceAll(`${root}/`, ""),
  );
}

const packageUrl = pathToFileURL(packageFolder).href;

/** Node's, this package's, or Vite's: nobody mends an application there. */
function isForeign(place: string, root: string): boolean {
  if (/\((?:node:|<anonymous>)|at node:|\/node_modules\/(?:seamline|vite|rolldown)\//.test(place))
    return true;
  const ours = place.includes(`${packageFolder}/`) || place.includes(`${packageUrl}/`);
  // The application may lie in the package's folder, as the demo does.
  return ours && !place.includes(`${root}/`) && !place.includes(pathToFileURL(root).href);
}
