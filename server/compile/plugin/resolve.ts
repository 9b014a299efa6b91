// Decides about an import that Vite resolved: bundle it, leave it to the node, or report a mistake.

import { isBuiltin } from "node:module";
import { dirname, isAbsolute, join } from "node:path";

import type { Environment, Rolldown } from "vite";

import type { Problem } from "../../../src/base/problem.ts";
import { isInside } from "../../files/sources.ts";
import type { ApplicationReader } from "../application-reader.ts";
import { environmentNames } from "../read/module-ids.ts";
import type { Findings } from "../write/findings.ts";
import { importProblem } from "../read/import-problem.ts";
import { serviceImport } from "../rules/leaks.ts";
import { isModuleFile } from "../read/modules.ts";
import { holdsMachineCode, isInstalled, packageOf } from "../read/package-of.ts";
import { isNodeOnly } from "../rules/server-only.ts";
import { unresolvedImport } from "../rules/unresolved-imports.ts";

type Resolved = Rolldown.PartialResolvedId | null;

export interface Import {
  readonly source: string;
  /** A module's id. */
  readonly importer: string;
  /** The result of Vite and its plugins. */
  readonly found: Pick<Rolldown.ResolvedId, "id" | "external"> | null;
  /** Problems of this import don't fail the build, see page-classes.ts. */
  readonly isOptional?: boolean;
}

/**
 * Judges an import in a build, or in a page in development. A build collects mistakes for its end,
 * as the bundler would stop at the first one.
 */
export async function judgeImport(
  environment: Environment,
  judged: Import,
  reader: Pick<ApplicationReader, "root" | "source" | "find">,
  findings: Findings,
): Promise<Resolved | undefined> {
  const { source, importer, found } = judged;
  const isBrowser = environment.name === environmentNames.browser;
  if (
    environment.mode === "build" &&
    found === null &&
    !isBuiltin(source) &&
    isOwn(importer, reader.source)
  ) {
    const { problem, isWarning } = unresolvedImport(source, importer, reader.root, isBrowser);
    if (judged.isOptional !== true)
      (isWarning ? findings.warnings : findings.mistakes).push(problem);
    return { id: source, external: true };
  }
  const service =
    isBrowser && found !== null
      ? serviceImport(source, importer, found.id, reader.root)
      : undefined;
  if (service !== undefined) {
    // Development has no end to wait for.
    if (environment.mode !== "build") throw findings.fail([service]);
    findings.mistakes.push(service);
    return { id: source, external: true };
  }
  if (environment.mode !== "build") return undefined;
  if (isBrowser && isNodeOnly(source, importer, found?.id))
    findings.nodeImports.push({ specifier: source, importer });
  if (isBrowser || source.startsWith(".")) return found;
  const { resolved, problem } = await resolveForNode(environment, judged, reader);
  if (problem !== undefined && judged.isOptional !== true) findings.mistakes.push(problem);
  return resolved;
}

/** Code of the application, or of linked packages that are developed beside it. */
function isOwn(importer: string, sourceFolder: string): boolean {
  const file = fileOf(importer);
  return (
    isInside(sourceFolder, file) || (isAbsolute(file) && isModuleFile(file) && !isInstalled(file))
  );
}

/**
 * Resolves an import in the server's build. Vite decides as for SSR: what is in `node_modules` and
 * can run on Node stays an import, which a node resolves from the application folder, unless the
 * configuration bundles it. Linked packages and those in TypeScript are bundled.
 */
export async function resolveForNode(
  environment: Environment,
  { source, importer, found }: Import,
  reader: Pick<ApplicationReader, "root" | "find">,
): Promise<{ readonly resolved: Resolved; readonly problem?: Problem }> {
  const external = { id: source, external: true, moduleSideEffects: true } as const;
  // Bundled, contexts and error brands would exist twice. It may be a package of the same
  // workspace.
  if (found === null || /^seamline(?:\/|$)/.test(source) || /\.(?:node|wasm)$/.test(found.id))
    return { resolved: external };
  const isExternal = found.external !== undefined && found.external !== false;
  const resolved = isExternal
    ? { id: found.id, external: found.external, moduleSideEffects: true }
    : found;
  const configured = environment.config.resolve.external;
  const isNamed =
    configured === true ||
    configured.some((name) => source === name || source.startsWith(`${name}/`));
  if (isExternal ? isNamed || isBuiltin(source) : !isInstalled(found.id)) return { resolved };
  // Node wouldn't find a dependency that only a package of the workspace has, or would find another
  // version.
  const [here, fromRoot] = await Promise.all(
    [importer, join(reader.root, "package.json")].map(
      async (from) => await findFrom(from, source, environment, reader),
    ),
  );
  if (here === undefined || !isAbsolute(here) || here === fromRoot) return { resolved };
  const problem = machineCode(source, importer, here, reader.root);
  return problem === undefined
    ? { resolved: isExternal ? { id: here } : found }
    : { resolved: external, problem };
}

/** Packages don't move during a build, and hundreds of modules import the same few. */
const places = new WeakMap<Environment, Map<string, Promise<string | undefined>>>();

async function findFrom(
  importer: string,
  source: string,
  environment: Environment,
  reader: Pick<ApplicationReader, "find">,
): Promise<string | undefined> {
  const files = places.get(environment) ?? new Map<string, Promise<string | undefined>>();
  places.set(environment, files);
  const key = `${dirname(importer)} ${source}`;
  const file = files.get(key) ?? reader.find(environment, source, importer);
  files.set(key, file);
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
  const message = `the package "${name}" holds machine code, which can't be bundled, and the application folder has another version of it or none`;
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

/** The language of a part, whose id has a query behind the extension. */
export function languageOf(file: string): "js" | "jsx" | "ts" | "tsx" {
  if (file.endsWith(".tsx")) return "tsx";
  if (file.endsWith(".jsx")) return "jsx";
  return /\.m?ts$/.test(file) ? "ts" : "js";
}
