// A line about work that takes long, on a terminal only.

import type { Terminal } from "../base/terminal.ts";
import { noticeableMs } from "./times.ts";

/** Runs `work`; if it takes noticeably long, a terminal shows `label` until it is done. */
export async function withProgress<T>(
  label: string,
  { stderr }: Terminal,
  work: () => Promise<T>,
): Promise<T> {
  if (stderr.isTTY !== true) return await work();
  let isShown = false;
  const timer = setTimeout(() => {
    isShown = true;
    stderr.write(`${label} …`);
  }, noticeableMs);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    if (isShown) stderr.write("\r\u001b[2K");
  }
}
