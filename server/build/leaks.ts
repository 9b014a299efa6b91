// Ways around the load hook on which the text of a split module would reach browsers whole: as text, as a file, in a worker's bundle.

import { dirname, isAbsolute, relative, resolve } from "node:path";

import type { Plugin } from "vite";

import type { Problem } from "../../src/problem.ts";
import { serviceFile } from "../service-files.ts";
import { slashed } from "../sources.ts";
import type { Build } from "./build-run.ts";
import { importProblem } from "./import-problem.ts";

/** A split module by a path that isn't its own: `resolve.preserveSymlinks` has such ids. */
export function behindLink(file: string, build: Pick<Build, "root">): Problem {
  return problem(
    file,
    "is asked for by a path that leads through a link",
    build,
    "Import it by the path that it has without links.",
  );
}

/** A browser's import of a split module as text, as an address, or as a worker. */
export function textImport(
  id: string,
  build: Pick<Build, "root">,
  isCut: (file: string) => boolean,
): Problem | undefined {
  const [file = id, query = ""] = id.split("?");
  if (!isCut(file) || !/(?:^|&)(?:raw|url|inline|(?:shared)?worker)\b/.test(query))
    return undefined;
  return problem(file, `is imported with "?${query}"`, build);
}

/** `new URL("./module.ts", import.meta.url)` copies the file into the output. */
export function fileAddresses(
  code: string,
  id: string,
  build: Pick<Build, "root">,
  isCut: (file: string) => boolean,
): readonly Problem[] {
  return [...code.matchAll(/new\s+URL\(\s*(["'`])([^"'`$]+)\1\s*,\s*import\.meta\.url/g)].flatMap(
    (match) => {
      const file = resolve(dirname(id.replace(/\?.*$/, "")), match[2] ?? "");
      const service = serviceImport(match[2] ?? "", id, file, build.root);
      if (service !== undefined) return [service];
      return isCut(file)
        ? [
            problem(
              file,
              `is made a file by new URL in ${slashed(relative(build.root, id))}`,
              build,
            ),
          ]
        : [];
    },
  );
}

const isCode = /\.(?:[cm]?[jt]sx?|vue|svelte|css|scss|sass|less)$/;

/** Whether an import may lead to a file that says how services are run: not where it is read as code. */
export function mayLeadToService(specifier: string): boolean {
  return specifier.includes("?") || (/\.\w+$/.test(specifier) && !isCode.test(specifier));
}

/** A browser's import of a file that says how services are run. */
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

/** The same, where no import is known: without a line of the file. */
export function serviceModule(id: string, { root }: Pick<Build, "root">): Problem | undefined {
  return isService(id)
    ? {
        file: slashed(relative(root, pathOf(id))),
        message: `${isForServices}, and a page asks for it`,
        hint: forPages,
      }
    : undefined;
}

const isForServices = "this file says how a service is run, or with which keys";
const forPages = "Put what pages may know into a file of its own.";

function isService(id: string): boolean {
  const file = pathOf(id);
  return isAbsolute(file) && !isCode.test(file) && serviceFile(file) !== undefined;
}

function pathOf(id: string): string {
  return id.replace(/[?#].*$/, "");
}

/**
 * For the bundles of workers, in which nothing is split: they are made apart from the build that knows how. A worker is a node like a page,
 * so it asks for the same runtime by the same address; bundled into it there would be a second one, which nobody has started.
 */
export function workerGuard(build: Build): Plugin {
  return {
    name: "seamline:worker",
    enforce: "pre",
    resolveId: {
      order: "pre",
      handler(source, importer) {
        if (source !== "seamline" && source !== "seamline/client") return undefined;
        // A classic script, Vite's default for workers, has no imports.
        if (this.environment.getTopLevelConfig().worker.format !== "es")
          throw build.fail([noModule(importer ?? source, source, build)]);
        return { id: "/svc/client.js", external: "absolute" };
      },
    },
    async load(id) {
      const application = await build.application(this.environment);
      const file = id.replace(/\?.*$/, "");
      if (build.isSplit(file, application))
        throw build.fail([problem(file, "is imported by a worker", build)]);
    },
  };
}

function noModule(importer: string, source: string, build: Build): Problem {
  return {
    file: slashed(relative(build.root, importer.replace(/\?.*$/, ""))),
    message: `a worker imports "${source}", and Vite makes classic scripts of workers, which can't import the runtime`,
    hint: 'Set worker: { format: "es" } in the Vite configuration, and start it with new Worker(url, { type: "module" })',
  };
}

const asModule =
  "Import it as a module in the page's own code, and move what a worker needs into a module without procedures.";

function problem(file: string, how: string, build: Pick<Build, "root">, hint = asModule): Problem {
  return {
    file: slashed(relative(build.root, file)),
    message: `this module has procedures, and ${how}: browsers would get the source of all of them`,
    hint,
  };
}
