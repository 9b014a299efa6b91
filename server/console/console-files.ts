// The files of the console's page.

import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { HttpRequest, HttpResponse } from "../../src/base/ports.ts";
import { packageFolder } from "../base/package-folder.ts";
import { lazyFileAnswers } from "../files/lazy-file-answers.ts";

/** Creates `ConsoleOptions.file`. Serves the files in dist/svc/console. */
export function createConsoleFiles(
  folder: string = join(packageFolder, "dist/svc/console"),
): (name: string, request: HttpRequest) => Promise<HttpResponse | undefined> {
  const answers = lazyFileAnswers();
  // Names come from the console's own table, never from a request's path.
  return async (name, request) => {
    const path = await realpath(join(folder, name)).catch(() => undefined);
    return path === undefined
      ? undefined
      : await answers.answer({ path, immutable: false }, request);
  };
}
