// The log line of a repository about pages and nodes that still run the build before its own.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../../src/base/ports.ts";
import { Problems } from "../../src/base/problem.ts";
import { byLevel } from "../contract/difference.ts";
import { compareContracts, verdictText } from "../contract/compare.ts";
import { parseContract } from "../contract/contract.ts";
import { earlierFolder } from "../files/kept-builds.ts";
import { manifestFiles } from "../files/sources.ts";

/** More changes are only counted. */
const maxLines = 20;

/** Warns of changes that callers of the earlier build notice. Says nothing if one of the builds has no contract. */
export async function warnOfChanges(server: string, revision: string, log: Log): Promise<void> {
  const files = [earlierFolder(server, revision), server].map((folder) =>
    join(folder, manifestFiles.contract),
  );
  const [before, after] = await Promise.all(files.map(textOf));
  if (before === undefined || after === undefined || before === after) return;
  try {
    const verdicts = compareContracts(
      parseContract(before, files[0]!),
      parseContract(after, files[1]!),
    );
    const noticed = verdicts.filter(({ level }) => level !== "fine").toSorted(byLevel);
    for (const verdict of noticed.slice(0, maxLines))
      log.warn(
        `${verdict.level} since revision ${revision}: ${verdictText(verdict)}. ${verdict.advice}`,
      );
    if (noticed.length > maxLines)
      log.warn(`and ${noticed.length - maxLines} more: see seamline check --against`);
  } catch (error) {
    // A contract of another release is no reason not to start.
    if (!(error instanceof Problems)) throw error;
    log.warn(`can't compare this build with revision ${revision}: ${error.message}`);
  }
}

async function textOf(path: string): Promise<string | undefined> {
  return await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}
