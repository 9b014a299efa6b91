// What anyone may fetch (§4.3): a map from URL path to real path, made before any request comes.
// A path from outside is only ever looked up in it; nothing is joined, resolved or read because a request names it.

import { lstat, readdir, realpath } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import picomatch from "picomatch";
import type { HttpRequest, HttpResponse } from "../src/ports.ts";
import { segmentFileEnding } from "../src/segment.ts";
import { createFileAnswers, type PublicFile } from "./file-answer.ts";
import { serviceFile } from "./service-files.ts";
import { isInside, slashed } from "./sources.ts";

export interface PublicFilesOptions {
  /** The application folder: nothing outside is ever public. */
  readonly rootFolder: string;
  readonly sourceFolder: string;
  /** What the browser's build wrote; all of it is public. `undefined`: there is none. */
  readonly browserFolder: string | undefined;
  /** Globs relative to the source folder; `!` in front takes away. */
  readonly assets: readonly string[];
  /** Modules of the build (`shop/quote`): sources, which no glob makes public. */
  readonly modules?: Iterable<string>;
  /** The page at `/`, as the configuration names it. */
  readonly index: string;
  /** Pages of the build: path from the application folder → what was built of it. No glob makes their sources public. */
  readonly pages?: Readonly<Record<string, string>>;
  /** Absolute paths that no glob makes public: the build's output, the configuration. */
  readonly except?: readonly string[];
}

export interface PublicFiles {
  /** The answer for a URL path as it came, without query; `undefined` for all that isn't public, whether it is there or not. */
  get(path: string, request: HttpRequest): Promise<HttpResponse | undefined>;
  /** Whether a path as it came is public by a glob: neither a file of the build nor the index. */
  isAsset(path: string): boolean;
  /** Reads the folders again, after a build. */
  refresh(): Promise<void>;
  /** URL paths, decoded. */
  paths(): Iterable<string>;
  /** Globs of `assets` that make no file public. */
  readonly idle: readonly string[];
}

interface FoundFile extends PublicFile {
  readonly byGlob?: true;
}

/** Reads the folders, and answers from what it found. */
export async function createPublicFiles(options: PublicFilesOptions): Promise<PublicFiles> {
  const answers = createFileAnswers();
  const idle = new Set<string>();
  let files = await readPublic(options, idle);
  return {
    idle: [...idle],
    async get(path, request) {
      const name = decoded(path);
      const file = name === undefined ? undefined : files.get(name);
      return file === undefined ? undefined : await answers.answer(file, request);
    },
    isAsset: (path) => path !== "/" && files.get(decoded(path) ?? "")?.byGlob === true,
    async refresh() {
      files = await readPublic(options);
    },
    paths: () => files.keys(),
  };
}

function decoded(path: string): string | undefined {
  // Nothing needs these, and what stands in front of this service and guards a folder reads them as parts of a name.
  if (/%(?:2f|5c)/i.test(path)) return undefined;
  try {
    return decodeURIComponent(path);
  } catch {
    // `/%E0%A4%A` is no path of anything.
    return undefined;
  }
}

async function readPublic(
  options: PublicFilesOptions,
  idle = new Set<string>(),
): Promise<Map<string, FoundFile>> {
  const files = new Map<string, FoundFile>();
  const root = await realpath(options.rootFolder);
  const source = await realFolder(options.sourceFolder);
  const browser =
    options.browserFolder === undefined ? undefined : await realFolder(options.browserFolder);

  if (source !== undefined && options.assets.length > 0) {
    if (source !== root && !isInside(root, source))
      throw new Error(
        `'assets' can't be served: ${options.sourceFolder} is outside of the application folder ${options.rootFolder}`,
      );
    const except = new Set<string>();
    const pages = Object.keys(options.pages ?? {}).map((page) => join(root, page));
    for (const path of [...(options.except ?? []), ...pages])
      except.add((await realpath(path).catch(() => undefined)) ?? path);
    for (const [name, path] of await readAssets(
      source,
      options.assets,
      except,
      options.modules ?? [],
      idle,
    ))
      files.set(`/${name}`, { path, immutable: false, byGlob: true });
  }
  // Added after the assets: where both have a path, the built file is meant.
  if (browser !== undefined)
    for await (const path of walk(browser, { dots: false, except: new Set() })) {
      const name = slashed(relative(browser, path));
      // What Vite only copied from `public` keeps its name when its content changes, whatever the name looks like.
      const immutable =
        isHashed(name) &&
        (await lstat(join(root, "public", name)).catch(() => undefined)) === undefined;
      files.set(`/${name}`, { path, immutable });
    }
  addIndexes(files, builtIndex(files, options));
  return files;
}

