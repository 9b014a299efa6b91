// Ways around the load hook that would give browsers the whole text of a split module: as text, as
// a file, or in a worker's bundle.

import { dirname, isAbsolute, relative, resolve } from "node:path";

import type { Problem } from "../../../src/base/problem.ts";
import { serviceFile } from "../../files/service-files.ts";
import { slashed } from "../../files/sources.ts";
import { importProblem } from "../read/import-problem.ts";

/** The application folder. */
type Rooted = { readonly root: string };

/** A split module requested by another path than its own, as `resolve.preserveSymlinks` allows. */
export function behindLink(file: string, application: Rooted): Problem {
  return problem(
    file,
    "is requested by a path through a symbolic link",
    application,
    "Import it by its real path.",
  );
}

/** A split module in the bundle of a worker, in which nothing is split. */
export function inWorker(file: string, application: Rooted): Problem {
  return problem(file, "is imported by a worker", application);
}

/** A page's import of a split module as text, URL or worker. */
export function textImport(
  id: string,
  application: Rooted,
  isCut: (file: string) => boolean,
): Problem | undefined {
  const [file = id, query = ""] = id.split("?");
  if (!isCut(file) || !/(?:^|&)(?:raw|url|inline|(?:shared)?worker)\b/.test(query))
    return undefined;
  return problem(file, `is imported with "?${query}"`, application);
}

/** `new URL("./module.ts", import.meta.url)` copies the file into the output. */
export function fileAddresses(
  code: string,
  id: string,
  application: Rooted,
  isCut: (file: string) => boolean,
): readonly Problem[] {
  return [...code.matchAll(/new\s+URL\(\s*(["'`])([^"'`$]+)\1\s*,\s*import\.meta\.url/g)].flatMap(
    (match) => {
      const file = resolve(dirname(id.replace(/\?.*$/, "")), match[2] ?? "");
      const service = serviceImport(match[2] ?? "", id, file, application.root);
      if (service !== undefined) return [service];
      return isCut(file)
        ? [
            problem(
              file,
              `is published as a file by new URL in ${slashed(relative(application.root, id))}`,
              application,
            ),
          ]
        : [];
    },
  );
}

const isCode = /\.(?:[cm]?[jt]sx?|vue|svelte|css|scss|sass|less)$/;

/** Whether an import may load a file that says how services are run. Code isn't such a file. */
export function mayLeadToService(specifier: string): boolean {
  return specifier.includes("?") || (/\.\w+$/.test(specifier) && !isCode.test(specifier));
}

/** A page's import of a file that says how services are run. */
export function serviceImport(
  specifier: string,
  importer: string,
  id: string,
  root: string,
): Problem | undefined {
  return isService(id)
    ? importProblem(importer, specifier, root, `${isForServices}, and a page imports it`, forPages)
    : undefined;
}

/** The same if the importing statement isn't known. */
export function serviceModule(id: string, { root }: Rooted): Problem | undefined {
  return isService(id)
    ? {
        file: slashed(relative(root, pathOf(id))),
        message: `${isForServices}, and a page requests it`,
        hint: forPages,
      }
    : undefined;
}

const isForServices = "this file configures a service or holds its keys";
const forPages = "Move what pages may know to a file of its own.";

function isService(id: string): boolean {
  const file = pathOf(id);
  return isAbsolute(file) && !isCode.test(file) && serviceFile(file) !== undefined;
}

function pathOf(id: string): string {
  return id.replace(/[?#].*$/, "");
}

const asModule =
  "Import it as a module in the page's own code, and move what a worker needs into a module without procedures.";

function problem(file: string, how: string, application: Rooted, hint = asModule): Problem {
  return {
    file: slashed(relative(application.root, file)),
    message: `this module has procedures, and ${how}: browsers would get the source of all of them`,
    hint,
  };
}
