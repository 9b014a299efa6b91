// How many files, and therefore connections, this process may open.

import { readFile } from "node:fs/promises";

interface Report {
  readonly userLimits?: { readonly open_files?: { readonly soft?: number | string } };
}

/**
 * The soft limit, which Node raises to the hard limit when it starts; `undefined` if it is unknown.
 */
export async function readOpenFilesLimit(
  readLimits: () => Promise<string> = async () => await readFile("/proc/self/limits", "utf8"),
  readReport: () => Report = ownReport,
): Promise<number | undefined> {
  const text = await readLimits().catch(() => undefined);
  const soft =
    text === undefined
      ? readReport().userLimits?.open_files?.soft
      : /^Max open files\s+(\S+)/m.exec(text)?.[1];
  if (soft === "unlimited") return Infinity;
  return soft === undefined || !(Number(soft) > 0) ? undefined : Number(soft);
}

/**
 * For macOS, which has no /proc. Slower; the network part is left out, as it would resolve names.
 */
function ownReport(): Report {
  const { report } = process;
  if (report === undefined || process.platform === "win32") return {};
  const { excludeNetwork } = report as { excludeNetwork?: boolean };
  Object.assign(report, { excludeNetwork: true });
  try {
    return report.getReport();
  } finally {
    Object.assign(report, { excludeNetwork });
  }
}

/** Room for files other than connections, such as the log and listening sockets: some 20. */
const ownFiles = 32;

/** A warning if files run out before the limit of connections is reached. */
export function openFilesWarning(
  files: number | undefined,
  connections: number,
): string | undefined {
  // Don't warn if only the last few connections don't fit.
  if (files === undefined || files >= connections) return undefined;
  const needed = connections + ownFiles;
  const fitting = Math.max(1, files - ownFiles);
  return `this process may open ${files} files, and limits.maxConnections is ${connections}: raise the limit to ${needed} (ulimit -n, LimitNOFILE), or set limits.maxConnections to ${fitting} or less`;
}
