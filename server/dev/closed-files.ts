// What Vite's servers give of files as they lie on the disk, but for those that say how services are run. Vite refuses `.env` by a list of names; these
// may have any, and a list can be switched off.

import { existsSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { dirname, join } from "node:path";

import type { ResolvedConfig, ViteDevServer } from "vite";

import { serviceFile } from "../service-files.ts";
import { manifestFiles, realPath } from "../sources.ts";

/** Refuses requests that lead to such a file, or to one that a build has made for servers, whatever Vite would make of it. */
export function keepServiceFiles({
  middlewares,
  config,
}: Pick<ViteDevServer, "middlewares" | "config">): void {
  middlewares.use((message, response, pass) => {
    const files = filesOf(message, config).filter((file) => existsSync(file));
    const isService = files.some((file) => serviceFile(file) !== undefined);
    if (!isService && !files.some(isBuiltForServers)) return pass();
    response.writeHead(403, { "content-type": "text/plain" });
    response.end(
      isService
        ? "This file says how a service is run, or with which keys: nobody gets it\n"
        : "This file was built for servers: nobody gets it\n",
    );
  });
}

/** A build may be in any folder; in it, servers' modules are beside the two manifests. */
function isBuiltForServers(file: string): boolean {
  for (
    let path = realPath(file), folder = dirname(path);
    folder !== path;
    path = folder, folder = dirname(path)
  )
    if (
      [manifestFiles.server, manifestFiles.browser].every((name) => existsSync(join(folder, name)))
    )
      return true;
  return false;
}

/** Files that Vite may find for a request: by its own ways with addresses, and by those of a disk with names. */
function filesOf(
  { url = "" }: IncomingMessage,
  { root, base, publicDir, resolve }: ResolvedConfig,
): readonly string[] {
  const [path = ""] = url.split(/[?#]/);
  const files = new Set<string>();
  for (const text of spellings(path))
    for (const below of text.startsWith(base) ? [text, `/${text.slice(base.length)}`] : [text]) {
      const id = below.replace(/^\/@id\//, "/").replace(/^\/@fs\//, "/");
      const aliased = resolve.alias.flatMap(({ find, replacement }) =>
        (typeof find === "string" ? id.startsWith(find) : find.test(id))
          ? [id.replace(find, replacement)]
          : [],
      );
      for (const name of [id, ...aliased])
        for (const folder of ["", root, publicDir])
          if (folder !== "" || name.startsWith("/")) files.add(join(folder, name));
    }
  return [...files];
}

function spellings(path: string): ReadonlySet<string> {
  const found = new Set([path]);
  // A set hands out what is added while it is walked: decoded once and twice.
  for (const text of found)
    for (const decode of [decodeURI, decodeURIComponent]) {
      try {
        found.add(decode(text));
      } catch {
        // It isn't written in this way.
      }
    }
  // What disks leave out at the end of a name, and what follows a name on some.
  return new Set(
    [...found].map((text) =>
      text
        .replaceAll("\\", "/")
        .replace(/\/{2,}/g, "/")
        .replace(/(?:\0|::).*$/, "")
        .replace(/[\s./]+$/, ""),
    ),
  );
}
