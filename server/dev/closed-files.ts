// What Vite's servers give of files as they lie on the disk, but for those that say how services are run. Vite refuses `.env` by a list of names; these
// may have any, and a list can be switched off.

import { existsSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";

import type { ResolvedConfig, ViteDevServer } from "vite";

import { serviceFile } from "../service-files.ts";

/** Refuses requests that lead to such a file, whatever Vite would make of it. */
export function keepServiceFiles({ middlewares, config }: Pick<ViteDevServer, "middlewares" | "config">): void {
  middlewares.use((message, response, pass) => {
    if (!filesOf(message, config).some((file) => existsSync(file) && serviceFile(file) !== undefined)) return pass();
    response.writeHead(403, { "content-type": "text/plain" });
    response.end("This file says how a service is run, or with which keys: nobody gets it\n");
  });
}

/** Files that Vite may find for a request: by its own ways with addresses, and by those of a disk with names. */
function filesOf({ url = "" }: IncomingMessage, { root, base, publicDir, resolve }: ResolvedConfig): readonly string[] {
  const [path = ""] = url.split(/[?#]/);
  const files = new Set<string>();
  for (const text of spellings(path))
    for (const below of text.startsWith(base) ? [text, `/${text.slice(base.length)}`] : [text]) {
      const id = below.replace(/^\/@id\//, "/").replace(/^\/@fs\//, "/");
      const aliased = resolve.alias.flatMap(({ find, replacement }) =>
        (typeof find === "string" ? id.startsWith(find) : find.test(id)) ? [id.replace(find, replacement)] : [],
      );
      for (const name of [id, ...aliased])
        for (const folder of ["", root, publicDir]) if (folder !== "" || name.startsWith("/")) files.add(join(folder, name));
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
