// A line that says what takes so long, on a terminal only, and only when it does.

import type { Terminal } from "./terminal.ts";

// Before that nobody wonders.
const patience = 500;

/** Runs `work`; whoever waits for it at a terminal reads `what`, and finds no trace of it afterwards. */
export async function withProgress<T>(
  what: string,
  { stderr }: Terminal,
  work: () => Promise<T>,
): Promise<T> {
  if (stderr.isTTY !== true) return await work();
  let isShown = false;
  const timer = setTimeout(() => {
    isShown = true;
    stderr.write(`${what} …`);
  }, patience);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    if (isShown) stderr.write("\r\u001b[2K");
  }
}
