// The Vite plugin (package entry `seamline/vite`): serves the parts of split modules to the bundler. What a build is made of is
// read beforehand (application.ts) and written down afterwards (build-run.ts); here is only what Vite asks in between.

import { isBuiltin } from "node:module";
import { isAbsolute, join, resolve } from "node:path";

import type { Environment, Plugin } from "vite";

import { Problems } from "../../src/problem.ts";
import type { Development, SessionParts } from "../dev/development.ts";
import { developmentConfig } from "../dev/vite-config.ts";
import { holderText, partOfId, runtimeId } from "../dev/ids.ts";
import { isInside } from "../sources.ts";
import type { Application } from "./application.ts";
import { graphId, partId } from "./cut.ts";
import { type BuildFolders, Build, type SeamlineOptions } from "./build-run.ts";
import { emptyId, environmentNames, findIndex, graphModule, namedInputs, outDirOf, setBrowser, setServer } from "./environments.ts";
import { behindLink, fileAddresses, textImport, workerGuard } from "./leaks.ts";
import { languageOf, reportUnresolved, resolveForNode } from "./resolve.ts";
import { isNodeOnly, nodeImportProblems } from "./server-only.ts";
import { startCode, startId, startTag } from "./start-page.ts";

export type { SeamlineOptions } from "./build-run.ts";

type Context = { readonly environment: Environment };

/** Splits the application along its segment files, in both builds of a Vite configuration (architecture §1). */
export function seamline(options: SeamlineOptions = {}): Plugin {
  return createPlugin(options).plugin;
}

/**
 * The plugin, and what `seamline build` wants to know of its work. `folders` is where a build of its own is to write, `session` what
 * `seamline dev` wants to be told: with one of them it goes before the plugin of the application's configuration.
 */
