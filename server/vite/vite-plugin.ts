// The Vite plugin (package entry `seamline/vite`): maps Vite's hooks to functions here.
// read-application.ts reads the application first, and build-run.ts writes the manifests after a
// build.

import { relative } from "node:path";

import type { Environment, Plugin } from "vite";

import { type BuildFolders, Build } from "../compile/write/build-run.ts";
import { findIndex } from "../compile/write/environments.ts";
import { environmentNames } from "../compile/read/module-ids.ts";
import {
  foreignBuild,
  foreignEnvironment,
  isOwnEnvironment,
} from "../compile/plugin/foreign-environment.ts";
import { syntaxGuard } from "../compile/plugin/syntax-guard.ts";
import {
  configure,
  configureEnvironment,
  configureOutput,
} from "../compile/plugin/plugin-config.ts";
import {
  emitEntries,
  loadModule,
  readAddresses,
  resolveModule,
  wholeFiles,
} from "../compile/plugin/plugin-modules.ts";
import type { ApplicationReader } from "../compile/application-reader.ts";
import type { SeamlineOptions } from "../compile/read/plugin-options.ts";
import { isInside, slashed } from "../files/sources.ts";
import { ownAddressHint } from "../../src/split/describe/own-addresses.ts";
import type { SessionParts } from "../compile/plugin/plugin-session.ts";
import { lowerSyntax } from "../compile/plugin/lower-syntax.ts";
import { pageStops } from "../compile/plugin/page-stops.ts";
import { PluginState } from "../compile/plugin/plugin-state.ts";
import { nodeImportProblems } from "../compile/rules/server-only.ts";
import { startTag } from "../compile/plugin/start-page.ts";

export type { SeamlineOptions } from "../compile/read/plugin-options.ts";

/** Splits the application along its segment files, in both builds of a Vite configuration. */
export function seamline(options: SeamlineOptions = {}): Plugin[] {
  return createPlugin(options).plugins;
}

/**
 * Creates the plugin and its build. `seamline build` passes `folders`, `seamline dev` a `session`;
 * either makes this plugin replace the one in the application's configuration.
 */
export function createPlugin(
  options: SeamlineOptions,
  folders?: BuildFolders,
  session?: SessionParts,
): { readonly plugins: Plugin[]; readonly build: Build } {
  const build = new Build(options, folders);
  const isOwn = folders !== undefined || session !== undefined;
  // Unit tests call their functions themselves.
  const isActive = !isVitest() || options.test === "split" || isOwn;
  const state = new PluginState(build, { isOwn, isActive });
  const guard = syntaxGuard(build.reader, build.findings, async (environment, id) =>
    state.isActive ? await state.applicationFor(environment, id) : undefined,
  );
  const plugin: Plugin = {
    name: "seamline",
    enforce: "pre",
    // With an instance each, the environments could disagree on what is split.
    sharedDuringBuild: true,
    api: { options, isOwn },
    applyToEnvironment: (environment) =>
      !state.isActive ||
      isSplitIn(environment) ||
      foreignEnvironment(build.reader, async (of) => await state.application(of)),
    ...configurationHooks(state, session, () => plugin),
    ...serverHooks(state, session),
    ...moduleHooks(state),
    ...buildHooks(state),
  };
  const plugins = [
    plugin,
    pageFiles(state),
    { ...guard, applyToEnvironment: isSplitIn },
    lowerSyntax(build.reader, ({ name }) => state.isActive && isOwnEnvironment(name)),
    pageStops(() => state.isActive),
  ];
  return { plugins, build };
}

function isVitest(): boolean {
  return process.env["VITEST"] !== undefined;
}

/** Whether modules are split in an environment. Under Vitest there is one that tests run in. */
function isSplitIn({ name, config }: Pick<Environment, "name" | "config">): boolean {
  return isOwnEnvironment(name) || (isVitest() && config.command === "serve");
}

function configurationHooks(
  state: PluginState,
  session: SessionParts | undefined,
  self: () => Plugin,
): Pick<Plugin, "config" | "configEnvironment" | "configResolved"> {
  return {
    async config(config, { command }) {
      return await configure(state, self(), config, { command, session });
    },
    configEnvironment(name, config, { command }) {
      if (state.isActive) configureEnvironment(state, name, config, command);
    },
    configResolved(config) {
      if (state.isActive) configureOutput(state, config);
    },
  };
}

function serverHooks(
  state: PluginState,
  session: SessionParts | undefined,
): Pick<
  Plugin,
  "configureServer" | "configurePreviewServer" | "hotUpdate" | "transformIndexHtml" | "watchChange"
