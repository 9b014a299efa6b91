// Resolves and loads the plugin's modules, mostly parts of split modules, and makes them entries.

import { isBuiltin } from "node:module";
import { dirname, isAbsolute, join, relative } from "node:path";

import type { Environment, Rolldown } from "vite";

import { formatProblem } from "../../../src/base/problem.ts";
import { paths } from "../../../src/base/protocol.ts";
import { clientAddress, inPages } from "../write/page-base.ts";
import { proxiedNames, proxyModuleText } from "./ids.ts";
import type { Application } from "../cut/application.ts";
import { takeFilesBeside } from "./addresses-beside.ts";
import { graphCode, liveGraphCode } from "./graph-code.ts";
import {
  behindLink,
  fileAddresses,
  mayLeadToService,
  serviceModule,
  textImport,
} from "../rules/leaks.ts";
import {
  emptyId,
  graphId,
  graphModuleId,
  parsePartId,
  partId,
  runtimeId,
  startId,
  environmentNames,
} from "../read/module-ids.ts";
import type { SourceModule } from "../read/modules.ts";
import { importProblem } from "../read/import-problem.ts";
import { slashed } from "../../files/sources.ts";
import { isInstalled } from "../read/package-of.ts";
import { isForPages } from "../write/page-classes.ts";
import type { PluginState } from "./plugin-state.ts";
import { judgeImport, languageOf } from "./resolve.ts";
import { startCode } from "./start-page.ts";

export type HookContext = Rolldown.PluginContext & { readonly environment: Environment };

type ResolveOptions = NonNullable<Parameters<Rolldown.PluginContext["resolve"]>[2]>;
type Resolved = string | Rolldown.PartialResolvedId | null | undefined;
type Loaded = string | Rolldown.SourceDescription | undefined;

export function isBrowser({ environment }: Pick<HookContext, "environment">): boolean {
  return environment.name === environmentNames.browser;
}

/** Makes every module an entry that a manifest names; the bundler finds the others. */
export function emitEntries(
  { build }: PluginState,
  context: HookContext,
  { cut, browserModules, serverEntries }: Application,
): void {
  const emit = (id: string): void => build.entries.emit(context, id, build.reader.root);
  const side = isBrowser(context) ? "browser" : "server";
  for (const { module, parts } of cut.values()) {
    const hasBody = parts[side].body !== undefined;
    if (hasBody || side === "server") emit(module.file);
    if (hasBody) emit(partId.body(module.file));
  }
  const modules = side === "browser" ? browserModules : [...serverEntries, ...build.pageClasses];
  for (const { file } of modules) emit(file);
}

/** Paths of files, which {@link resolveModule} leaves to Vite. */
export const wholeFiles: RegExp = new RegExp(`^(?!${paths.components})(?:[A-Za-z]:)?[/\\\\][^?]*$`);

/**
 * Resolves the runtime, parts and virtual modules. Vite resolves the rest, and the build checks the
 * result.
 */
export async function resolveModule(
  state: PluginState,
  context: HookContext,
  source: string,
  importer: string | undefined,
  options: ResolveOptions,
): Promise<Resolved> {
  const { build, development } = state;
  const { environment } = context;
  if (source === emptyId || source === graphModuleId || source === startId) return source;
  // These are addresses of the running service, in builds and in development.
  if (source.startsWith(paths.components))
    return { id: isBrowser(context) ? inPages(environment, source) : source, external: "absolute" };
  if (isBrowser(context)) {
    // One runtime per page: the files that plain pages import re-export this one.
    if (source === graphId || source === "seamline" || source === "seamline/client")
      return { id: clientAddress(environment), external: "absolute" };
  } else {
    if (/^seamline(?:\/internal)?$/.test(source) && importer === graphModuleId)
      return { id: source, external: true };
    if (source === graphId || source === "seamline") return graphModuleId;
  }
  if (source === runtimeId) return { id: source, external: true };
  if (isAbsolute(source) && parsePartId(source).part !== undefined)
    return development?.partAt(source) ?? source;
  if (importer === undefined || source.startsWith("\0") || isAbsolute(source)) return undefined;
  if (environment.name === environmentNames.server && isBuiltin(source))
    return await nodesOwn(state, context, source, importer, options);
  if (environment.mode !== "build" && (!isBrowser(context) || !mayLeadToService(source)))
    return undefined;
  const application = await state.application(environment);
  // Most imports lead to another file of the application. Vite finds that as well, which leaves
  // nothing to judge.
  if (
    environment.mode === "build" &&
    /^\.{1,2}\//.test(source) &&
    application.modules.byFile(join(dirname(importer), source)) !== undefined
  )
    return undefined;
  const isOptional = isForPages(environment, importer, application);
  const found = await context
    .resolve(source, importer, { ...options, skipSelf: true })
    .catch((error: unknown) => {
      // A package may have nothing for Node.
      if (isOptional) return null;
      throw error;
    });
  const judged = { source, importer, found, isOptional };
  return await judgeImport(environment, judged, build.reader, build.findings);
}

