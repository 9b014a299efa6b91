// Built pages: the one at `/`, and the one that answers for addresses that only the page's own
// router knows.

import { join, relative } from "node:path";

import type { HttpRequest } from "../../src/base/ports.ts";
import { isOwnPath } from "../../src/http/router.ts";
import type { ApplicationConfig } from "../config/config-types.ts";
import type { PublicFile } from "./file-answer.ts";
import { slashed } from "./sources.ts";

/** The key `fallback` without its status. */
export function fallbackPage(
  fallback: ApplicationConfig["fallback"],
): boolean | string | undefined {
  return typeof fallback === "object" ? fallback.page : fallback;
}

/** A file in the map of public files. */
export interface FoundFile extends PublicFile {
  readonly byGlob?: true;
}

/** The folders of the build's pages. */
export interface PageFolders {
  readonly rootFolder: string;
  readonly sourceFolder: string;
  /** Path of a page from the application folder → path of the built page. */
  readonly pages?: Readonly<Record<string, string>>;
}

/** Longer than any route of a page. */
const maxPathLength = 2048;

/**
 * The URL path of the built page that a configuration names: looked up in the source folder, else in the
 * application folder. It needs no glob. An unbuilt page is never served, as it would request source
 * files.
 */
export function builtPage(
  files: ReadonlyMap<string, FoundFile>,
  page: string,
  { pages = {}, sourceFolder, rootFolder }: PageFolders,
): string | undefined {
  const name = page.replace(/^\.?\/+/, "");
  const built = [sourceFolder, rootFolder].map(
    (folder) => pages[slashed(relative(rootFolder, join(folder, name)))],
  );
  // The last candidate is a page that another tool wrote to the output.
  return [...built, name]
    .map((path) => `/${path}`)
    .find((path) => {
      const file = files.get(path);
      return file !== undefined && file.byGlob !== true && path.endsWith(".html");
    });
}

/**
 * Adds further addresses of pages: a folder's for its `index.html`, and, for a page of the build, the address
 * without `.html`.
 */
export function addPages(files: Map<string, FoundFile>, index: string | undefined): void {
  const add = (name: string, file: FoundFile): void => {
    if (!files.has(name)) files.set(name, file);
  };
  const pages = [...files].filter(([name]) => name.endsWith(".html"));
  const folderPages = pages.filter(([name]) => name.endsWith("/index.html"));
  for (const [name, file] of folderPages) files.set(name.slice(0, -"index.html".length), file);
  // `help.html` comes before `help/index.html`, as in Vite's servers.
  for (const [name, file] of pages)
    if (file.byGlob !== true) add(name.slice(0, -".html".length), file);
  for (const [name, file] of folderPages)
    if (file.byGlob !== true && name !== "/index.html")
      add(name.slice(0, -"/index.html".length), file);
  const page = index === undefined ? undefined : files.get(index);
  if (page === undefined) files.delete("/");
  else files.set("/", page);
}

/**
 * Whether a browser requests a page to show: not a program, and not a page that loads a script, an
 * image or data.
 */
export function asksForPage({ method, headers }: Pick<HttpRequest, "method" | "headers">): boolean {
  if (method !== "GET" && method !== "HEAD") return false;
  const destination = headers["sec-fetch-dest"];
  return (
    (destination === undefined || destination === "document" || destination === "iframe") &&
    namesHtml(String(headers["accept"] ?? ""))
  );
}

// A wildcard doesn't count: scripts and programs send it.
function namesHtml(accept: string): boolean {
  return accept.split(",").some((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const weight = parameters.find((part) => part.startsWith("q="));
    return type === "text/html" && (weight === undefined || Number(weight.slice(2)) > 0);
  });
}

/** A path of a URL without its escapes. `undefined` if they are invalid or hide a slash. */
export function decodedPath(path: string): string | undefined {
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

/** Vite's `build.assetsDir` as part of a URL path: without slashes around it. */
export function assetsFolderOf(assetsDir: string): string {
  return slashed(assetsDir).replace(/^(?:\.?\/)+|\/+$/g, "");
}

/**
 * Whether a decoded path may be a page's own address: not one of the runtime's, not below the folder
 * of the build's assets, and without parts that servers and browsers read in different ways.
 */
export function isPagePath(path: string, assetsFolder: string | undefined): boolean {
  if (path.length > maxPathLength) return false;
  // oxlint-disable-next-line no-control-regex
  if (!path.startsWith("/") || /\/\/|[\\\u0000-\u001f\u007f]|\/\.\.?(?:\/|$)/.test(path))
    return false;
  if (isOwnPath(path)) return false;
  return (
    assetsFolder === undefined ||
    assetsFolder === "" ||
    !(path === `/${assetsFolder}` || path.startsWith(`/${assetsFolder}/`))
  );
}
