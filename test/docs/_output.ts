// Whether an output is what a page says.

/** Sentinel in a page for output that differs each time: in a line any text, alone on a line any further lines. */
const open = "…";

/** Undefined where the output is as expected; else both, line by line. */
export function difference(expected: readonly string[], actual: string): string | undefined {
  const lines = linesOf(actual);
  if (matches(expected, lines)) return undefined;
  const same = (index: number): boolean =>
    index < expected.length &&
    index < lines.length &&
    matches([expected[index] ?? ""], [lines[index] ?? ""]);
  const shown: string[] = [];
  for (let index = 0; index < Math.max(expected.length, lines.length); index++) {
    if (same(index)) shown.push(`    ${lines[index]}`);
    else {
      if (index < expected.length) shown.push(`  - ${expected[index]}`);
      if (index < lines.length) shown.push(`  + ${lines[index]}`);
    }
  }
  return shown.join("\n");
}

/** Lines of an output as a page would show them. */
export function linesOf(output: string): string[] {
  return output
    .replaceAll("\r", "")
    .trimEnd()
    .split("\n")
    .map((line) => line.trimEnd());
}

function matches(expected: readonly string[], lines: readonly string[]): boolean {
  const pattern = expected
    .map((line) =>
      line.trim() === open
        ? "(?:[^\\n]*\\n)*"
        : `${line.trimEnd().split(open).map(escape).join("[^\\n]*")}\\n`,
    )
    .join("");
  return new RegExp(`^${pattern}$`).test(lines.map((line) => `${line}\n`).join(""));
}

const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
