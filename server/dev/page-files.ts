// The files of `/svc` in development: the runtime's own, two of them wrapped so that a page can
// follow its procedures and warns of mistakes.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

import type { HttpResponse } from "../../src/base/ports.ts";
import { answerHeaders, developmentPath, mediaTypes, paths } from "../../src/base/protocol.ts";
import { packageFolder } from "../base/package-folder.ts";
import { runtimeFolder } from "../base/runtime-files.ts";

/**
 * The answer for `/svc/<name>`; `undefined` if there is no such file. `hotPath` is the address of
 * Vite's client.
 */
export async function pageFile(target: string, hotPath: string): Promise<HttpResponse | undefined> {
  const [path = "", query] = target.split("?");
  if (query !== "core") {
    if (path === paths.client) return script(clientText);
    if (path === paths.remote) return script(remoteText(hotPath));
  }
  const name = /^\/svc\/([\w.-]+\.js)$/.exec(path)?.[1];
  if (name === undefined) return undefined;
  const file =
    path === developmentPath
      ? join(packageFolder, "dist/development/page.js")
      : join(runtimeFolder(), name);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return text === undefined ? undefined : script(text);
}

function script(body: string): HttpResponse {
  // Never cached: another application may use this address next.
  return { status: 200, headers: { "content-type": mediaTypes.script, ...answerHeaders }, body };
}

// Relative, so that they are below Vite's base.
const [client, remote, development] = [paths.client, paths.remote, developmentPath].map(
  (path) => `./${path.slice(paths.components.length)}`,
);

const clientText = `export * from "${client}?core";
import { seam as create, startClient as start } from "${client}?core";
import { noting, warning } from "${development}";
export const startClient = noting(start);
export const seam = (...record) => warning(create(...record));
`;

function remoteText(hotPath: string): string {
  return `import { createHotContext } from ${JSON.stringify(hotPath)};
import { createPageRemote as create } from "${remote}?core";
import { following } from "${development}";
export const createPageRemote = following(create, createHotContext("${paths.remote}"));
`;
}