// `a/b-4fKx_92Q.js`, as Rolldown names what it makes. Words that a person chose are of one case and without digits.
function isHashed(name: string): boolean {
  const hash = /-([\w-]{8})\.\w+(?:\.map)?$/.exec(name)?.[1];
  return hash !== undefined && (/\d/.test(hash) || (/[a-z]/.test(hash) && /[A-Z]/.test(hash)));
}

/**
 * §4.3: `/` is the index, without any glob, looked up in the source folder and then in the application folder. Never as it was written: a page's
 * source would ask for sources.
 */
function builtIndex(
  files: ReadonlyMap<string, FoundFile>,
  { index, pages = {}, sourceFolder, rootFolder }: PublicFilesOptions,
): FoundFile | undefined {
  const name = index.replace(/^\.?\/+/, "");
  const built = [sourceFolder, rootFolder].map(
    (folder) => pages[slashed(relative(rootFolder, join(folder, name)))],
  );
  // A page that another tool has put into the output has no source that would be known.
  const found = [...built, name].map((path) =>
    path === undefined ? undefined : files.get(`/${path}`),
  );
  return found.find((file) => file !== undefined && file.byGlob !== true);
}

// Chosen: a folder's address, with the slash at its end, is the `index.html` in it.
function addIndexes(files: Map<string, FoundFile>, index: FoundFile | undefined): void {
  for (const [name, file] of files)
    if (name.endsWith("/index.html")) files.set(name.slice(0, -"index.html".length), file);
  if (index === undefined) files.delete("/");
  else files.set("/", index);
}

/** Files that `globs` make public: path relative to `source` → real path. */
async function readAssets(
  source: string,
  globs: readonly string[],
  except: ReadonlySet<string>,
  modules: Iterable<string>,
  idle: Set<string>,
): Promise<Map<string, string>> {
  const written = globs.map((glob) => glob.replace(/^(!?)\.\//, "$1"));
  const isTaken = (glob: string): boolean => /^!(?!\()/.test(glob);
  const given = written.filter((glob) => !isTaken(glob));
  // A dot in the glob itself matches; `*` never stands for one.
  const matches = picomatch([...given], { dot: false });
  const taken = picomatch(
    written.filter(isTaken).map((glob) => glob.slice(1)),
    { dot: true },
  );
  const isSource = sourceTest(modules, new Set(given));
  const found = new Map<string, string>();
  for await (const path of walk(source, {
    dots: given.some((glob) => /(?:^|[/{,(|])\./.test(glob)),
    except,
  })) {
    const name = slashed(relative(source, path));
    if (matches(name) && !taken(name) && !isSource(name) && !isSecret(path)) found.set(name, path);
  }
  const names = [...found.keys()];
  for (const glob of given) {
    const one = picomatch(glob, { dot: false });
    if (!names.some((name) => one(name))) idle.add(glob);
  }
  return found;
}

/**
 * Sources are never assets (decisions §5). Chosen: a script that browsers run as it is (`assets/player.js`, `sw.js`) is an
 * asset, unless the build knows it as a module; beside modules, where a glob can catch a helper that nobody meant, it has to be named in full.
 */
function sourceTest(
  modules: Iterable<string>,
  named: ReadonlySet<string>,
): (name: string) => boolean {
  const known = new Set(modules);
  const folders = new Set([...known].map((module) => dirname(module)));
  return (name) => {
    if (name.endsWith(segmentFileEnding) || /\.(?:[cm]?ts|tsx|jsx|vue|svelte|astro)$/i.test(name))
      return true;
    if (!/\.[cm]?js$/i.test(name)) return false;
    return (
      known.has(name.replace(/\.[cm]?js$/i, "")) || (folders.has(dirname(name)) && !named.has(name))
    );
  };
}

// Nothing that services take for a configuration or a key; an application may have very many of these.
const isMedia =
  /\.(?:png|jpe?g|gif|webp|avif|svg|ico|css|[cm]?js|html?|woff2?|ttf|otf|mp[34]|webm|pdf|wasm|map)$/i;

/** Configurations of services and private keys, which somebody may have put beside what a glob means. A certificate is for all. */
function isSecret(path: string): boolean {
  const found = isMedia.test(path) ? undefined : serviceFile(path);
  return found !== undefined && found !== "certificate";
}

/** Real paths of the files below `folder`; links are passed over, and so are `node_modules`. */
async function* walk(
  folder: string,
  options: { dots: boolean; except: ReadonlySet<string> },
): AsyncGenerator<string> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (
      entry.name === "node_modules" ||
      options.except.has(path) ||
      (!options.dots && entry.name.startsWith("."))
    )
      continue;
    if (entry.isDirectory()) yield* walk(path, options);
    else if (entry.isFile()) yield path;
  }
}

async function realFolder(path: string): Promise<string | undefined> {
  const real = await realpath(path).catch(() => undefined);
  return real !== undefined && (await lstat(real)).isDirectory() ? real : undefined;
}
