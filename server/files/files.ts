// The public files: a map from URL path to real path, built before the first request.
// A request's path is only looked up in the map. It is never joined to a folder or resolved.

import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { HttpRequest, HttpResponse } from "../../src/base/ports.ts";
import { segmentFileEnding } from "../../src/base/manifest.ts";
import type { ApplicationConfig } from "../config/config-types.ts";
import type { HeaderRules } from "../config/config-headers.ts";
import { createFileHeaders } from "./file-headers.ts";
import { holdFile, replacedAnswer, wholeness } from "./held-file.ts";
import { lazyFileAnswers } from "./lazy-file-answers.ts";
import {
  addPages,
  asksForPage,
  builtPage,
  decodedPath,
  fallbackPage,
  type FoundFile,
  isPagePath,
} from "./pages.ts";
import { serviceFile } from "./service-files.ts";
import { isInside, slashed } from "./sources.ts";

export interface PublicFilesOptions {
  /** The application folder: nothing outside is ever public. */
  readonly rootFolder: string;
  readonly sourceFolder: string;
  /** The browser's build, which is all public. `undefined` if there isn't one. */
  readonly browserFolder: string | undefined;
  /** Its files that aren't public: those of builds that aren't served any more. */
  readonly hidden?: ReadonlySet<string>;
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
  /**
   * Which page answers requests for a page at an address that no file has: `true` is the index.
   */
  readonly fallback?: ApplicationConfig["fallback"];
  /** Headers by globs of URL paths. */
  readonly headers?: HeaderRules | undefined;
  /** Vite's `build.assetsDir`: missing files below it are never answered with a page. */
  readonly assetsFolder?: string | undefined;
  /** Absolute paths that no glob makes public: the build's output, the configuration. */
  readonly except?: readonly string[];
  /** Files that the pages may load, as paths below the browser's folder. */
  readonly loaded?: readonly string[];
  /** Called when a requested page was replaced: whether the files that it may load are there. */
  readonly onReplaced?: ((isWhole: boolean) => void) | undefined;
}

export interface PublicFiles {
  /**
   * Answers for a URL path as it was sent, without its query. `undefined` if the path isn't public,
   * whether or not the file exists.
   */
  get(path: string, request: HttpRequest): Promise<HttpResponse | undefined>;
  /** Whether a path as it was sent is public by a glob: not a file of the build, nor the index. */
  isAsset(path: string): boolean;
  /** URL path of the page that `fallback` names, if there is one. */
  readonly fallback: string | undefined;
  /** Reads the folders again after a build. */
  refresh(): Promise<void>;
  /** URL paths, decoded. */
  paths(): Iterable<string>;
  /** Globs of `assets` that make no file public. */
  readonly idle: readonly string[];
}

/** Finds the public files and returns their answers. */
export async function createPublicFiles(options: PublicFilesOptions): Promise<PublicFiles> {
  const answers = lazyFileAnswers();
  const idle = new Set<string>();
  let files = await readPublic(options, idle);
  let fallback = fallbackOf(files, options);
  const { browserFolder = "", loaded = [], onReplaced } = options;
  const headersFor = await createFileHeaders(options.headers);
  const isWhole = wholeness(
    loaded.map((file) => join(browserFolder, file)),
    onReplaced,
  );
  const answer = async (file: FoundFile, request: HttpRequest): Promise<HttpResponse | undefined> =>
    file.held === undefined || (await isWhole(file))
      ? await answers.answer(file, request)
      : replacedAnswer;
  const find = async (name: string, request: HttpRequest): Promise<HttpResponse | undefined> => {
    const file = files.get(name);
    if (file !== undefined) return await answer(file, request);
    if (fallback === undefined || !asksForPage(request)) return undefined;
    if (!isPagePath(name, options.assetsFolder)) return undefined;
    const page = files.get(fallback);
    const found = page && (await answer(page, request));
    if (found === undefined) return undefined;
    const status = typeof options.fallback === "object" ? options.fallback.status : 200;
    return withVary(found.status === 200 ? { ...found, status } : found);
  };
  return {
    idle: [...idle],
    get fallback() {
      return fallback;
    },
    async get(path, request) {
      const name = decodedPath(path);
      if (name === undefined) return undefined;
      const found = await find(name, request);
      return found && { ...found, headers: { ...found.headers, ...headersFor(name) } };
    },
    isAsset: (path) => path !== "/" && files.get(decodedPath(path) ?? "")?.byGlob === true,
    async refresh() {
      files = await readPublic(options);
      fallback = fallbackOf(files, options);
    },
    paths: () => files.keys(),
  };
}

