// The sources as they lie on the disk. Pages have their own part of a module that segments cut, and never the file, which is for servers too.

import type { IncomingMessage } from "node:http";
import { basename, relative } from "node:path";

import type { ViteDevServer } from "vite";

import type { Application } from "../build/application.ts";
import type { Build } from "../build/build-run.ts";
import { isModuleFile } from "../build/modules.ts";
import { slashed } from "../sources.ts";

/**
 * Refuses what Vite would answer with such a file instead of making a module of it: to other methods than GET, to addresses that it can't
 * read, and to whoever wants a document.
 */
export function keepSources(
  { middlewares }: Pick<ViteDevServer, "middlewares">,
  build: Pick<Build, "behindLinks">,
  application: () => Promise<Application>,
): void {
  middlewares.use((message, response, pass) => {
    const path = pathOf(message);
    if (path === undefined || !isModuleFile(path.toLowerCase())) return pass();
    const decide = async (): Promise<void> => {
      // While none was whole nobody knows which modules are split, so all are kept.
      const known = await application().catch(() => undefined);
      if (
        wantsModule(message)
          ? known === undefined || !isMiswritten(path, known)
          : known !== undefined && !isSplit(path, [...known.cut.keys(), ...build.behindLinks])
      )
        return pass();
      response.writeHead(403, { "content-type": "text/plain" });
      response.end("A module of servers too: pages get their part of it, and nobody its source\n");
    };
    decide().catch(pass);
  });
}

/** By its name alone: an alias or a link of the file system may lead there from any folder. */
function isSplit(path: string, split: readonly string[]): boolean {
  const name = basename(path).toLowerCase();
  return split.some((file) => basename(file).toLowerCase() === name);
}

/** Some disks find a file by whatever case its name is written in, and Vite takes it for another module, which nothing splits. */
function isMiswritten(path: string, { cut, modules, source }: Application): boolean {
  const ending = (file: string): string => `/${slashed(relative(source, file))}`;
  const lower = path.toLowerCase();
  const meant = [...cut.keys()].find((file) => lower.endsWith(ending(file).toLowerCase()));
  if (meant === undefined || path.endsWith(ending(meant))) return false;
  return ![...modules.ids].some((id) => path.endsWith(ending(modules.get(id)?.file ?? "")));
}

/** What Vite reads as the address of a module. */
function wantsModule({ method, url = "", headers }: IncomingMessage): boolean {
  const [path = ""] = url.split(/[?#]/);
  return (
    (method === "GET" || method === "HEAD") &&
    !/^(?:document|i?frame|fencedframe)$/.test(headers["sec-fetch-dest"] ?? "") &&
    !/[/\\]$|\\|%5c/i.test(path) &&
    decoded(url) !== undefined
  );
}

/** As a static server finds a file: slashes of both kinds, once, and none at the end. */
function pathOf({ url = "" }: IncomingMessage): string | undefined {
  if (!URL.canParse(url, "http://page")) return undefined;
  return decoded(new URL(url, "http://page").pathname)
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
