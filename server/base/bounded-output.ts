// Writes lines to a reader that may have stopped reading, such as a collector of logs that hangs: unread lines must
// not fill the memory.

import type { TextOutput } from "./paint.ts";

/** More than a slow reader leaves unread, so it must have stopped. */
const mostWaitingBytes = 1024 * 1024;

/**
 * Returns a function that writes a line to `output`, or drops it if too much is unread. Once `output` is empty
 * again, it gets the text that `missing` makes of the number of dropped lines.
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
