// The files of an application that a repository or standalone serves.

import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import type { Host } from "../../src/base/ports.ts";
import { nearest, Problems } from "../../src/base/problem.ts";
import type { RepositoryFiles } from "../../src/roles/repository.ts";
import { type ApplicationConfig, configName, type StandaloneConfig } from "../config/config.ts";
import { headerWarnings } from "../config/config-headers.ts";
import { fallbackPage } from "../files/pages.ts";
import { createPublicFiles, type PublicFiles } from "../files/files.ts";
import { readKeptBuilds, servedBuilds } from "../files/kept-builds.ts";
import { createRepositoryFiles } from "../files/repository-files.ts";
import { slashed } from "../files/sources.ts";
import type { EnsuredBuild } from "./ensure-build.ts";

interface FilesOptions {
  readonly root: string;
  /** The configuration's file. It may hold the trust key, so no glob makes it public. */
  readonly configFile: string | undefined;
}

/** Finds the files to serve: those of the build, of the builds that it keeps, and the assets. */
export async function filesOf(
  host: Host,
  config: ApplicationConfig,
  options: FilesOptions,
  { output, built }: EnsuredBuild,
): Promise<{ files: RepositoryFiles; publicFiles: PublicFiles }> {
  const { modules, imports, pages, singlePage, assetsFolder } = built.manifest;
  const kept = await readKeptBuilds(output);
  const shown = `./${slashed(relative(options.root, config.output))}`;
  if (config.revisions > kept.revisions && kept.builds.length > kept.revisions)
    host.log.warn(
      `'revisions' is ${config.revisions}, and the build in ${shown} keeps ${kept.revisions}. Run 'seamline build' with this configuration, or with --revisions ${config.revisions}`,
    );
  const served = servedBuilds(kept, config.revisions);
  const publicFiles = await createPublicFiles({
    rootFolder: options.root,
    sourceFolder: config.source,
    browserFolder: output.browser,
    hidden: served.hidden,
    assets: config.assets,
    index: config.index,
    pages,
    fallback: config.fallback ?? singlePage,
    headers: config.headers,
    assetsFolder,
    modules: [...Object.keys(modules), ...Object.entries(imports).flat(2)],
    loaded: kept.builds.find(({ revision }) => revision === built.manifest.revision)?.files ?? [],
    onReplaced: (isWhole) =>
      isWhole
        ? host.log.warn(
            `the build in ${shown} was replaced: this service goes on with revision ${built.manifest.revision} until it is restarted`,
          )
        : host.log.error(
            `the build in ${shown} was replaced by one without the files of revision ${built.manifest.revision}: its pages are 503 until this service is restarted. Build where the last output is, so that it keeps them`,
          ),
    except: [
      config.output,
      output.server,
      join(options.root, ".seamline"),
      ...(options.configFile === undefined ? [] : [options.configFile]),
    ],
  });
  for (const warning of headerWarnings(config.headers ?? {})) host.log.warn(warning);
  const source = slashed(relative(options.root, config.source));
  for (const glob of publicFiles.idle)
    host.log.warn(`'assets': "${glob}" makes no file public. Globs are relative to ./${source}`);
  if (![...publicFiles.paths()].includes("/")) warnOfIndex(config, options.root, host.log);
  if (config.fallback && publicFiles.fallback === undefined) throw missingFallback(config, options);
  const files = await createRepositoryFiles(output, built, publicFiles, served.earlier);
  const replaced = kept.builds.find(({ revision }) => revision !== built.manifest.revision);
  if (replaced !== undefined) {
    const { warnOfChanges } = await import("./earlier-callers.ts");
    await warnOfChanges(output.server, replaced.revision, host.log);
  }
  if (config.openapi === undefined) return { files, publicFiles };
  const { withContract } = await import("./contract-documents.ts");
  return { files: await withContract(files, config.openapi, { output, built }), publicFiles };
}

/** Throws {@link Problems} for a segment that a standalone's build doesn't have. */
export function checkSegments(
  { segments = [] }: Pick<StandaloneConfig, "segments">,
  { configFile, root }: FilesOptions,
  { built }: EnsuredBuild,
): void {
  const names = Object.keys(built.manifest.segments);
  const missing = segments.filter((segment) => !names.includes(segment));
  if (missing.length === 0) return;
  const file = configName(configFile, root);
  throw new Problems(
    missing.map((segment) => {
      const near = nearest(segment, names);
      return {
        file,
        path: "segments",
        message: `the build has no segment '${segment}'`,
        hint:
          near === undefined
            ? `It has ${names.join(", ") || "none"}. Build again if its file is new`
            : `Did you mean '${near}'?`,
      };
    }),
  );
}

/** Applications without pages leave the key out, so a missing default page is no reason to warn. */
function warnOfIndex({ index, source }: ApplicationConfig, root: string, log: Host["log"]): void {
  if ([source, root].some((folder) => existsSync(join(folder, index))))
    log.warn(
      `'index': the build has no page "${index}", so / answers 404. Run 'seamline build', or start with --build`,
    );
  else if (index !== "index.html")
    log.warn(
      `'index': there is no "${index}", in ./${slashed(relative(root, source))} or in the application folder: / answers 404`,
    );
}

/** If the key is set, the application depends on it, so the service doesn't start. */
function missingFallback(
  { fallback: configured, index }: ApplicationConfig,
  { configFile, root }: FilesOptions,
): Problems {
  const file = configName(configFile, root);
  const fallback = fallbackPage(configured);
  const [message, hint] =
    typeof fallback === "string"
      ? [
          `the build has no page "${fallback}"`,
          "Name a page in the source folder or the application folder, add it to the inputs in the Vite configuration, and build again",
        ]
      : [
          `there is no page at / to answer with: the build has no "${index}"`,
          "Set 'index' to a page and build again, or remove 'fallback'",
        ];
  return new Problems([{ file, path: "fallback", message, hint }]);
}