/** Node's own module. An alias of it is a replacement for pages, as those of polyfills are. */
async function nodesOwn(
  { build }: PluginState,
  context: HookContext,
  source: string,
  importer: string,
  options: ResolveOptions,
): Promise<Resolved> {
  const found = await context.resolve(source, importer, { ...options, skipSelf: true });
  const file = found?.id.replace(/[?#].*$/, "") ?? "";
  if (isAbsolute(file) && !isInstalled(file)) {
    const { root } = build.reader;
    const message = `"${source}" is Node's own module on servers, and ${slashed(relative(root, file))}, to which resolve.alias leads, in pages only`;
    const hint = "If servers should get the file, give the alias a name that isn't Node's.";
    const problem = importProblem(importer, source, root, message, hint);
    // Development has no end to wait for.
    if (context.environment.mode === "build") build.findings.warnings.push(problem);
    else context.environment.logger.warnOnce(formatProblem(problem));
  }
  return { id: source, external: true };
}

/** The code of a virtual module or of a part; `undefined` leaves a module to Vite. */
export async function loadModule(
  state: PluginState,
  context: HookContext,
  id: string,
): Promise<Loaded> {
  const { build, development } = state;
  if (id === emptyId) return "export {};";
  if (id === startId) return startCode;
  if (id === graphModuleId) return development === undefined ? graphCode : liveGraphCode;
  // Pages load the runtime's files from their URLs, not through Vite.
  if (development !== undefined && id.startsWith(paths.components)) return "export {};";
  const application = await state.applicationFor(context.environment, id);
  if (application === undefined) return undefined;
  if (isBrowser(context)) refuseLeaks(state, application, id);
  const { file } = parsePartId(id);
  const module = application.modules.byFile(file);
  if (module !== undefined) return loadPart(state, context, application, { id, module });
  const problems =
    isAbsolute(file) && !isInstalled(file)
      ? await build.reader.tsconfigProblems(context.environment, [file])
      : [];
  if (problems.length > 0) throw build.findings.fail(problems);
  return undefined;
}

/** Throws if a page would get the source of a split module, or a file that configures services. */
function refuseLeaks({ build }: PluginState, application: Application, id: string): void {
  const { reader, findings } = build;
  const { file } = parsePartId(id);
  const isSplit = (path: string): boolean => reader.isSplit(path, application);
  const leak = textImport(id, reader, isSplit) ?? serviceModule(id, reader);
  if (leak !== undefined) throw findings.fail([leak]);
  if (!application.cut.has(file) && isSplit(file)) throw findings.fail([behindLink(file, reader)]);
}

function loadPart(
  { build, development }: PluginState,
  context: HookContext,
  application: Application,
  { id, module }: { readonly id: string; readonly module: SourceModule },
): Loaded {
  const { file, part } = parsePartId(id);
  const cut = application.cut.get(file);
  const trimmed = isBrowser(context) ? application.trimmed.get(file) : undefined;
  // A module that a manifest may name gets a file with all of its exports, so pages and the
  // manifest share one instance.
  const isNamed =
    !isBrowser(context) ||
    cut !== undefined ||
    application.modules.outline(module).classes.length > 0;
  if (part === undefined && isNamed && context.environment.mode === "build") {
    const isTwofold = isBrowser(context) && hasTwoFaces(application, module);
    build.entries.emit(context, isTwofold ? partId.face(file) : file, build.reader.root);
  }
  if (cut === undefined && trimmed === undefined) return undefined;
  if (part === "body" && cut !== undefined && development !== undefined && isBrowser(context))
    return proxyModuleText(
      file,
      proxiedNames(cut, application.browserSegments),
      context.environment.config,
    );
  const parts = cut?.parts[isBrowser(context) ? "browser" : "server"];
  const found =
    part === undefined || part === "face"
      ? (parts?.face ?? trimmed)
      : part === "shared"
        ? parts?.shared
        : parts?.body;
  return {
    code: found?.code ?? "export {};",
    map: found === undefined ? null : { ...found.map, sources: [file] },
    moduleType: languageOf(file),
  };
}

/**
 * Whether pages get the face as part of what imports it, without a request of its own, and
 * `client.import` gets another one from a file. A face alone has no state, so there may be two.
 * With a body or shared part, or where `client.import` names it, all must share one.
 */
function hasTwoFaces({ cut, browserModules }: Application, module: SourceModule): boolean {
  const parts = cut.get(module.file)?.parts.browser;
  return (
    parts !== undefined &&
    parts.body === undefined &&
    parts.shared === undefined &&
    !browserModules.includes(module)
  );
}

/**
 * Makes files beside a server module part of the build. Throws if `new URL(…, import.meta.url)` in a
 * page's code would make a split module a file.
 */
export async function readAddresses(
  state: PluginState,
  context: Rolldown.TransformPluginContext & HookContext,
  code: string,
  id: string,
): Promise<Rolldown.TransformResult> {
  const isServer = context.environment.name === environmentNames.server;
  if (!isBrowser(context) && (!isServer || context.environment.mode !== "build")) return undefined;
  const application = await state.applicationFor(context.environment, id);
  if (application === undefined) return undefined;
  if (isServer)
    // Pages find these files elsewhere.
    return isForPages(context.environment, id, application)
      ? undefined
      : await takeFilesBeside(state.build, context, code, id);
  const { reader, findings } = state.build;
  const leaks = fileAddresses(code, id, reader, (file) => reader.isSplit(file, application));
  if (leaks.length > 0) throw findings.fail(leaks);
  return undefined;
}
