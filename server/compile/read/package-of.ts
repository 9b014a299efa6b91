// The package that a file belongs to.

import { existsSync, readFileSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";

import { readJson } from "../../../src/base/json.ts";
import { Problems } from "../../../src/base/problem.ts";
import { realPath } from "../../files/sources.ts";

export interface PackageOf {
  /** Absolute. */
  readonly folder: string;
  readonly json: Readonly<Record<string, unknown>>;
}

/** The nearest package above a file. A `package.json` without a name only configures a folder. */
export function packageOf(file: string): PackageOf | undefined {
  for (const found of packagesAbove(file)) if (found.json["name"] !== undefined) return found;
  return undefined;
}

function* packagesAbove(file: string): Generator<PackageOf, undefined> {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const path = join(folder, "package.json");
    if (!existsSync(path)) continue;
    const read = readJson(readFileSync(path, "utf8"), path);
    if ("broken" in read) throw new Problems([read.broken]);
    yield { folder, json: read.value as Record<string, unknown> };
  }
}

/**
 * Whether a module is a file in CommonJS. Looks into the text, as packages for bundlers may have
 * modules without `"type": "module"`. An id that a plugin made up may look like a file's path.
 */
export function isCommonJs(file: string): boolean {
  if (!/\.c?js$/.test(file) || !isAbsolute(file) || !existsSync(file)) return false;
  if (file.endsWith(".cjs")) return true;
  const { value } = packagesAbove(file).next();
  return (
    value?.json["type"] !== "module" &&
    !/^\s*(?:import\b(?!\s*\()|export\b)/m.test(readFileSync(file, "utf8"))
  );
}

/** Whether a file was installed, so it isn't edited. */
export function isInstalled(file: string): boolean {
  return /[\\/]node_modules[\\/]/.test(file);
}

/**
 * Whether a module isn't the application's own source: it is installed, or a plugin made it up.
 * Links are followed.
 */
export function isNoSource(id: string): boolean {
  // Vite reads relative ids from the working directory.
  const file = resolve(id.replace(/[?#].*$/, ""));
  return !existsSync(file) || isInstalled(realPath(file));
}

/** Whether `importer` can find a folder of the package, even an empty one. */
export function hasPackage(specifier: string, importer: string): boolean {
  const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
  for (let folder = dirname(importer); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "node_modules", name))) return true;
    if (folder === dirname(folder)) return false;
  }
}

// Dependencies of packages that load machine code, which these look up beside their own files.
const loaders = [
  "bindings",
  "node-gyp-build",
  "node-addon-api",
  "@mapbox/node-pre-gyp",
  "prebuild-install",
];

/** Whether a package contains machine code, which can't be bundled. */
export function holdsMachineCode({ folder, json }: PackageOf): boolean {
  const { dependencies } = json as { dependencies?: unknown };
  const needed =
    typeof dependencies === "object" && dependencies !== null ? Object.keys(dependencies) : [];
  return (
    json["gypfile"] === true ||
    ["binary", "napi"].some((key) => json[key] !== undefined) ||
    existsSync(join(folder, "binding.gyp")) ||
    loaders.some((name) => needed.includes(name))
  );
}
