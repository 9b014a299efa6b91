// The two environments in a Vite configuration: `client`, Vite's name for the browser's, and
// `server`.

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { basename, extname, isAbsolute, join, relative, resolve } from "node:path";

import type { EnvironmentOptions, UserConfig } from "vite";

import { isInside, realPath, slashed } from "../../files/sources.ts";
import { emptyId, graphId, graphModuleId, parsePartId } from "../read/module-ids.ts";

/** Name of the graph's module in the server's output. */
const graphFile = "_seam.js";

/** The index page: looked up in these folders, in order. */
export function findIndex(index: string, folders: readonly string[]): string | undefined {
  return folders.map((folder) => resolve(folder, index)).find((file) => existsSync(file));
}

/** Entries in a Vite configuration: one, a list, or a record of named ones. */
type Input = string | readonly string[] | Readonly<Record<string, string>>;

/** The entries as the Vite configuration names them. */
export function inputOf({
  build,
  input,
}: Pick<EnvironmentOptions, "build" | "input">): Input | undefined {
  return build?.rolldownOptions?.input ?? build?.rollupOptions?.input ?? input;
}

/** The entries that are files, absolute. Relative paths may start in any of `bases`. */
export function inputFiles(input: Input | undefined, bases: readonly string[]): readonly string[] {
  return [...new Set(entriesOf(input).map((entry) => fileOf(entry, bases)))].filter(
    (entry) => isAbsolute(entry) && existsSync(entry),
  );
}

function entriesOf(input: Input = []): readonly string[] {
  return typeof input === "string" ? [input] : Array.isArray(input) ? input : Object.values(input);
}

/** Leaves an entry that isn't a file as it is: a plugin may know it. */
function fileOf(entry: string, bases: readonly string[]): string {
  // For Vite, "/admin.html" is below its root as well.
  const file = [
    ...(isAbsolute(entry) ? [entry] : []),
    ...bases.map((base) => join(base, entry)),
  ].find((path) => existsSync(path));
  return file === undefined ? entry : realPath(file);
}

/**
 * Adds the index to the entries. If the entries have names, the bundler uses them, otherwise it
 * makes some up; two entries with one name would be one.
 */
function withIndex(
  input: Input | undefined,
  index: string | undefined,
  bases: readonly string[],
): string[] | Record<string, string> {
  const isNamed = index === undefined || inputFiles(input, bases).includes(index);
  if (input === undefined || typeof input === "string" || Array.isArray(input))
    return [
      ...(isNamed ? [] : [index]),
      ...new Set(entriesOf(input).map((entry) => fileOf(entry, bases))),
    ];
  const named = Object.fromEntries(
    Object.entries(input).map(([name, entry]) => [name, fileOf(entry, bases)]),
  );
  let name = "index";
  while (Object.hasOwn(named, name)) name = `_${name}`;
  return isNamed ? named : { [name]: index, ...named };
}

/**
 * Configures the browser's environment: its entries are the index and those of the configuration.
 * `bases` as in {@link inputFiles}.
 */
export function setBrowser(
  config: EnvironmentOptions,
  options: { index: string | undefined; bases: readonly string[]; outDir: string | undefined },
): void {
  const input = withIndex(inputOf(config), options.index, options.bases);
  const output = config.build?.rolldownOptions?.output ?? {};
  // With unminified export names, one file can be part of a page and a module of the manifest.
  const named = <Output extends object>(of: Output): Output => ({
    minifyInternalExports: false,
    ...of,
  });
  // A new object, because Vite resolves a configuration several times and shares its objects.
  config.build = {
    ...config.build,
    rolldownOptions: {
      ...config.build?.rolldownOptions,
      // These comments contain paths relative to the working directory, but the same sources must
      // give the same files.
      experimental: { ...config.build?.rolldownOptions?.experimental, attachDebugInfo: "none" },
      output: Array.isArray(output) ? output.map(named) : named(output),
      input: Object.keys(input).length > 0 ? input : { empty: emptyId },
    },
    ...(options.outDir !== undefined && { outDir: options.outDir, emptyOutDir: true }),
  };
}

