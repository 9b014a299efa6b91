// The plugin's additions to Vite's configuration.

import { join, resolve } from "node:path";

import type { EnvironmentOptions, Plugin, ResolvedConfig, UserConfig } from "vite";

import { definedOf } from "../../base/defined.ts";
import { developmentConfig } from "./dev-config.ts";
import {
  findIndex,
  inputFiles,
  inputOf,
  outDirOf,
  packagesOf,
  setBrowser,
  setServer,
} from "../write/environments.ts";
import { environmentNames } from "../read/module-ids.ts";
import { workerGuard } from "./worker-guard.ts";
import type { SeamlineOptions } from "../read/plugin-options.ts";
import type { SessionParts } from "./plugin-session.ts";
import { refuseBase } from "../write/page-base.ts";
import type { PluginState } from "./plugin-state.ts";

type Command = "build" | "serve";

/** Reads the options of all instances of the plugin, and sets up both environments. */
export async function configure(
  state: PluginState,
  plugin: Plugin,
  config: UserConfig,
  { command, session }: { command: Command; session: SessionParts | undefined },
): Promise<UserConfig | undefined> {
  const { reader, findings } = state.build;
  const others = (config.plugins ?? [])
    .flat(8)
    .filter((other): other is Plugin => isSeamline(other) && other !== plugin);
  // `seamline build` has its own plugin. The one in the application's configuration then only
  // contributes its options.
  if (!state.isOwn && others.some((other) => other.api?.isOwn === true)) state.deactivate();
  if (!state.isActive) return undefined;
  const options = Object.assign(
    {},
    ...others.map((other) => other.api?.options as SeamlineOptions),
    definedOf(reader.options),
  ) as SeamlineOptions;
  // Loaded lazily: unit tests don't need it.
  const { refuseWrongOptions } = await import("../read/plugin-options.ts");
  refuseWrongOptions(options);
  reader.configure(options, resolve(config.root ?? "."));
  if (process.env["VITEST"] !== undefined && !state.isOwn) reader.setForTests();
  // `vite build --ssr` builds one environment, and nothing for us.
  if (command === "build" && Boolean(config.build?.ssr)) return undefined;
  return {
    root: reader.viteRoot,
    builder: {},
    worker: { plugins: () => [workerGuard(reader, findings)] },
    // The configuration's SSR options for packages apply to nodes.
    environments: {
      [environmentNames.browser]: {},
      [environmentNames.server]: { resolve: packagesOf(config) },
    },
    ...(command === "serve" && developmentConfig(config, () => state.development, session?.config)),
  };
}

/** Sets up one environment: its output folder, and for the browser its pages and entries. */
export function configureEnvironment(
  { build }: PluginState,
  name: string,
  config: EnvironmentOptions,
  command: Command,
): void {
  const { options, root, source, viteRoot } = build.reader;
  if (name === environmentNames.server && command === "build")
    setServer(config, { root, source, outDir: join(build.serverFolder, "modules") });
  if (name !== environmentNames.browser) return;
  const index = findIndex(options.index ?? "index.html", [source, root, viteRoot]);
  const bases = [viteRoot, root];
  const inputs = inputFiles(inputOf(config), bases);
  if (command === "build") setBrowser(config, { index, bases, outDir: build.browserFolder });
  const pages = [...new Set([...(index === undefined ? [] : [index]), ...inputs])].filter((file) =>
    file.endsWith(".html"),
  );
  build.reader.setEntries({ inputs, pages });
}

/** Checks the resolved configuration, and takes the browser's output folder from it. */
export function configureOutput({ build }: PluginState, config: ResolvedConfig): void {
  refuseBase(config);
  keepGlobals(config);
  build.configureBrowserFolder(
    outDirOf({
      root: config.root,
      build: config.environments[environmentNames.browser]?.build ?? config.build,
    }),
  );
}

/**
 * In development, this plugin replaces `process`, `Buffer` and `global` in every environment, and a
 * server would have an empty `process.env`. In builds it does so in pages only.
 */
function keepGlobals({ plugins }: ResolvedConfig): void {
  for (const plugin of plugins)
    if (plugin.name === "vite-plugin-node-polyfills:inject")
      plugin.applyToEnvironment = ({ name }) => name !== environmentNames.server;
}

function isSeamline(plugin: unknown): plugin is Plugin {
  return (
    typeof plugin === "object" &&
    plugin !== null &&
    (plugin as { name?: unknown }).name === "seamline"
  );
}
