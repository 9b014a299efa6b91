// The public files: a map from URL path to real path, built before the first request.
// A request's path is only looked up in the map. It is never joined to a folder or resolved.

import { lstat, readdir, realpath } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import picomatch from "picomatch";
import type { HttpRequest, HttpResponse } from "../../src/base/ports.ts";
import { segmentFileEnding } from "../../src/runtime/segment.ts";
import { createFileAnswers, type PublicFile } from "./file-answer.ts";
import { serviceFile } from "./service-files.ts";
import { isInside, slashed } from "./sources.ts";

export interface PublicFilesOptions {
  /** The application folder: nothing outside is ever public. */
  readonly rootFolder: string;
  readonly sourceFolder: string;
  /** The browser's build, all of which is public. `undefined` if there is none. */
  readonly browserFolder: string | undefined;
  /** Globs relative to the source folder. A leading `!` excludes files. */
  readonly assets: readonly string[];
  /** Modules of the build (`shop/quote`). They are sources, so no glob makes them public. */
  readonly modules?: Iterable<string>;
  /** The page at `/`, as the configuration names it. */
  readonly index: string;
  /**
   * Pages of the build: path from the application folder → path of the built page. No glob makes
   * their sources public.
   */
  readonly pages?: Readonly<Record<string, string>>;
  /** Absolute paths that no glob makes public: the build's output, the configuration. */
  readonly except?: readonly string[];
}

export interface PublicFiles {
  /**
   * Answers for a URL path as it was sent, without its query. `undefined` if the path isn't public,
   * whether or not the file exists.
   */
  get(path: string, request: HttpRequest): Promise<HttpResponse | undefined>;
  /** Whether a path as it was sent is public by a glob: not a file of the build, nor the index. */
  isAsset(path: string): boolean;
  /** Reads the folders again after a build. */
  refresh(): Promise<void>;
  /** URL paths, decoded. */
  paths(): Iterable<string>;
  /** Globs of `assets` that make no file public. */
  readonly idle: readonly string[];
}

interface FoundFile extends PublicFile {
  readonly byGlob?: true;
}

/** Finds the public files and returns their answers. */
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
  // An encoded slash could bypass a proxy that guards a folder, since it takes it for part of a
  // name.
  if (/%(?:2f|5c)/i.test(path)) return undefined;
  try {
    return decodeURIComponent(path);
  } catch {
    // Not valid UTF-8, such as `/%E0%A4%A`.
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
  // Added after the assets, so that a built file wins over an asset with the same path.
  if (browser !== undefined)
    for await (const path of walk(browser, { dots: false, except: new Set() })) {
      const name = slashed(relative(browser, path));
      // A file that Vite copied from `public` keeps its name when its content changes, even if
      // that name looks as if it had a hash.
      const immutable =
        isHashed(name) &&
        (await lstat(join(root, "public", name)).catch(() => undefined)) === undefined;
      files.set(`/${name}`, { path, immutable });
    }
  addIndexes(files, builtIndex(files, options));
  return files;
}

// `a/b-4fKx_92Q.js`, as Rolldown names its files. A word after the dash has one case and no digits.
function isHashed(name: string): boolean {
  const hash = /-([\w-]{8})\.\w+(?:\.map)?$/.exec(name)?.[1];
  return hash !== undefined && (/\d/.test(hash) || (/[a-z]/.test(hash) && /[A-Z]/.test(hash)));
}

/**
 * The file at `/`: the built page of the index in the source folder, else in the application
 * folder. It needs no glob. An unbuilt page is never served, as it would request source files.
 */
function builtIndex(
  files: ReadonlyMap<string, FoundFile>,
  { index, pages = {}, sourceFolder, rootFolder }: PublicFilesOptions,
): FoundFile | undefined {
  const name = index.replace(/^\.?\/+/, "");
  const built = [sourceFolder, rootFolder].map(
    (folder) => pages[slashed(relative(rootFolder, join(folder, name)))],
  );
  // The last candidate is a page that another tool wrote to the output.
  const candidates = [...built, name].map((path) =>
    path === undefined ? undefined : files.get(`/${path}`),
  );
  return candidates.find((file) => file !== undefined && file.byGlob !== true);
}

// A path that ends with a slash answers with the `index.html` of that folder.
function addIndexes(files: Map<string, FoundFile>, index: FoundFile | undefined): void {
  for (const [name, file] of files)
    if (name.endsWith("/index.html")) files.set(name.slice(0, -"index.html".length), file);
  if (index === undefined) files.delete("/");
  else files.set("/", index);
}

/** Returns the files that `globs` make public: path relative to `source` → real path. */
async function readAssets(
  source: string,
  globs: readonly string[],
  except: ReadonlySet<string>,
  modules: Iterable<string>,
  idle: Set<string>,
): Promise<Map<string, string>> {
  const normalized = globs.map((glob) => glob.replace(/^(!?)\.\//, "$1"));
  const isNegated = (glob: string): boolean => /^!(?!\()/.test(glob);
  const included = normalized.filter((glob) => !isNegated(glob));
  // A leading dot matches only if the glob has one; `*` doesn't match it.
  const isIncluded = picomatch([...included], { dot: false });
  const isExcluded = picomatch(
    normalized.filter(isNegated).map((glob) => glob.slice(1)),
    { dot: true },
  );
  const isSource = sourceTest(modules, new Set(included));
  const found = new Map<string, string>();
  for await (const path of walk(source, {
    dots: included.some((glob) => /(?:^|[/{,(|])\./.test(glob)),
    except,
  })) {
    const name = slashed(relative(source, path));
    if (isIncluded(name) && !isExcluded(name) && !isSource(name) && !isSecret(path))
      found.set(name, path);
  }
  const names = [...found.keys()];
  for (const glob of included) {
    const matches = picomatch(glob, { dot: false });
    if (!names.some((name) => matches(name))) idle.add(glob);
  }
  return found;
}

/**
 * Sources are never assets. A script that browsers run unbuilt (`assets/player.js`, `sw.js`) is an
 * asset unless it is a module of the build. In a folder with modules it must be named in full,
 * since a glob could match a helper by accident.
 */
function sourceTest(
  modules: Iterable<string>,
  named: ReadonlySet<string>,
): (name: string) => boolean {
  const moduleNames = new Set(modules);
  const folders = new Set([...moduleNames].map((name) => dirname(name)));
  return (name) => {
    if (name.endsWith(segmentFileEnding) || /\.(?:[cm]?ts|tsx|jsx|vue|svelte|astro)$/i.test(name))
      return true;
    if (!/\.[cm]?js$/i.test(name)) return false;
    return (
      moduleNames.has(name.replace(/\.[cm]?js$/i, "")) ||
      (folders.has(dirname(name)) && !named.has(name))
    );
  };
}

// Files that can't be a configuration or a key. Applications have many of them, so skip reading
// them.
const isMedia =
  /\.(?:png|jpe?g|gif|webp|avif|svg|ico|css|[cm]?js|html?|woff2?|ttf|otf|mp[34]|webm|pdf|wasm|map)$/i;

/** A service's configuration or private key, which a glob could match by accident. */
function isSecret(path: string): boolean {
  const kind = isMedia.test(path) ? undefined : serviceFile(path);
  return kind !== undefined && kind !== "certificate";
}

/** Yields the real paths of the files below `folder`. Skips links and `node_modules`. */
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
