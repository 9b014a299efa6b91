// The compiler of the application. It is a development dependency there: no install for production has it.

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Problem } from "../../src/base/problem.ts";

/** A package of the application, or one beside Seamline, as a workspace may keep it. */
export interface FoundPackage {
  /** What `require` loads. */
  readonly path: string;
  readonly version: string;
}

/** The first version of TypeScript that is known to work, and the first that has no stable interface for programs. */
const versions = { oldest: [5, 9], tooNew: 7 } as const;

const remedy =
  'Install it: npm install --save-dev typescript@6. Or say "validate": false in the configuration, and no argument is checked';

/** The application's TypeScript, or why its types can't be read. */
export function findCompiler(root: string): FoundPackage | Problem {
  const found = findPackage("typescript", root);
  const file = "package.json";
  if (found === undefined)
    return {
      file,
      message: "arguments of callers are checked by TypeScript types, and there is no TypeScript",
      hint: remedy,
    };
  const [major = 0, minor = 0] = found.version.split(".").map(Number);
  const [oldest, oldestMinor] = versions.oldest;
  if (major > oldest ? major < versions.tooNew : major === oldest && minor >= oldestMinor)
    return found;
  return {
    file,
    message: `types can be read with TypeScript 5.9 or 6, and here is ${found.version}`,
    hint: remedy,
  };
}

/** A package as the application resolves it, else one beside this file. */
export function findPackage(name: string, root: string): FoundPackage | undefined {
  for (const from of [join(root, "package.json"), import.meta.url])
    try {
      const path = createRequire(from).resolve(name);
      return { path, version: versionOf(name, path) };
    } catch {
      // Not here.
    }
  return undefined;
}

/** The version in the package.json above a file of a package. */
function versionOf(name: string, file: string): string {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const path = join(folder, "package.json");
    if (!existsSync(path)) continue;
    const own = JSON.parse(readFileSync(path, "utf8")) as { name?: string; version?: string };
    if (own.name === name && own.version !== undefined) return own.version;
  }
  return "";
}
