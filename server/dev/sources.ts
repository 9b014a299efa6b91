// Keeps the source of split modules from being served. Pages get their part of such a module; the
// file also holds what only servers may see.

import type { IncomingMessage } from "node:http";
import { basename, relative } from "node:path";

import type { ViteDevServer } from "vite";

import type { Application } from "../compile/cut/application.ts";
import type { ApplicationReader } from "../compile/application-reader.ts";
import { isModuleFile } from "../compile/read/modules.ts";
import { slashed } from "../files/sources.ts";
import { parsedUrl } from "../../src/base/url.ts";

/**
 * Refuses requests that Vite would answer with the file instead of a module: other methods than
 * GET, paths that it can't decode, and documents.
 */
export function keepSources(
  { middlewares }: Pick<ViteDevServer, "middlewares">,
  reader: Pick<ApplicationReader, "behindLinks">,
  application: () => Promise<Application>,
): void {
  middlewares.use((message, response, pass) => {
    const path = pathOf(message);
    if (path === undefined || !isModuleFile(path.toLowerCase())) return pass();
    const decide = async (): Promise<void> => {
      // Without a valid application, any module may be split.
      const current = await application().catch(() => undefined);
      if (
        wantsModule(message)
          ? current === undefined || !isOtherCase(path, current)
          : current !== undefined && !isSplit(path, [...current.cut.keys(), ...reader.behindLinks])
      )
        return pass();
      response.writeHead(403, { "content-type": "text/plain" });
      response.end(
        "Servers use this module too: pages get their part of it, and its source isn't served\n",
      );
    };
    decide().catch(pass);
  });
}

/** Compares names only: an alias or a link may lead to the file from any folder. */
function isSplit(path: string, split: readonly string[]): boolean {
  const name = basename(path).toLowerCase();
  return split.some((file) => basename(file).toLowerCase() === name);
}

/**
 * On a file system that ignores case, Vite takes other spellings for other modules, which aren't
 * split.
 */
function isOtherCase(path: string, { cut, modules, source }: Application): boolean {
  const ending = (file: string): string => `/${slashed(relative(source, file))}`;
  const lower = path.toLowerCase();
  const target = [...cut.keys()].find((file) => lower.endsWith(ending(file).toLowerCase()));
  if (target === undefined || path.endsWith(ending(target))) return false;
  return ![...modules.ids].some((id) => path.endsWith(ending(modules.get(id)?.file ?? "")));
}

/** Whether Vite treats the request as one for a module. */
function wantsModule({ method, url = "", headers }: IncomingMessage): boolean {
  const [path = ""] = url.split(/[?#]/);
  return (
    (method === "GET" || method === "HEAD") &&
    !/^(?:document|i?frame|fencedframe)$/.test(headers["sec-fetch-dest"] ?? "") &&
    !/[/\\]$|\\|%5c/i.test(path) &&
    decoded(url) !== undefined
  );
}

/** The path as a static server resolves it: without repeated or trailing slashes of either kind. */
function pathOf({ url = "" }: IncomingMessage): string | undefined {
  const parsed = parsedUrl(url, "http://page");
  if (parsed === undefined) return undefined;
  return decoded(parsed.pathname)
    ?.replace(/[/\\]+/g, "/")
    .replace(/\/$/, "");
}

function decoded(text: string): string | undefined {
  try {
    return decodeURI(text);
  } catch {
    return undefined;
  }
}
