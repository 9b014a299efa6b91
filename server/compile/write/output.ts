// The output folders. A build writes next to the output and replaces it at the end, so a failed
// build leaves the previous output usable. Pages that visitors have open still find their files.

import { readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";

import type { Logger } from "vite";

import { segmentFileEnding } from "../../../src/base/manifest.ts";
import { isProcessAlive } from "../../base/process-alive.ts";
import { WriteFailure } from "../../base/write-failure.ts";
import { makerOf } from "../../files/replaced-folder.ts";
import { isFile, isInside, listFiles, manifestFiles, outputFolders } from "../../files/sources.ts";

/** Removes what killed builds left next to `folder`. */
export async function sweep(folder: string): Promise<void> {
  const names = await readdir(dirname(folder)).catch(() => []);
  for (const name of names) {
    const pid = makerOf(name, folder);
    if (pid !== undefined && !isProcessAlive(pid))
      await rm(join(dirname(folder), name), { recursive: true, force: true });
  }
}

/**
 * Refuses an output folder whose replacement would lose work: a file, the sources, or outside the
 * application anything that no build made. Inside it any other folder is fine, as for Vite.
 */
export async function refuseOutput(root: string, source: string, output: string): Promise<void> {
  const refuse = (what: string): never => {
    throw new Error(`The output ${relative(root, output) || "."} ${what}: choose another "output"`);
  };
  for (const kept of [root, source])
    if (kept === output || isInside(output, kept)) refuse(`would replace the folder ${kept}`);
  const found = await stat(output).catch(() => undefined);
  if (
    found === undefined ||
    (await isFile(join(outputFolders(root, output).server, manifestFiles.server)))
  )
    return;
  if (!found.isDirectory()) refuse("is a file, but a build writes a folder");
  const files = await listFiles(output);
  // Segment files in the output folder don't count. But if it holds all of them, it's a source
  // folder.
  const segments = (await listFiles(root)).filter((file) => file.endsWith(segmentFileEnding));
  const lost = segments
    .filter((file) => isInside(output, file))
    .map((file) => relative(root, file));
  if (lost.length > 0 && lost.length === segments.length)
    refuse(`would replace all segment files, ${lost.join(", ")}`);
  if (files.length > 0 && !isInside(root, output))
    refuse("is outside the application and holds files that no build made");
}

/** The error for a folder that can't be written. */
export function unwritable(folder: string, code: string, cause?: unknown): WriteFailure {
  return new WriteFailure(folder, code, insteadOfOutput, cause);
}

/** Hints for users if the output's disk can't be written. */
export const insteadOfOutput = 'choose another "output"';

/**
 * Makes Vite's log name the final folder instead of the temporary one, until the returned function
 * is called.
 */
export function tellFinalPaths(logger: Logger, work: string, final: string): () => void {
  const { info } = logger;
  logger.info = (text, options) =>
    info.call(logger, text.replaceAll(`/${basename(work)}/`, `/${basename(final)}/`), options);
  return () => void (logger.info = info);
}
