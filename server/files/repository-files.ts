// The files that a repository serves: the build's output, the application's assets and Seamline's
// own components.

import { existsSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";

import type { ServerManifest } from "../../src/base/manifest.ts";
import { type RepositoryFiles, revisionIn } from "../../src/roles/repository.ts";
import { pathOf } from "../../src/http/router.ts";
import type { PublicFile } from "./file-answer.ts";
import { lazyFileAnswers } from "./lazy-file-answers.ts";
import type { PublicFiles } from "./files.ts";
import { packageFolder } from "../base/package-folder.ts";
import { holdFile } from "./held-file.ts";
import { earlierFolder, readBuilt, readBuiltModule } from "./kept-builds.ts";
import { manifestFiles, type OutputFolders } from "./sources.ts";

/** The server's manifest of a build, as bytes and parsed. */
export interface BuiltManifest {
  readonly bytes: Uint8Array;
  readonly manifest: ServerManifest;
}

/** Lists the files once. Their contents are read on request. `earlier` are builds that stay served. */
export async function createRepositoryFiles(
  output: OutputFolders,
  { bytes, manifest }: BuiltManifest,
  publicFiles: PublicFiles,
  earlier: readonly string[] = [],
): Promise<RepositoryFiles> {
  const answers = lazyFileAnswers();
  const components = new Map<string, PublicFile>();
  const add = (name: string, path: string): void =>
    void components.set(name, { path: realpathSync.native(path), immutable: false });
  const own = join(packageFolder, "dist/svc");
  for (const name of readdirSync(own)) if (name.endsWith(".js")) add(name, join(own, name));
  // Like pages, it belongs to the build that this service started with.
  const path = realpathSync.native(join(output.server, manifestFiles.browser));
  components.set(manifestName, { path, immutable: false, held: holdFile(path) });
  /** The manifests for browsers, by revision. */
  const browserManifests = new Map<string, PublicFile | undefined>([
    [manifest.revision, components.get(manifestName)],
  ]);
  /** Files for nodes, by revision. Those of earlier builds are read on request. */
  const builds = new Map<string, () => Promise<Build>>([[manifest.revision, async () => manifest]]);
  for (const revision of earlier) {
    const folder = earlierFolder(output.server, revision);
    const [forNodes, forBrowsers] = [manifestFiles.server, manifestFiles.browser].map((name) =>
      join(folder, name),
    ) as [string, string];
    // They may have been removed by hand.
    if (!existsSync(forNodes) || !existsSync(forBrowsers)) continue;
    browserManifests.set(revision, { path: realpathSync.native(forBrowsers), immutable: false });
    let build: Promise<Build> | undefined;
    builds.set(revision, async () => await (build ??= readBuilt(forNodes)));
  }
  return {
    publicFile: (request) => publicFiles.get(pathOf(request.target), request),
    component: async (name, request) => {
      const revision = name === manifestName ? revisionIn(request) : undefined;
      const file =
        (revision === undefined ? undefined : browserManifests.get(revision)) ??
        components.get(name);
      return file === undefined ? undefined : await answers.answer(file, request);
    },
    serverFile: async (file, revision = manifest.revision) => {
      if (file === manifestFiles.server) return bytes;
      const build = await builds.get(revision)?.();
      return build && (await readBuiltModule(output.server, build, file));
    },
  };
}

type Build = Pick<ServerManifest, "revision" | "files">;

const manifestName = "manifest.json";