> {
  const { build } = state;
  return {
    async configureServer(server) {
      if (state.isActive)
        (await import("../compile/plugin/closed-files.ts")).keepServiceFiles(server);
      // In middleware mode a tool only loads modules. Plain `vite` serves pages, which need a
      // runtime.
      if (!state.isActive || isVitest() || server.config.server.middlewareMode) return;
      // Loaded lazily: a build doesn't need the roles.
      const { Development } = await import("../dev/development.ts");
      const { reader } = build;
      const development = session?.open(server, reader) ?? new Development(server, reader);
      state.startDevelopment(development);
      const { answerDeepLinks } = await import("./deep-links.ts");
      return () =>
        answerDeepLinks(server, {
          fallback: async () => await development.fallback(),
          pageOf: (fallback) => pageBelow(server.config.root, fallback, reader),
          folder: server.config.root,
        });
    },
    async configurePreviewServer(server) {
      if (!state.isActive) return;
      const { openPreview } = await import("./preview.ts");
      const { root, source } = build.reader;
      const output = build.finalBrowserFolder ?? "";
      return await openPreview(server, { root, source, output });
    },
    async hotUpdate({ file, modules }) {
      return await state.development?.hotUpdate(this.environment.name, file, modules);
    },
    transformIndexHtml: {
      // Before Vite looks for scripts.
      order: "pre",
      async handler() {
        const { development } = state;
        const reading = development?.application() ?? build.latest;
        const application = await reading?.catch(() => undefined);
        return [
          ...((await development?.pageTags()) ?? []),
          ...(application?.startsByItself === true ? [startTag] : []),
        ];
      },
    },
    watchChange(id) {
      if (state.development === undefined) build.reader.changed(id);
    },
  };
}

/** URL path of a source page, if Vite's server can reach it. */
function pageBelow(
  viteRoot: string,
  fallback: true | string,
  { root, source, options }: ApplicationReader,
): string | undefined {
  const name = fallback === true ? (options.index ?? "index.html") : fallback;
  const file = findIndex(name.replace(/^\.?\/+/, ""), [source, root]);
  return file?.endsWith(".html") === true && isInside(viteRoot, file)
    ? `/${slashed(relative(viteRoot, file))}`
    : undefined;
}

function moduleHooks(state: PluginState): Pick<Plugin, "resolveId" | "load" | "transform"> {
  return {
    resolveId: {
      order: "pre",
      filter: { id: { exclude: wholeFiles } },
      async handler(source, importer, options) {
        if (!state.isActive) return undefined;
        return await resolveModule(state, this, source, importer, options);
      },
    },
    load: {
      order: "pre",
      async handler(id) {
        return state.isActive ? await loadModule(state, this, id) : undefined;
      },
    },
    transform: {
      // The bundler calls this for no other code, which saves a way out of it for each module.
      filter: { code: ownAddressHint },
      async handler(code, id) {
        return state.isActive ? await readAddresses(state, this, code, id) : undefined;
      },
    },
  };
}

function buildHooks(state: PluginState): Pick<Plugin, "buildApp" | "buildStart" | "buildEnd"> {
  const { build } = state;
  const { reader, findings } = build;
  return {
    buildApp: {
      async handler(builder) {
        if (state.isActive && builder.environments[environmentNames.server] !== undefined)
          await build.run(builder);
      },
    },
    async buildStart() {
      // In development everything is read on request, and mistakes don't end the session.
      if (!state.isActive || state.development !== undefined) return;
      const isBuild = this.environment.mode === "build";
      if (isBuild && !build.isRunning && !isVitest())
        throw foreignBuild(this.environment.getTopLevelConfig(), reader.root);
      if (isBuild) build.startOutput(this.environment);
      const application = await state.application(this.environment);
      if (isBuild) emitEntries(state, this, application);
    },
    buildEnd(error) {
      if (!state.isActive || error !== undefined) return;
      const importersOf = (id: string): readonly string[] => {
        const info = this.getModuleInfo(id);
        return [...(info?.importers ?? []), ...(info?.dynamicImporters ?? [])];
      };
      const problems = [
        ...findings.mistakes,
        ...nodeImportProblems(findings.nodeImports, reader.root, importersOf),
      ];
      if (problems.length > 0) throw findings.fail(problems);
      build.noteModules(this);
    },
  };
}

/**
 * Orders and records the files of pages. A plugin by itself, because the bundler copies a
 * description of every file for each plugin with such a hook, and the server's build has many
 * files: {@link Build} reads its result.
 */
function pageFiles(state: PluginState): Plugin {
  const { build } = state;
  return {
    name: "seamline:pages",
    enforce: "pre",
    sharedDuringBuild: true,
    applyToEnvironment: ({ name }) => state.isActive && name === environmentNames.browser,
    generateBundle(_, bundle) {
      build.entries.tidy(this, bundle);
    },
    writeBundle: {
      order: "post",
      handler({ dir }, bundle) {
        build.note(this.environment, dir ?? "", bundle);
      },
    },
  };
}
