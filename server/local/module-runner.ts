// The modules of one service in a local deployment: Vite's module runner, with its own instances
// and the runtime that runs the service.

import { isBuiltin, SourceMap, type SourceMapPayload } from "node:module";
import { isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";

import type { CustomPayload, DevEnvironment, HotPayload } from "vite";
import type { EvaluatedModuleNode, ModuleEvaluator, ModuleRunner } from "vite/module-runner";

import { runtimeId } from "../compile/read/module-ids.ts";
import type { ModuleNamespace } from "../../src/base/ports.ts";
import { isCommonJs } from "../compile/read/package-of.ts";

export interface ModuleRunnerOptions {
  readonly vite: typeof import("vite/module-runner");
  readonly environment: DevEnvironment;
  /**
   * The module that application modules get as `seamline`: the package that runs the service, so both share its
   * classes.
   */
  readonly runtime: () => Promise<ModuleNamespace>;
  /** Fills the exports of a module: `run` runs it. */
  readonly evaluate: (
    module: Readonly<EvaluatedModuleNode>,
    exports: ModuleNamespace,
    run: () => Promise<void>,
  ) => Promise<void>;
  /** Process-wide source maps are on already. */
  readonly hasSourceMaps?: boolean;
}

export function createModuleRunner(options: ModuleRunnerOptions): ModuleRunner {
  const { vite, environment, runtime, evaluate } = options;
  const esModules = new vite.ESModulesEvaluator();
  const evaluator: ModuleEvaluator = {
    startOffset: esModules.startOffset,
    async runInlinedModule(context, code, module) {
      await evaluate(module, context[vite.ssrModuleExportsKey] as ModuleNamespace, async () => {
        const text = withCommonJsNames(code, module.file, vite.ssrImportMetaKey);
        await esModules.runInlinedModule(context, text).catch((error: unknown) => {
          throw error instanceof SyntaxError
            ? withPlace(error, code, module.file, esModules.startOffset)
            : error;
        });
      });
    },
    runExternalModule: async (file) =>
      await (file === runtimeId ? runtime() : esModules.runExternalModule(file)),
  };
  return new vite.ModuleRunner(
    {
      // Vite's own transport adds listeners and never removes them.
      transport: { invoke: async (message) => await answer(environment, message) },
      // Vite's messages assume one runner per environment. Here each service has its own.
      hmr: false,
      createImportMeta: (file) => importMeta(vite, file),
      ...(options.hasSourceMaps === true && { sourcemapInterceptor: false }),
    },
    evaluator,
  );
}

/**
 * `import.meta` of a module. Vite's own registers hooks for `resolve` as soon as there is a module,
 * for which Node 20 starts a thread: that takes a tenth of a second, and hardly any module needs it.
 */
function importMeta(
  vite: typeof import("vite/module-runner"),
  file: string,
): ReturnType<typeof vite.createNodeImportMeta> {
  return {
    ...vite.createDefaultImportMeta(file),
    main: false,
    resolve: (id, parent) => vite.createNodeImportMeta(file).resolve(id, parent),
  };
}

/**
 * Code with the names of CommonJS that built modules have, too. It may declare each of them itself.
 * Stays on the same lines.
 */
function withCommonJsNames(code: string, file: string, meta: string): string {
  if (!isAbsolute(file) || !/\b(?:require|__dirname|__filename)\b/.test(code)) return code;
  const names = `const { dirname: __dirname, filename: __filename } = ${meta}, require = process.getBuiltinModule("node:module").createRequire(__filename);`;
  return `${names} await (async () => { ${code}\n})();`;
}

/**
 * A syntax error with its place in the source as the first frame of its stack: code that Node can't
 * parse has no frame. Errors of running code stay as they are.
 */
function withPlace(error: SyntaxError, code: string, file: string, offset: number): SyntaxError {
  // Keep the lines of the evaluator's own function, which the source map in the code is for.
  const text = `(async function () { "use strict"; ${"\n".repeat(offset)}${code}\n})`;
  try {
    void new Script(text, { filename: "module" });
    return error;
  } catch (unparsed) {
    const [, line = "", carets = ""] =
      /^module:(\d+)\n.*\n(\s*)\^/.exec((unparsed as SyntaxError).stack ?? "") ?? [];
    const [, base64] = /\/\/# sourceMappingURL=data:[^,]*;base64,(\S+)\s*$/.exec(code) ?? [];
    if (line === "" || base64 === undefined) return error;
    const map = JSON.parse(Buffer.from(base64, "base64").toString("utf8")) as SourceMapPayload;
    const entry = new SourceMap(map).findEntry(Number(line) - 1, carets.length);
    if (!("originalLine" in entry)) return error;
    const { originalLine, originalColumn } = entry;
    error.stack = `${error.name}: ${error.message}\n    at ${pathToFileURL(file).href}:${originalLine + 1}:${originalColumn + 1}`;
    return error;
  }
}

/** Answers a runner's request to the environment whose modules it runs. */
async function answer(
  environment: DevEnvironment,
  message: HotPayload,
): Promise<{ result: unknown } | { error: unknown }> {
  try {
    const { name, data } = (message as CustomPayload).data as { name: string; data: unknown[] };
    const result =
      name === "getBuiltins"
        ? builtinsOf(environment)
        : await fetch(environment, ...(data as Parameters<DevEnvironment["fetchModule"]>));
    return { result };
  } catch (error) {
    return { error };
  }
}

async function fetch(
  environment: DevEnvironment,
  ...[id, importer, options]: Parameters<DevEnvironment["fetchModule"]>
): ReturnType<DevEnvironment["fetchModule"]> {
  if (id.endsWith(runtimeId)) return { externalize: runtimeId, type: "module" };
  // Vite makes modules of its own of names that aliases match, even if they stay external.
  const name = id.replace(/^\/@id\//, "");
  if (isBuiltin(name)) return { externalize: name, type: "builtin" };
  // A runner caches modules until they are invalidated. Vite would answer for the first runner
  // only.
  if (options?.cached === true) return { cache: true };
  const result = await environment.fetchModule(id, importer, options);
  if (!("invalidate" in result)) return result;
  // It has changed while Vite transformed it. The runner doesn't have it yet, so nothing else would
  // make it load the new code.
  if (environment.moduleGraph.getModuleById(result.id)?.transformResult === null)
    return await fetch(environment, id, importer, options);
  // Vite treats linked packages as sources, and its runner can't run CommonJS. Node can, once for
  // the whole process.
  return result.file !== null && isCommonJs(result.file)
    ? { externalize: pathToFileURL(result.file).href, type: "commonjs" }
    : { ...result, invalidate: false };
}

function builtinsOf({ config }: DevEnvironment): unknown {
  return config.resolve.builtins.map((name) =>
    typeof name === "string"
      ? { type: "string", value: name }
      : { type: "RegExp", source: name.source, flags: name.flags },
  );
}
