// Where this package lies: its own files are served to browsers and run as a child's command line.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of Seamline's own package.json, from its sources as well as from its bundles. */
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
  const above = dirname(folder);
  if (above === folder)
    throw new Error(
      "Seamline's own package.json was not found above its files: install the package again",
    );
  return findPackage(above);
}
