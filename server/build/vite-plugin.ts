// The Vite plugin (package entry `seamline/vite`): serves the parts of split modules to the bundler. What a build is made of is
// read beforehand (application.ts) and written down afterwards (build-run.ts); here is only what Vite asks in between.

import { isAbsolute, join, resolve } from "node:path";

import type { Environment, Plugin } from "vite";

import { Problems } from "../../src/problem.ts";
import { definedOf } from "../defined.ts";
import type { Development, SessionParts } from "../dev/development.ts";
import { developmentConfig } from "../dev/vite-config.ts";
import { heldNames, holderText, partOfId, runtimeId } from "../dev/ids.ts";
import type { Application } from "./application.ts";
import { graphId, partId } from "./cut.ts";
import { type BuildFolders, Build } from "./build-run.ts";
import {
  emptyId,
  environmentNames,
  findIndex,
  graphModule,
  inputFiles,
  inputOf,
  outDirOf,
  packagesOf,
  setBrowser,
  setServer,
} from "./environments.ts";
import { graphCode, liveGraphCode } from "./graph-code.ts";
import { foreignBuild, foreignEnvironment, isOwnEnvironment } from "./foreign-environment.ts";
import { syntaxGuard } from "./future-syntax.ts";
import {
  behindLink,
  fileAddresses,
  mayLeadToService,
  serviceModule,
  textImport,
  workerGuard,
} from "./leaks.ts";
import { isInstalled, isNoSource } from "./package-of.ts";
import { isForPages } from "./page-classes.ts";
import type { SeamlineOptions } from "./plugin-options.ts";
import { judgeImport, languageOf } from "./resolve.ts";
import { nodeImportProblems } from "./server-only.ts";
import { startCode, startId, startTag } from "./start-page.ts";

export type { SeamlineOptions } from "./plugin-options.ts";

type Context = { readonly environment: Environment };

/** Whether modules are split in an environment. Under Vitest there is one that tests run in. */
const isOurs = ({ name, config }: Pick<Environment, "name" | "config">): boolean =>
  isOwnEnvironment(name) || (process.env["VITEST"] !== undefined && config.command === "serve");

/** Splits the application along its segment files, in both builds of a Vite configuration (architecture §1). */
export function seamline(options: SeamlineOptions = {}): Plugin[] {
  return createPlugin(options).plugins;
}

/**
 * The plugin, and what `seamline build` wants to know of its work. `folders` is where a build of its own is to write, `session` what
 * `seamline dev` wants to be told: with one of them it goes before the plugin of the application's configuration.
 */