export function createPlugin(
  options: SeamlineOptions,
  folders?: BuildFolders,
  session?: SessionParts,
): { readonly plugin: Plugin; readonly build: Build } {
  const build = new Build(options, folders);
  const isOwn = folders !== undefined || session !== undefined;
  // Under Vitest people's unit tests call their functions themselves.
  let isActive = process.env["VITEST"] === undefined || options.test === "split" || isOwn;
  /** What goes on while `vite` serves pages. */
  let development: Development | undefined;
  const applicationOf = async (environment: Environment): Promise<Application> => {
    if (development !== undefined) return await development.application();
    const application = await build.application(environment);
    if (application.problems.length > 0) throw new Problems(application.problems);
    return application;
  };
  const isBrowser = (context: Context): boolean => context.environment.name === environmentNames.browser;

  const plugin: Plugin = {
    name: "seamline",
    enforce: "pre",
    // Each environment with an instance of its own would disagree with the other on what is split.
    sharedDuringBuild: true,
    // Other environments of a configuration build what they build; in development there is one that tests run in.
    applyToEnvironment: ({ name, config }) => config.command !== "build" || Object.values<string>(environmentNames).includes(name),
    api: { options, isOwn },

    async config(config, { command }) {
      const others = (config.plugins ?? []).flat(8).filter((one): one is Plugin => isSeamline(one) && one !== plugin);
      // `seamline build` brings its own plugin; the one of the application's configuration then only lends its options.
      if (!isOwn && others.some((one) => one.api?.isOwn === true)) isActive = false;
      if (!isActive) return undefined;
      const all = Object.assign({}, ...others.map((one) => one.api?.options as SeamlineOptions), definedOf(options)) as SeamlineOptions;
      // Loaded where it is used: who runs unit tests has no need of it.
      const { refuseWrongOptions } = await import("./plugin-options.ts");
      refuseWrongOptions(all);
      build.configure(all, resolve(config.root ?? "."));
      return {
        root: build.viteRoot,
        builder: {},
        worker: { plugins: () => [workerGuard(build)] },
        environments: { [environmentNames.browser]: {}, [environmentNames.server]: {} },
        ...(command === "serve" && developmentConfig(config, () => development, session?.config)),
      };
    },

    configEnvironment(name, config, { command }) {
      if (!isActive) return;
      if (name === environmentNames.server && command === "build")
        setServer(config, { root: build.root, source: build.source, outDir: join(build.serverFolder, "modules") });
      if (name !== environmentNames.browser) return;
      const index = findIndex(build.options.index ?? "index.html", [build.source, build.root, build.viteRoot]);
      build.inputs = namedInputs(config.build?.rolldownOptions?.input ?? config.input, build.viteRoot);
      if (command === "build") setBrowser(config, { index, inputs: build.inputs, outDir: build.browserFolder });
      build.pages = [...new Set([...(index === undefined ? [] : [index]), ...Object.values(build.inputs)])].filter((file) =>
        file.endsWith(".html"),
      );
    },

    configResolved(config) {
      if (isActive)
        build.finalBrowserFolder ??= outDirOf({
          root: config.root,
          build: config.environments[environmentNames.browser]?.build ?? config.build,
        });
    },

    async configureServer(server) {
      // Chosen: in middleware mode it is a tool that wants modules; who types `vite` wants pages, and those ask for a runtime.
      if (!isActive || process.env["VITEST"] !== undefined || server.config.server.middlewareMode) return;
      // Loaded where it is used: a build has no need of the roles.
      const { openDevelopment } = await import("../dev/development.ts");
      development = openDevelopment(server, build, session);
    },

    async hotUpdate({ file, modules }) {
      if (development === undefined) return undefined;
      return await development.hotUpdate(this.environment.name, file, modules);
    },

    transformIndexHtml: {
      // Before Vite looks for scripts.
      order: "pre",
      async handler() {
        const application = await (development?.application() ?? build.latest)?.catch(() => undefined);
        return [...((await development?.pageTags()) ?? []), ...(application?.startsByItself === true ? [startTag] : [])];
      },
    },

    async configurePreviewServer(server) {
      if (!isActive) return;
      const { openPreview } = await import("./preview.ts");
      await openPreview(server, { root: build.root, source: build.source, output: build.finalBrowserFolder ?? "" });
    },

    buildApp: {
      async handler(builder) {
        if (isActive) await build.run(builder);
      },
    },

    async buildStart() {
      // In development everything is read when it is asked for, and mistakes end nothing.
      if (!isActive || development !== undefined) return;
      const application = await applicationOf(this.environment);
      if (this.environment.mode !== "build") return;
      const emit = (id: string): void => build.emit(this, id);
      if (isBrowser(this)) {
        for (const { module, parts } of application.cut.values())
          if (parts.browser.body !== undefined) [module.file, partId.body(module.file)].forEach(emit);
        application.clientModules.forEach((module) => emit(module.file));
      } else {
        for (const { module, parts } of application.cut.values())
          [module.file, ...(parts.server.body === undefined ? [] : [partId.body(module.file)])].forEach(emit);
        application.serverEntries.forEach((module) => emit(module.file));
      }
    },

    resolveId: {
      order: "pre",
      async handler(source, importer, context) {
        if (!isActive) return undefined;
        if (source === emptyId || source === graphModule || source === startId) return source;
        // These are addresses of the running service, in builds and in development (decisions §6).
        if (source.startsWith("/svc/")) return { id: source, external: "absolute" };
        if (isBrowser(this)) {
          // One runtime per page: bundled code asks for the same URL as plain pages do.
          if (source === graphId || source === "seamline" || source === "seamline/client")
            return { id: "/svc/client.js", external: "absolute" };
        } else {
          if (source === "seamline" && importer === graphModule) return { id: source, external: true };
          if (source === graphId || source === "seamline") return graphModule;
        }
        if (source === runtimeId) return { id: source, external: true };
        if (isAbsolute(source) && /[?&]seamline=/.test(source)) return development?.partAt(source) ?? source;
        // Where a module's parts lead is decided above; the rest is Vite's to find, and the build's to judge.
        if (importer === undefined || this.environment.mode !== "build" || source.startsWith("\0") || isAbsolute(source)) return undefined;
        const found = await this.resolve(source, importer, { ...context, skipSelf: true });
        if (found === null && isInside(build.source, importer) && !isBuiltin(source))
          return reportUnresolved(source, importer, build, isBrowser(this));
        if (isBrowser(this) && isNodeOnly(source, importer, found?.id)) build.nodeImports.push({ specifier: source, importer });
        return isBrowser(this) || source.startsWith(".") ? found : resolveForNode(source, importer, found, build.source);
      },
    },

    load: {
      order: "pre",
      async handler(id) {
        if (!isActive) return undefined;
        if (id === emptyId) return "export {};";
        if (id === startId) return startCode;
        if (id === graphModule) return development === undefined ? graphCode : liveGraphCode;
        // Pages get the files of the runtime as they are, and past this.
        if (development !== undefined && id.startsWith("/svc/")) return "export {};";
        const application = await applicationOf(this.environment);
        const leak = isBrowser(this) ? textImport(id, build, (file) => build.isSplit(file, application)) : undefined;
        if (leak !== undefined) throw build.fail([leak]);
        const { file, part } = partOfId(id);
        if (isBrowser(this) && !application.cut.has(file) && build.isSplit(file, application)) throw build.fail([behindLink(file, build)]);
        const module = application.modules.byFile(file);
        if (module === undefined) return undefined;
        const cut = application.cut.get(file);
        // Whatever a manifest has to name gets a file of its own, with all of its exports: one instance for pages and for the manifest.
        const isNamed = !isBrowser(this) || cut !== undefined || application.modules.describe(module).classes.length > 0;
        if (part === undefined && isNamed && this.environment.mode === "build") build.emit(this, file);
        if (cut === undefined) return undefined;
        if (part === "body" && development !== undefined && isBrowser(this))
          return holderText(
            file,
            cut.procedures.map((one) => one.export),
          );
        const parts = cut.parts[isBrowser(this) ? "browser" : "server"];
        const found = part === undefined ? parts.face : part === "shared" ? parts.shared : parts.body;
        const sources = [file];
        return {
          code: found?.code ?? "export {};",
          map: found === undefined ? null : { ...found.map, sources },
          moduleType: languageOf(file),
        };
      },
    },

    async transform(code, id) {
      if (!isActive || !isBrowser(this) || !code.includes("import.meta.url")) return;
      const application = await applicationOf(this.environment);
      const leaks = fileAddresses(code, id, build, (file) => build.isSplit(file, application));
      if (leaks.length > 0) throw build.fail(leaks);
    },

    watchChange(id) {
      if (development === undefined) build.changed(id);
    },

    buildEnd(error) {
      if (!isActive || error !== undefined) return;
      const importersOf = (id: string): readonly string[] => {
        const info = this.getModuleInfo(id);
        return [...(info?.importers ?? []), ...(info?.dynamicImporters ?? [])];
      };
      const problems = [...build.unresolved, ...nodeImportProblems(build.nodeImports, build.root, importersOf)];
      if (problems.length > 0) throw build.fail(problems);
    },

    generateBundle(_, bundle) {
      if (isActive && isBrowser(this)) build.tidy(this, bundle);
    },

    writeBundle: {
      order: "post",
      handler({ dir }, bundle) {
        if (isActive) build.note(this, isBrowser(this) ? "browser" : "server", dir ?? "", bundle);
      },
    },
  };
  return { plugin, build };
}

// Bodies, faces and the application's own imports of `seamline` meet here: one node for one graph of modules, never a global.
const graphCode = `export * from "seamline";
import { createGraph } from "seamline";
const graph = createGraph();
export const { seam, traced, context, runProcedure, bind } = graph;
`;

// A procedure whose parameters have changed has the same seam as before; it is pointed anew after every change.
const liveGraphCode = graphCode.replaceAll('"seamline"', JSON.stringify(runtimeId)).replace("seam, traced, ", "")
  .concat(`import { $tidy } from ${JSON.stringify(runtimeId)};
export const seam = (record) => Object.assign(graph.seam(record), { parameters: record.parameters });
export const traced = (thrown, line) => $tidy(graph.traced(thrown, line));
`);

function isSeamline(plugin: unknown): plugin is Plugin {
  return typeof plugin === "object" && plugin !== null && (plugin as { name?: unknown }).name === "seamline";
}

function definedOf(options: SeamlineOptions): SeamlineOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
