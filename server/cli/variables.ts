// `--env-file`: variables from files.

import { resolve } from "node:path";

/**
 * Loads files with variables, relative to the application folder, as `node --env-file` does:
 * variables that are already set keep their values.
 */
export function loadVariables(root: string, files: readonly string[] = []): void {
  for (const file of files) load(resolve(root, file));
}

function load(path: string): void {
  try {
    process.loadEnvFile(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(
      `Can't read the variables in ${path} (--env-file): ${code === "ENOENT" ? "there is no such file" : message}`,
      { cause: error },
    );
  }
}
