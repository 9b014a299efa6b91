// Lines for a reader that may have stopped reading, such as a collector of logs that hangs: what waits
// for it must not fill the memory.

import type { TextOutput } from "./paint.ts";

/** More than a reader that is only slow leaves unread. */
const mostWaitingBytes = 1024 * 1024;

/**
 * Returns what writes a line to `output`, unless it has too much to write. Once it is empty again, it
 * gets what `missing` says about the lines that were dropped.
 */
export function boundedOutput(
  output: TextOutput,
  missing: (count: number) => string,
): (line: string) => void {
  let dropped = 0;
  const drained = (): void => {
    output.write(missing(dropped));
    dropped = 0;
  };
  return (line) => {
    if ((output.writableLength ?? 0) < mostWaitingBytes) output.write(line);
    else if (++dropped === 1) output.once?.("drain", drained);
  };
}
