// What a repository reads (§4.3, §4.4): the build's output, the application's assets, Seamline's own components.

import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import type { ServerManifest } from "../src/manifest.ts";
import type { HttpRequest, HttpResponse } from "../src/ports.ts";
import { mediaTypes } from "../src/protocol.ts";
import type { RepositoryFiles } from "../src/roles/repository.ts";
import { pathOf } from "../src/router.ts";
import { packageFolder } from "./package-folder.ts";
import type { PublicFiles } from "./files.ts";
import type { OutputFolders } from "./sources.ts";

const script = "text/javascript; charset=utf-8";

/** Reads everything that doesn't change while the service runs, once. */
export async function createRepositoryFiles(output: OutputFolders, publicFiles: PublicFiles): Promise<RepositoryFiles> {
  const manifest = await readFile(join(output.server, "manifest.json"));
  const modules = new Set(Object.keys((JSON.parse(manifest.toString("utf8")) as ServerManifest).files));
  const components = new Map([["manifest.json", component(await readFile(join(output.server, "manifest.browser.json")), mediaTypes.json)]]);
  const own = join(packageFolder, "dist/svc");
  for (const name of await readdir(own)) if (name.endsWith(".js")) components.set(name, component(await readFile(join(own, name)), script));
  return {
    publicFile: (request) => publicFiles.get(pathOf(request.target), request),
    component: async (name, request) => components.get(name)?.(request),
    serverFile: async (file) => {
      if (file === "manifest.json") return manifest;
      // Only names that the manifest holds are ever read: a path from a message opens nothing (reliability: safety rule 3).
      return modules.has(file) ? await readFile(join(output.server, "modules", file)) : undefined;
    },
  };
}

/** A file that is asked for by a fixed name: browsers keep it, and ask each time whether it has changed. */
function component(bytes: Uint8Array, type: string): (request: HttpRequest) => HttpResponse {
  const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
  const headers = { "content-type": type, etag, "cache-control": "no-cache", "x-content-type-options": "nosniff" };
  return (request) => {
    const known = request.headers["if-none-match"];
    const same = typeof known === "string" && known.split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
    return same ? { status: 304, headers } : { status: 200, headers, body: bytes };
  };
}
