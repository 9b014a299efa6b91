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
import {
  isRuntimeHash,
  namedRuntimeFolder,
  runtimeFolder,
  runtimeHash,
} from "../base/runtime-files.ts";
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
  const hash = runtimeHash();
  for (const name of readdirSync(runtimeFolder())) {
    const kept = realpathSync.native(join(runtimeFolder(), name));
    components.set(`${hash}/${name}`, { path: kept, immutable: true });
    // An installed package's files all have one date, so their tag is of their content.
    const path = realpathSync.native(join(namedRuntimeFolder, name));
    components.set(name, { path, immutable: false, held: holdFile(path) });
  }
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
      if (file !== undefined) return await answers.answer(file, request);
      // A page of another release, while services are replaced one by one. It works with this release's file
      // as far as it would without a hash, but caches must not keep that under this address.
      const [other = "", ...rest] = name.split("/");
      const current = isRuntimeHash(other)
        ? components.get(`${hash}/${rest.join("/")}`)
        : undefined;
      const answer = current && (await answers.answer(current, request));
      return answer && { ...answer, headers: { ...answer.headers, "cache-control": "no-store" } };
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