function fallbackOf(
  files: ReadonlyMap<string, FoundFile>,
  options: PublicFilesOptions,
): string | undefined {
  const fallback = fallbackPage(options.fallback) ?? false;
  const { index } = options;
  return fallback === false
    ? undefined
    : builtPage(files, fallback === true ? index : fallback, options);
}

/** Pages vary by `accept`: at the same address, requests that don't accept a page get 404. */
function withVary(page: HttpResponse): HttpResponse {
  const { vary } = page.headers;
  const names = vary === undefined ? "accept" : `accept, ${String(vary)}`;
  return { ...page, headers: { ...page.headers, vary: names } };
}

async function readPublic(
  options: PublicFilesOptions,
  idle = new Set<string>(),
): Promise<Map<string, FoundFile>> {
  const files = new Map<string, FoundFile>();
  const root = realpathSync.native(options.rootFolder);
  const source = realFolder(options.sourceFolder);
  const browser =
    options.browserFolder === undefined ? undefined : realFolder(options.browserFolder);

  if (source !== undefined && options.assets.length > 0) {
    if (source !== root && !isInside(root, source))
      throw new Error(
        `'assets' can't be served: ${options.sourceFolder} is outside of the application folder ${options.rootFolder}`,
      );
    const except = new Set<string>();
    const pages = Object.keys(options.pages ?? {}).map((page) => join(root, page));
    for (const path of [...(options.except ?? []), ...pages]) except.add(realOf(path) ?? path);
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
    for (const path of walk(browser, { dots: false, except: new Set() })) {
      const name = slashed(relative(browser, path));
      if (options.hidden?.has(name) === true) continue;
      // A file that Vite copied from `public` keeps its name when its content changes, even if
      // that name looks as if it had a hash.
      const immutable = isHashed(name) && realOf(join(root, "public", name)) === undefined;
      files.set(`/${name}`, { path, immutable });
    }
  const index = builtPage(files, options.index, options);
  const pages = [...Object.values(options.pages ?? {}).map((page) => `/${page}`), index ?? ""];
  for (const page of new Set([...pages, fallbackOf(files, options) ?? ""])) {
    const file = files.get(page);
    if (file !== undefined && file.byGlob !== true)
      files.set(page, { ...file, held: holdFile(file.path) });
  }
  addPages(files, index);
  return files;
}

// `a/b-4fKx_92Q.js`, as Rolldown names its files. A word after the dash has one case and no digits.
function isHashed(name: string): boolean {
  const hash = /-([\w-]{8})\.\w+(?:\.map)?$/.exec(name)?.[1];
  return hash !== undefined && (/\d/.test(hash) || (/[a-z]/.test(hash) && /[A-Z]/.test(hash)));
}

/** Returns the files that `globs` make public: path relative to `source` → real path. */
async function readAssets(
  source: string,
  globs: readonly string[],
  except: ReadonlySet<string>,
  modules: Iterable<string>,
  idle: Set<string>,
): Promise<Map<string, string>> {
  // Few applications have assets besides their build, so others don't load it.
  const { picomatch } = await import("./globs.ts");
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
  for (const path of walk(source, {
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
function* walk(
  folder: string,
  options: { dots: boolean; except: ReadonlySet<string> },
): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
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

/** Where links lead; `undefined` if there is nothing. */
function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

function realFolder(path: string): string | undefined {
  const real = realOf(path);
  return real !== undefined && lstatSync(real).isDirectory() ? real : undefined;
}