/** The options for packages in SSR. */
export function packagesOf({ ssr }: UserConfig): NonNullable<UserConfig["resolve"]> {
  const { noExternal, external } = ssr ?? {};
  return {
    ...(noExternal !== undefined && { noExternal }),
    ...(external !== undefined && { external }),
  };
}

/**
 * Configures the server's environment: one output module per source module, unminified and under
 * its own name.
 */
export function setServer(
  config: EnvironmentOptions,
  options: { root: string; source: string; outDir: string },
): void {
  config.consumer = "server";
  config.build = {
    ...config.build,
    outDir: options.outDir,
    emptyOutDir: true,
    copyPublicDir: false,
    emitAssets: false,
    manifest: false,
    reportCompressedSize: false,
    minify: false,
    // A file of its own would be as much work as a module: see separate-map.ts.
    sourcemap: "inline",
    target: "node20.19",
    lib: false,
    // Ignores the configuration's own options, which were written for pages.
    rolldownOptions: {
      input: { graph: graphId },
      experimental: { attachDebugInfo: "none" },
      // The bundler would take the time of each hook's call, and there are many for each module.
      checks: { bundlerTimings: false },
      preserveEntrySignatures: "strict",
      // A node imports modules one by one, by any of their exports.
      treeshake: false,
      // CommonJS code in bundled packages uses these.
      transform: {
        define: { __dirname: "import.meta.dirname", __filename: "import.meta.filename" },
      },
      output: {
        format: "es",
        preserveModules: true,
        preserveModulesRoot: options.source,
        minify: false,
        entryFileNames: (chunk) => fileNameOf(chunk.facadeModuleId ?? null, chunk.name, options),
        chunkFileNames: (chunk) => fileNameOf(chunk.facadeModuleId ?? null, chunk.name, options),
      },
    },
  };
}

/**
 * `shop/quote.js`, `shop/quote~shared.js`, `shop/quote~body.js`. Files that aren't source modules
 * go to folders whose names no module can have.
 */
function fileNameOf(
  id: string | null,
  name: string,
  { root, source }: { root: string; source: string },
): string {
  if (id === graphModuleId) return graphFile;
  if (id === null || !isAbsolute(id))
    return `_virtual/${clean(basename(name))}-${short(id ?? name)}.js`;
  return builtFileOf(id, { root, source });
}

/** The output file of a module of a file, by its id. */
export function builtFileOf(id: string, folders: { root: string; source: string }): string {
  const { file, part } = parsePartId(id);
  const query = id.slice(file.length + 1);
  const suffix = part ?? (query === "" ? "" : short(query));
  const path = pathOf(file, folders);
  const plain = /^\.[cm]?[jt]sx?$/.test(extname(path))
    ? path.slice(0, -extname(path).length)
    : path;
  return `${plain}${suffix === "" ? "" : `~${suffix}`}.js`;
}

/** The output file of a file that is copied. */
export function placeOf(file: string, folders: { root: string; source: string }): string {
  // Node would take the settings of a package.json for those of the modules below it.
  return pathOf(file, folders).replace(/(^|\/)package\.json$/, "$1_package.json");
}

function pathOf(file: string, { root, source }: { root: string; source: string }): string {
  return isInside(source, file)
    ? slashed(relative(source, file))
    : `_app/${packagesAside(clean(slashed(relative(root, file))))}`;
}

/**
 * The path of a file outside the source folder, without segments that would leave the output or
 * that Node searches for packages.
 */
function packagesAside(path: string): string {
  return path
    .split("/")
    .map((name) =>
      name === ".." ? "_up" : name === "node_modules" ? "_packages" : name.replace(/^\./, "_"),
    )
    .join("/");
}

function clean(text: string): string {
  return text.replace(/[^\w./-]/g, "_");
}

function short(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}

/** The browser's output folder, absolute. */
export function outDirOf(config: {
  readonly root: string;
  readonly build: { readonly outDir: string };
}): string {
  return isAbsolute(config.build.outDir)
    ? config.build.outDir
    : join(config.root, config.build.outDir);
}
