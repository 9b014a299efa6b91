// Keeps files of earlier builds, for open pages and for nodes that have yet to restart.

import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { entryOf, type ServerManifest } from "../../../src/base/manifest.ts";
import {
  earlierFolder,
  type KeptBuild,
  type KeptBuilds,
  readBuilt,
  readBuiltModule,
  readKeptBuilds,
} from "../../files/kept-builds.ts";
import { isFile, manifestFiles, type OutputFolders } from "../../files/sources.ts";

/**
 * Copies the browser files of the builds in `previous` to `to`, and returns those builds, the current
 * one first: if it is built again, as many earlier ones stay. Must run before Vite empties its
 * `outDir`.
 */
export async function keepBrowserFiles(
  previous: OutputFolders,
  to: string,
  revisions: number,
): Promise<readonly KeptBuild[]> {
  const builds = (await readKeptBuilds(previous)).builds.slice(0, revisions + 1);
  for (const file of new Set(builds.flatMap(({ files }) => files)))
    // The file may have been removed by hand.
    if (await isFile(join(previous.browser, file)))
      copy(join(previous.browser, file), join(to, file));
  return builds;
}

/** Adds the files of earlier builds to the new output, and records them. */
export async function addKeptBuilds(options: {
  /** As {@link keepBrowserFiles} has returned and copied them. */
  readonly builds: readonly KeptBuild[];
  readonly browserFiles: string;
  readonly previous: OutputFolders;
  readonly folders: OutputFolders;
  readonly manifest: ServerManifest;
  /** The files that browsers get of the new build. */
  readonly files: readonly string[];
  readonly revisions: number;
}): Promise<void> {
  const { builds, browserFiles, previous, folders, manifest, files, revisions } = options;
  const { revision } = manifest;
  const earlier = builds.filter((build) => build.revision !== revision).slice(0, revisions);
  for (const file of new Set(earlier.flatMap((build) => build.files)))
    if ((await isFile(join(browserFiles, file))) && !(await isFile(join(folders.browser, file))))
      copy(join(browserFiles, file), join(folders.browser, file));
  for (const build of earlier)
    await keepServerFiles({
      revision: build.revision,
      isCurrent: build === builds[0],
      from: previous.server,
      to: folders.server,
      manifest,
    });
  const kept: KeptBuilds = { revisions, builds: [{ revision, files }, ...earlier] };
  await writeFile(join(folders.server, manifestFiles.kept), `${JSON.stringify(kept, null, 1)}\n`);
}

/** Copies the manifests and the contract of a build, and those of its modules that the new build has changed. */
async function keepServerFiles(options: {
  readonly revision: string;
  readonly isCurrent: boolean;
  readonly from: string;
  readonly to: string;
  readonly manifest: ServerManifest;
}): Promise<void> {
  const { revision, isCurrent, from, to, manifest } = options;
  const source = isCurrent ? from : earlierFolder(from, revision);
  const names = [manifestFiles.server, manifestFiles.browser].map((name) => join(source, name));
  // They may have been removed by hand.
  if (!(await Promise.all(names.map(isFile))).every(Boolean)) return;
  const folder = earlierFolder(to, revision);
  for (const name of [manifestFiles.server, manifestFiles.browser])
    copy(join(source, name), join(folder, name));
  // Builds of earlier releases have none.
  if (await isFile(join(source, manifestFiles.contract)))
    copy(join(source, manifestFiles.contract), join(folder, manifestFiles.contract));
  const build = await readBuilt(join(source, manifestFiles.server));
  for (const [file, { integrity }] of Object.entries(build.files)) {
    if (entryOf(manifest.files, file)?.integrity === integrity) continue;
    const bytes = await readBuiltModule(from, build, file);
    // It may have been removed by hand.
    if (bytes === undefined) continue;
    const path = join(folder, "modules", file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  }
}

function copy(file: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(file, to);
}
