// The console's page: files of this package, made by its build (client/console/).

import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { HttpRequest, HttpResponse } from "../src/ports.ts";
import { createFileAnswers } from "./file-answer.ts";
import { packageFolder } from "./package-folder.ts";

/** What {@link ConsoleOptions.file} of `createConsole` asks for: the files in dist/svc/console. */
export function createConsoleFiles(
  folder: string = join(packageFolder, "dist/svc/console"),
): (name: string, request: HttpRequest) => Promise<HttpResponse | undefined> {
  const answers = createFileAnswers();
  // Names come from a table of the console, never from a path.
  return async (name, request) => {
    const path = await realpath(join(folder, name)).catch(() => undefined);
    return path === undefined
      ? undefined
      : await answers.answer({ path, immutable: false }, request);
  };
}
