// What a build makes of an import that Vite has looked up: a part of it, something that a node resolves itself, or a mistake.

import { isBuiltin } from "node:module";
import { dirname, isAbsolute, join } from "node:path";

import type { Environment, Rolldown } from "vite";

import type { Problem } from "../../src/problem.ts";
import { isInside } from "../sources.ts";
import type { Build } from "./build-run.ts";
import { environmentNames } from "./environments.ts";
import { importProblem } from "./import-problem.ts";
import { serviceImport } from "./leaks.ts";
import { isModuleFile } from "./modules.ts";
import { hasPackage, holdsMachineCode, isInstalled, packageOf } from "./package-of.ts";
import { isNodeOnly } from "./server-only.ts";

type Resolved = Rolldown.PartialResolvedId | null;

export interface Import {
  readonly source: string;
  /** A module's id. */
  readonly importer: string;
  /** What Vite and its plugins say. */
  readonly found: Pick<Rolldown.ResolvedId, "id" | "external"> | null;
  /** What is wrong with it is for those who load the importer, see page-classes.ts. */
  readonly isOptional?: boolean;
}

/** Judges an import of a build, and of pages in development. Mistakes of a build are kept for its end: the bundler would stop at the first. */
export async function judgeImport(
  environment: Environment,
  given: Import,
  build: Build,
): Promise<Resolved | undefined> {
  const { source, importer, found } = given;
  const isBrowser = environment.name === environmentNames.browser;
  if (
    environment.mode === "build" &&
    found === null &&
    !isBuiltin(source) &&
    isOwn(importer, build.source)
  ) {
    const { problem, isWarning } = unresolvedImport(source, importer, build.root, isBrowser);
    if (given.isOptional !== true) (isWarning ? build.warnings : build.mistakes).push(problem);
    return { id: source, external: true };
  }
  const service =
    isBrowser && found !== null ? serviceImport(source, importer, found.id, build.root) : undefined;
  if (service !== undefined) {
    // In development nobody waits for the end.
    if (environment.mode !== "build") throw build.fail([service]);
    build.mistakes.push(service);
    return { id: source, external: true };
  }
  if (environment.mode !== "build") return undefined;
  if (isBrowser && isNodeOnly(source, importer, found?.id))
    build.nodeImports.push({ specifier: source, importer });
  if (isBrowser || source.startsWith(".")) return found;
  const { resolved, problem } = await resolveForNode(environment, given, build);
  if (problem !== undefined && given.isOptional !== true) build.mistakes.push(problem);
  return resolved;
}

/** Code of the application, and of packages that people work on beside it. */
function isOwn(importer: string, sourceFolder: string): boolean {
  const file = fileOf(importer);
  return (
    isInside(sourceFolder, file) || (isAbsolute(file) && isModuleFile(file) && !isInstalled(file))
  );
}

/** An import that leads nowhere. A package that a node may have, though this machine hasn't, is a warning. */
export function unresolvedImport(
  source: string,
  importer: string,
  root: string,
  isBrowser: boolean,
): { readonly problem: Problem; readonly isWarning: boolean } {
  const tell = (message: string, hint: string): Problem =>
    importProblem(importer, source, root, message, hint);
  if (/^\.{1,2}\//.test(source))
    return {
      problem: tell(`"${source}" is no file`, "Look at its name and its folder."),
      isWarning: false,
    };
  if (hasPackage(source, fileOf(importer))) {
    const message = `the package "${source}" is installed, but has no file for this import`;
    return {
      problem: tell(message, 'Build the package, or look at "exports" in its package.json.'),
      isWarning: false,
    };
  }
  const problem = tell(
    `the package "${source}" is not installed here`,
    "Install it, or take the import out.",
  );
  return { problem, isWarning: !isBrowser };
}

/**
 * Where an import leads in the build of the server. Vite decides as it does for SSR: what lies in `node_modules` and Node can run stays an import, for
 * a node to resolve from the application folder, unless the configuration takes it in. Packages that links lead to, and those in TypeScript, are a
 * part of the build.
 */
export async function resolveForNode(
  environment: Environment,
  { source, importer, found }: Import,
  build: Pick<Build, "root" | "find">,
): Promise<{ readonly resolved: Resolved; readonly problem?: Problem }> {
  const external = { id: source, external: true, moduleSideEffects: true } as const;
  // Bundled, contexts and the brands of errors would exist twice; it may be a package of the same workspace.
  if (found === null || /^seamline(?:\/|$)/.test(source) || /\.(?:node|wasm)$/.test(found.id))
    return { resolved: external };
  const isExternal = found.external !== undefined && found.external !== false;
  const resolved = isExternal
    ? { id: found.id, external: found.external, moduleSideEffects: true }
    : found;
  const left = environment.config.resolve.external;
  const isNamed =
    left === true || left.some((name) => source === name || source.startsWith(`${name}/`));
  if (isExternal ? isNamed || isBuiltin(source) : !isInstalled(found.id)) return { resolved };
  // A dependency that only a package of the workspace has, or has in another version, Node wouldn't find, or wouldn't find this one.
  const [here, fromRoot] = await Promise.all(
    [importer, join(build.root, "package.json")].map(
      async (from) => await findFrom(from, source, environment, build),
    ),
  );
  if (here === undefined || !isAbsolute(here) || here === fromRoot) return { resolved };
  const problem = machineCode(source, importer, here, build.root);
  return problem === undefined
    ? { resolved: isExternal ? { id: here } : found }
    : { resolved: external, problem };
}

/** Of a build, in which packages stay where they are: hundreds of modules import the same few. */
const places = new WeakMap<Environment, Map<string, Promise<string | undefined>>>();

async function findFrom(
  importer: string,
  source: string,
  environment: Environment,
  build: Pick<Build, "find">,
): Promise<string | undefined> {
  const known = places.get(environment) ?? new Map<string, Promise<string | undefined>>();
  places.set(environment, known);
  const key = `${dirname(importer)} ${source}`;
  const file = known.get(key) ?? build.find(environment, source, importer);
  known.set(key, file);
  return await file;
}

function machineCode(
  source: string,
  importer: string,
  file: string,
  root: string,
): Problem | undefined {
  const found = packageOf(fileOf(file));
  if (found === undefined || !holdsMachineCode(found)) return undefined;
  const name = String(found.json["name"]);
  const message = `the package "${name}" holds machine code, which can't be built into the server's modules, and the application has another one or none`;
  return importProblem(
    importer,
    source,
    root,
    message,
    `Install it in the application folder: npm install ${name}`,
  );
}

function fileOf(id: string): string {
  return id.replace(/[?#].*$/, "");
}

/** How the bundler is to read a part, whose id has a query behind the extension. */
export function languageOf(file: string): "js" | "jsx" | "ts" | "tsx" {
  if (file.endsWith(".tsx")) return "tsx";
  if (file.endsWith(".jsx")) return "jsx";
  return /\.m?ts$/.test(file) ? "ts" : "js";
}
