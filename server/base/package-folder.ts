// Finds this package's folder. Its files are served to browsers and run by child processes.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of Seamline's own package.json, whether this runs from sources or from a bundle. */
export const packageFolder: string = findPackage(dirname(fileURLToPath(import.meta.url)));

/** Seamline's own version. */
export function packageVersion(): string {
  return (
    JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")) as { version: string }
  ).version;
}

function findPackage(folder: string): string {
  const file = join(folder, "package.json");
  if (
    existsSync(file) &&
    (JSON.parse(readFileSync(file, "utf8")) as { name?: unknown }).name === "seamline"
  )
    return folder;
  const parent = dirname(folder);
  if (parent === folder)
    throw new Error(
      "Can't find Seamline's own package.json above its files. Install the package again",
    );
  return findPackage(parent);
}
