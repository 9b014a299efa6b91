// What `/svc` is in development: the runtime's own files, with two small ones around them that let a page follow its procedures.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

import type { HttpResponse } from "../../src/ports.ts";
import { answerHeaders, mediaTypes, paths } from "../../src/protocol.ts";
import { packageFolder } from "../package-folder.ts";

const development = "/svc/development.js";

/** Answers for `/svc/<name>`, and `undefined` for what isn't there. `hotPath` is the address of Vite's client. */
export async function pageFile(target: string, hotPath: string): Promise<HttpResponse | undefined> {
  const [path = "", query] = target.split("?");
  if (query !== "core") {
    if (path === paths.client) return script(clientText);
    if (path === paths.remote) return script(remoteText(hotPath));
  }
  const name = /^\/svc\/([\w.-]+\.js)$/.exec(path)?.[1];
  if (name === undefined) return undefined;
  const file = path === development ? join("dist/development", "page.js") : join("dist/svc", name);
  const text = await readFile(join(packageFolder, file), "utf8").catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    },
  );
  return text === undefined ? undefined : script(text);
}

function script(body: string): HttpResponse {
  // Never kept: the next session of this address may be another application's.
  return { status: 200, headers: { "content-type": mediaTypes.script, ...answerHeaders }, body };
}

const clientText = `export * from "${paths.client}?core";
import { startClient as start } from "${paths.client}?core";
import { noting } from "${development}";
export const startClient = noting(start);
`;

function remoteText(hotPath: string): string {
  return `import { createHotContext } from ${JSON.stringify(hotPath)};
import { createPageRemote as create } from "${paths.remote}?core";
import { following } from "${development}";
export const createPageRemote = following(create, createHotContext("${paths.remote}"));
`;
}
