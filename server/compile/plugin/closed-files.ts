// Keeps Vite from serving service configurations. Vite refuses `.env` by a list of names, which an
// application can switch off, and a configuration may have any name.

import { existsSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { dirname, join } from "node:path";

import type { ResolvedConfig, ViteDevServer } from "vite";

import { serviceFile } from "../../files/service-files.ts";
import { manifestFiles, realPath } from "../../files/sources.ts";

/** Refuses requests for such a file, or for one built for servers, however Vite would serve it. */
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
        ? "This file configures a service and may hold its keys, so it isn't served\n"
        : "This file was built for servers, so it isn't served\n",
    );
  });
}

/** A build may be in any folder. Its server modules lie beside the two manifests. */
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

/**
 * The files that a request may reach, given how Vite resolves paths and file systems read names.
 */
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
  // The loop also visits what it adds: texts decoded once and twice.
  for (const text of found)
    for (const decode of [decodeURI, decodeURIComponent]) {
      try {
        found.add(decode(text));
      } catch {
        // Not encoded like this.
      }
    }
  // File systems ignore some characters at the end of a name, and some take a suffix.
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
