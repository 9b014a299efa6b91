// Prints what runs where, from the build's manifest.
import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** @typedef {import("./roles.mjs").Role} Role */
/** @typedef {[name: string, parameters: number, places: number, version?: string, fqn?: string]} Procedure */
/** @typedef {{ segments: string[], places: { segment: string, access: string }[][], procedures: { module: string, exports: Procedure[] }[], browserSegments: string[] }} Manifest */

/** A procedure's name for callers, unless the manifest says another one. */
const fqnOf = (/** @type {string} */ module, /** @type {string} */ name) =>
  module.slice(0, module.lastIndexOf("/") + 1) + name;

/**
 * @param {string} folder
 * @param {Role[]} roles
 * @returns {Promise<string>}
 */
export async function describe(folder, roles) {
  /** @type {Manifest} */
  const manifest = JSON.parse(await readFile(join(folder, "dist/server/manifest.json"), "utf8"));
  const procedures = (/** @type {string[]} */ segments) =>
    segments.flatMap((wanted) =>
      manifest.procedures.flatMap(({ module, exports }) =>
        exports.flatMap(([name, , places, , fqn = fqnOf(module, name)]) =>
          (manifest.places[places] ?? [])
            .filter(({ segment }) => segment === wanted)
            .map(({ access }) => `${fqn}${access === "public" ? "" : ` (${access})`}`),
        ),
      ),
    );
  const servers = manifest.segments.filter(
    (segment) => !manifest.browserSegments.includes(segment),
  );
  const rows = roles.map((role) => {
    const segments = role.segments ?? (role.mode === "standalone" ? servers : []);
    return [role.label, role.url, segments.join(", "), procedures(segments)];
  });
  rows.push([
    "browser",
    "the page",
    manifest.browserSegments.join(", "),
    procedures(manifest.browserSegments),
  ]);
  const heads = ["Role", "URL", "Segments", "Procedures"];
  // One procedure per line, so that the table fits a terminal.
  const lines = rows.flatMap(([role, url, segments, names]) => {
    const list = /** @type {string[]} */ (names);
    return Array.from({ length: Math.max(1, list.length) }, (_, at) =>
      [at === 0 ? role : "", at === 0 ? url : "", at === 0 ? segments : "", list[at] ?? ""].map(
        String,
      ),
    );
  });
  const widths = heads.map((head, at) =>
    Math.max(head.length, ...lines.map((line) => line[at]?.length ?? 0)),
  );
  const text = (/** @type {string[]} */ cells) =>
    `  ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("   ")}`.trimEnd();
  return [
    text(heads),
    `  ${widths.map((width) => "─".repeat(width)).join("   ")}`,
    ...lines.map(text),
  ].join("\n");
}
