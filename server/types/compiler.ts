// The application's own compiler, by which the types of parameters are read. It is a development dependency: an
// install for production has none.

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Problem } from "../../src/base/problem.ts";

/** A package of the application, or one beside Seamline, as a workspace may keep it. */
export interface FoundPackage {
  /** The file that `require` loads. */
  readonly path: string;
  readonly version: string;
}

/** The compiler, and the package that people install beside TypeScript 7, which has no API for programs. */
const names = ["typescript", "@typescript/typescript6"];

const offSwitch = 'or say "validate": false in the configuration, and no argument is checked';

/** The first compiler that can be used, or a hint about the package to install. */
export function findCompiler(
  root: string,
  places: readonly string[] = placesFrom(root),
): FoundPackage | Problem {
  const all = names.flatMap((name) => findPackage(name, root, places) ?? []);
  const usable = all.find(({ version }) => isUsable(version));
  if (usable !== undefined) return usable;
  const [found] = all;
  const message = `arguments are checked by their types, which TypeScript 5.9 or 6 reads, and here is ${found === undefined ? "none" : `version ${found.version}`}`;
  const install =
    found !== undefined && Number.parseInt(found.version, 10) >= 7
      ? "npm install --save-dev @typescript/typescript6, which stands beside it: version 7 lets no program read types yet"
      : "npm install --save-dev typescript@6";
  return { file: "package.json", message, hint: `${install}; ${offSwitch}` };
}

/** A package as the application resolves it, else one beside this file. */
export function findPackage(
  name: string,
  root: string,
  places: readonly string[] = placesFrom(root),
): FoundPackage | undefined {
  for (const from of places)
    try {
      const path = createRequire(from).resolve(name);
      return { path, version: versionOf(path) };
    } catch {
      // Not here.
    }
  return undefined;
}

function placesFrom(root: string): readonly string[] {
  return [join(root, "package.json"), import.meta.url];
}

/** The version in the package.json above a file of a package. */
function versionOf(file: string): string {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const path = join(folder, "package.json");
    const own = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as object) : {};
    if ("version" in own) return String(own.version);
  }
  return "";
}

function isUsable(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major === 6 || (major === 5 && minor >= 9);
}
