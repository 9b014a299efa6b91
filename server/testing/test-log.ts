import type { Log } from "../../src/base/ports.ts";

/** A log that keeps its lines for assertions. */
export class TestLog implements Log {
  readonly lines: string[] = [];

  info(line: string): void {
    this.lines.push(line);
  }

  warn(line: string): void {
    this.lines.push(`warning: ${line}`);
  }

  error(line: string, cause?: unknown): void {
    this.lines.push(
      `error: ${line}${cause === undefined ? "" : ` (${cause instanceof Error ? cause.message : JSON.stringify(cause)})`}`,
    );
  }
}
