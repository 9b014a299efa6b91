// The two environments of one Vite configuration (architecture §1): `client`, as Vite names the browser's, and `server`.

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { basename, extname, isAbsolute, join, relative, resolve } from "node:path";

import type { EnvironmentOptions, UserConfig } from "vite";

import { isInside, realPath, slashed } from "../sources.ts";
import { graphId } from "./cut.ts";

/** Names of the environments. */
export const environmentNames = { browser: "client", server: "server" } as const;

/** Id of the graph's module in the server's build. */
export const graphModule = "\0seamline:graph";

/** Name of the graph's module in the server's output. */
const graphFile = "_seam.js";

/** Stands in where a build has no page, as a bundler wants an entry. */
export const emptyId = "seamline:empty";

/** The index page (decisions §6, folders): the first of these folders that has it, the source folder before the application folder. */
export function findIndex(index: string, folders: readonly string[]): string | undefined {
  return folders.map((folder) => resolve(folder, index)).find((file) => existsSync(file));
}

/** What a Vite configuration names as entries: one, a list, or some by names of their own. */
type Input = string | readonly string[] | Readonly<Record<string, string>>;

/** The entries that a configuration of Vite's names, as it names them. */
export function inputOf({
  build,
  input,
}: Pick<EnvironmentOptions, "build" | "input">): Input | undefined {
  return build?.rolldownOptions?.input ?? build?.rollupOptions?.input ?? input;
}

/** The files among the entries, absolute. `bases` are the folders in which a relative path may start. */
export function inputFiles(input: Input | undefined, bases: readonly string[]): readonly string[] {
  return [...new Set(entriesOf(input).map((entry) => fileOf(entry, bases)))].filter(
    (entry) => isAbsolute(entry) && existsSync(entry),
  );
}

function entriesOf(input: Input = []): readonly string[] {
  return typeof input === "string" ? [input] : Array.isArray(input) ? input : Object.values(input);
}

/** What is no file stays as it is: a plugin may know it. */
function fileOf(entry: string, bases: readonly string[]): string {
  // For Vite, "/admin.html" is below its root as well.
  const file = [
    ...(isAbsolute(entry) ? [entry] : []),
    ...bases.map((base) => join(base, entry)),
  ].find((path) => existsSync(path));
  return file === undefined ? entry : realPath(file);
}

/**
 * The entries with the index among them, in the form in which they were named: where they have names of their own the bundler goes by these, and
 * where they don't it finds some. Two entries of one name would be one.
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

/** Sets the browser's environment up: its entries are the index, and what the configuration names. `bases` as for {@link inputFiles}. */
export function setBrowser(
  config: EnvironmentOptions,
  options: { index: string | undefined; bases: readonly string[]; outDir: string | undefined },
): void {
  const input = withIndex(inputOf(config), options.index, options.bases);
  const output = config.build?.rolldownOptions?.output;
  // A new object: Vite resolves a configuration several times, and shares what it holds.
  config.build = {
    ...config.build,
    rolldownOptions: {
      ...config.build?.rolldownOptions,
      // Comments with paths, relative to wherever the build was started: the same sources have to give the same files.
      experimental: { ...config.build?.rolldownOptions?.experimental, attachDebugInfo: "none" },
      // Names of exports as they are let one file be a part of a page and a module of the manifest.
      ...(!Array.isArray(output) && { output: { minifyInternalExports: false, ...output } }),
      input: Object.keys(input).length > 0 ? input : { empty: emptyId },
    },
    ...(options.outDir !== undefined && { outDir: options.outDir, emptyOutDir: true }),
  };
}

/** What a configuration says of packages for SSR. */
export function packagesOf({ ssr }: UserConfig): NonNullable<UserConfig["resolve"]> {
  const { noExternal, external } = ssr ?? {};
  return {
    ...(noExternal !== undefined && { noExternal }),
    ...(external !== undefined && { external }),
  };
}

/** Sets the server's environment up: a module for each source module under its plain name, as it was written. */
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
    sourcemap: true,
    target: "node20.19",
    lib: false,
    // Nothing of the configuration's is taken over: it was written for pages.
    rolldownOptions: {
      input: { graph: graphId },
      experimental: { attachDebugInfo: "none" },
      preserveEntrySignatures: "strict",
      // A node imports modules one by one, by any of their exports.
      treeshake: false,
      // What CommonJS has of Node, where it comes along with a package.
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

/** `shop/quote.js`, `shop/quote~shared.js`, `shop/quote~body.js`; what is no source module lies in folders that no module can be named after. */
function fileNameOf(
  id: string | null,
  name: string,
  { root, source }: { root: string; source: string },
): string {
  if (id === graphModule) return graphFile;
  if (id === null || !isAbsolute(id))
    return `_virtual/${clean(basename(name))}-${short(id ?? name)}.js`;
  const [file = id, query] = id.split("?");
  const part = query === undefined ? "" : (/^seamline=(\w+)$/.exec(query)?.[1] ?? short(query));
  const inside = isInside(source, file);
  const path = inside
    ? slashed(relative(source, file))
    : `_app/${packagesAside(clean(slashed(relative(root, file))))}`;
  const plain = /^\.[cm]?[jt]sx?$/.test(extname(path))
    ? path.slice(0, -extname(path).length)
    : path;
  return `${plain}${part === "" ? "" : `~${part}`}.js`;
}

/** The path of a file outside of the source folder, without what would lead out of the output, and what Node looks for packages in. */
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

/** The folder in which the browser's files are written by a configuration, absolute. */
export function outDirOf(config: {
  readonly root: string;
  readonly build: { readonly outDir: string };
}): string {
  return isAbsolute(config.build.outDir)
    ? config.build.outDir
    : join(config.root, config.build.outDir);
}
