// The files that a repository serves: the build's output, the application's assets and Seamline's
// own components.

import { readdirSync, realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import type { ServerManifest } from "../../src/base/manifest.ts";
import type { RepositoryFiles } from "../../src/roles/repository.ts";
import { pathOf } from "../../src/http/router.ts";
import type { PublicFile } from "./file-answer.ts";
import { lazyFileAnswers } from "./lazy-file-answers.ts";
import type { PublicFiles } from "./files.ts";
import { packageFolder } from "../base/package-folder.ts";
import { manifestFiles, type OutputFolders } from "./sources.ts";

/** The server's manifest of a build, as bytes and parsed. */
export interface BuiltManifest {
  readonly bytes: Uint8Array;
  readonly manifest: ServerManifest;
}

/** Lists the files once. Their contents are read on request. */
export async function createRepositoryFiles(
  output: OutputFolders,
  { bytes, manifest }: BuiltManifest,
  publicFiles: PublicFiles,
): Promise<RepositoryFiles> {
  const modules = new Set(Object.keys(manifest.files));
  const answers = lazyFileAnswers();
  const components = new Map<string, PublicFile>();
  const add = (name: string, path: string): void =>
    void components.set(name, { path: realpathSync.native(path), immutable: false });
  add("manifest.json", join(output.server, manifestFiles.browser));
  const own = join(packageFolder, "dist/svc");
  for (const name of readdirSync(own)) if (name.endsWith(".js")) add(name, join(own, name));
  return {
    publicFile: (request) => publicFiles.get(pathOf(request.target), request),
    component: async (name, request) => {
      const file = components.get(name);
      return file === undefined ? undefined : await answers.answer(file, request);
    },
    serverFile: async (file) => {
      if (file === manifestFiles.server) return bytes;
      // Only read names that the manifest lists: a path from a message must not open a file.
      return modules.has(file) ? await readFile(join(output.server, "modules", file)) : undefined;
    },
  };
}
