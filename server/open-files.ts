// How many files, and so connections, the system lets this process open.

import { readFile } from "node:fs/promises";
import type { Mode } from "./config-types.ts";

interface Report {
  readonly userLimits?: { readonly open_files?: { readonly soft?: number | string } };
}

/** The soft limit, which Node has raised to the hard one at its start; `undefined` where the system has none, or doesn't say. */
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

/** Where there is no /proc: macOS. Slower, and without its network part, which would look up names. */
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

/** What to tell when connections run out of files before they reach their limit, or `undefined`. */
export function openFilesWarning(
  files: number | undefined,
  mode: Mode,
  connections: number,
): string | undefined {
  const perConnection = mode === "gateway" || mode === "proxy" ? 2 : 1;
  if (files === undefined || files >= connections * perConnection) return undefined;
  const each =
    perConnection === 1 ? "" : ", each of them two with the connection on which a call goes on";
  const fitting = Math.floor(files / perConnection);
  return `this process may open ${files} files, and limits.connections is ${connections}${each}: raise the limit (ulimit -n, LimitNOFILE), or set limits.connections to ${fitting} or less`;
}