export function createPlugin(
  options: SeamlineOptions,
  folders?: BuildFolders,
  session?: SessionParts,
): { readonly plugins: Plugin[]; readonly build: Build } {
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
  /** For one of the modules that Vite asks for. A session without an application still gives pages Vite's client, which shows them why. */
  const applicationFor = async (
    environment: Environment,
    id: string,
  ): Promise<Application | undefined> =>
    await applicationOf(environment).catch((error: unknown) => {
      if (development !== undefined && isNoSource(id)) return undefined;
      throw error;
    });
  const isBrowser = (context: Context): boolean =>
    context.environment.name === environmentNames.browser;

  const plugin: Plugin = {
    name: "seamline",
    enforce: "pre",
    // Each environment with an instance of its own would disagree with the other on what is split.
    sharedDuringBuild: true,
    applyToEnvironment: (environment) =>
      !isActive || isOurs(environment) || foreignEnvironment(build, applicationOf),
    api: { options, isOwn },

    async config(config, { command }) {
      const others = (config.plugins ?? [])
        .flat(8)
        .filter((one): one is Plugin => isSeamline(one) && one !== plugin);
      // `seamline build` brings its own plugin; the one of the application's configuration then only lends its options.
      if (!isOwn && others.some((one) => one.api?.isOwn === true)) isActive = false;
      if (!isActive) return undefined;
      const all = Object.assign(
        {},
        ...others.map((one) => one.api?.options as SeamlineOptions),
        definedOf(options),
      ) as SeamlineOptions;
      // Loaded where it is used: who runs unit tests has no need of it.
      const { refuseWrongOptions } = await import("./plugin-options.ts");
      refuseWrongOptions(all);
      build.configure(all, resolve(config.root ?? "."));
      build.forTests ||= process.env["VITEST"] !== undefined && !isOwn;
      // Asked for by `vite build --ssr`: a build of Vite's own, of one environment.
      if (command === "build" && Boolean(config.build?.ssr)) return undefined;
      return {
        root: build.viteRoot,
        builder: {},
        worker: { plugins: () => [workerGuard(build)] },
        // What is said of packages for SSR holds for nodes.
        environments: {
          [environmentNames.browser]: {},
          [environmentNames.server]: { resolve: packagesOf(config) },
        },
        ...(command === "serve" && developmentConfig(config, () => development, session?.config)),
      };
    },

    configEnvironment(name, config, { command }) {
      if (!isActive) return;
      if (name === environmentNames.server && command === "build")
        setServer(config, {
          root: build.root,
          source: build.source,
          outDir: join(build.serverFolder, "modules"),
        });
      if (name !== environmentNames.browser) return;
      const index = findIndex(build.options.index ?? "index.html", [
        build.source,
        build.root,
        build.viteRoot,
      ]);
      const bases = [build.viteRoot, build.root];
      build.inputs = inputFiles(inputOf(config), bases);
      if (command === "build") setBrowser(config, { index, bases, outDir: build.browserFolder });
      build.pages = [...new Set([...(index === undefined ? [] : [index]), ...build.inputs])].filter(
        (file) => file.endsWith(".html"),
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
      if (isActive) (await import("../dev/closed-files.ts")).keepServiceFiles(server);
      // Chosen: in middleware mode it is a tool that wants modules; who types `vite` wants pages, and those ask for a runtime.
      if (!isActive || process.env["VITEST"] !== undefined || server.config.server.middlewareMode)
        return;
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
        const application = await (development?.application() ?? build.latest)?.catch(
          () => undefined,
        );
        return [
          ...((await development?.pageTags()) ?? []),
          ...(application?.startsByItself === true ? [startTag] : []),
        ];
      },
    },

    async configurePreviewServer(server) {
      if (!isActive) return;
      const { openPreview } = await import("./preview.ts");
      await openPreview(server, {
        root: build.root,
        source: build.source,
        output: build.finalBrowserFolder ?? "",
      });
    },

    buildApp: {
      async handler(builder) {
        if (isActive && builder.environments[environmentNames.server] !== undefined)
          await build.run(builder);
      },
    },

    async buildStart() {
      // In development everything is read when it is asked for, and mistakes end nothing.
      if (!isActive || development !== undefined) return;
      const isBuild = this.environment.mode === "build";
      if (isBuild && !build.isRunning && process.env["VITEST"] === undefined)
        throw foreignBuild(this.environment.getTopLevelConfig(), build.root);
      const application = await applicationOf(this.environment);
      if (!isBuild) return;
      const emit = (id: string): void => build.entries.emit(this, id, build.root);
      if (isBrowser(this)) {
        for (const { module, parts } of application.cut.values())
          if (parts.browser.body !== undefined)
            [module.file, partId.body(module.file)].forEach(emit);
        application.clientModules.forEach((module) => emit(module.file));
      } else {
        for (const { module, parts } of application.cut.values())
          [
            module.file,
            ...(parts.server.body === undefined ? [] : [partId.body(module.file)]),
          ].forEach(emit);
        [...application.serverEntries, ...build.pageClasses].forEach((module) => emit(module.file));
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
          if (source === "seamline" && importer === graphModule)
            return { id: source, external: true };
          if (source === graphId || source === "seamline") return graphModule;
        }
        if (source === runtimeId) return { id: source, external: true };
        if (isAbsolute(source) && /[?&]seamline=/.test(source))
          return development?.partAt(source) ?? source;
        // Where a module's parts lead is decided above; the rest is Vite's to find, and the build's to judge.
        if (importer === undefined || source.startsWith("\0") || isAbsolute(source))
          return undefined;
        if (this.environment.mode !== "build" && (!isBrowser(this) || !mayLeadToService(source)))
          return undefined;
        const isOptional = isForPages(
          this.environment,
          importer,
          await applicationOf(this.environment),
        );
        const found = await this.resolve(source, importer, { ...context, skipSelf: true }).catch(
          (error: unknown) => {
            // A package may have nothing for Node.
            if (isOptional) return null;
            throw error;
          },
        );
        return await judgeImport(this.environment, { source, importer, found, isOptional }, build);
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
        const application = await applicationFor(this.environment, id);
        if (application === undefined) return undefined;
        const leak = isBrowser(this)
          ? textImport(id, build, (file) => build.isSplit(file, application))
          : undefined;
        if (leak !== undefined) throw build.fail([leak]);
        const { file, part } = partOfId(id);
        const service = isBrowser(this) ? serviceModule(id, build) : undefined;
        if (service !== undefined) throw build.fail([service]);
        if (isBrowser(this) && !application.cut.has(file) && build.isSplit(file, application))
          throw build.fail([behindLink(file, build)]);
        const module = application.modules.byFile(file);
        if (module === undefined) {
          const wrong =
            isAbsolute(file) && !isInstalled(file)
              ? await build.tsconfigProblems(this.environment, [file])
              : [];
          if (wrong.length > 0) throw build.fail(wrong);
          return undefined;
        }
        const cut = application.cut.get(file);
        const trimmed = isBrowser(this) ? application.trimmed.get(file) : undefined;
        // Whatever a manifest has to name gets a file of its own, with all of its exports: one instance for pages and for the manifest.
        const isNamed =
          !isBrowser(this) ||
          cut !== undefined ||
          application.modules.describe(module).classes.length > 0;
        if (part === undefined && isNamed && this.environment.mode === "build")
          build.entries.emit(this, file, build.root);
        if (cut === undefined && trimmed === undefined) return undefined;
        if (part === "body" && cut !== undefined && development !== undefined && isBrowser(this))
          return holderText(file, heldNames(cut, application.clients));
        const parts = cut?.parts[isBrowser(this) ? "browser" : "server"];
        const whole = parts?.face ?? trimmed;
        const found = part === undefined ? whole : part === "shared" ? parts?.shared : parts?.body;
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
      const application = await applicationFor(this.environment, id);
      if (application === undefined) return;
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
      const problems = [
        ...build.mistakes,
        ...nodeImportProblems(build.nodeImports, build.root, importersOf),
      ];
      if (problems.length > 0) throw build.fail(problems);
    },

    generateBundle(_, bundle) {
      if (isActive && isBrowser(this)) build.entries.tidy(this, bundle);
    },

    writeBundle: {
      order: "post",
      handler({ dir }, bundle) {
        if (isActive) build.note(this, isBrowser(this) ? "browser" : "server", dir ?? "", bundle);
      },
    },
  };
  const guard = syntaxGuard(build, async (environment, id) =>
    isActive ? await applicationFor(environment, id) : undefined,
  );
  return { plugins: [plugin, { ...guard, applyToEnvironment: isOurs }], build };
}

function isSeamline(plugin: unknown): plugin is Plugin {
  return (
    typeof plugin === "object" &&
    plugin !== null &&
    (plugin as { name?: unknown }).name === "seamline"
  );
}
