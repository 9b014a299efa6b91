// Reads the application after a change, and updates the list of problems.

import type { DevEnvironment } from "vite";

import type { Application } from "../compile/cut/application.ts";
import type { ApplicationReader } from "../compile/application-reader.ts";
import { createImportJudge } from "./pages/import-mistakes.ts";
import type { Pages } from "./pages/pages.ts";
import { goneFile } from "./nodes/problem-of.ts";
import type { ProblemList } from "./session/problem-list.ts";

export interface ReadingParts {
  readonly reader: ApplicationReader;
  readonly environment: DevEnvironment;
  readonly problems: ProblemList;
  readonly pages: Pages;
  /** Gets a file that was removed while the application was read. */
  readonly onGone: (file: string) => void;
}

/** Resolves to `undefined` while the application has problems. */
export type ReadApplication = (options?: {
  readonly judgesImports?: boolean;
}) => Promise<Application | undefined>;

export function createReading(parts: ReadingParts): ReadApplication {
  const { reader, environment, problems, pages, onGone } = parts;
  const judgeImports = createImportJudge(reader.root, environment);
  return async ({ judgesImports = true } = {}) => {
    const read = async () => {
      const application = await reader.read(environment);
      return { application, imports: judgesImports ? await judgeImports(application) : [] };
    };
    const result = await read().catch((error: unknown) => onGone(goneFile(error)));
    if (result === undefined) return undefined;
    const { application, imports } = result;
    const { pageOnlyCalls, warnings } = application;
    problems.warn([...pageOnlyCalls.map(({ problem }) => problem), ...warnings]);
    pages.warnings(pageOnlyCalls.filter(({ isShared }) => !isShared).map(({ problem }) => problem));
    problems.setAll({ application: application.problems, imports });
    return application.problems.length > 0 ? undefined : application;
  };
}
