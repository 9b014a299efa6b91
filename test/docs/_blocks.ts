// Reads a page of the guide: its fenced blocks, and the action that each asks for.
//
//   `src/shop/stock.ts`    the line above a block names its file: it is written, and a later block with the
//   ```ts                  same path replaces it. Every renderer shows the line; none shows a fence's words.
//
//   ```sh run              commands, and below each the output that it has to have
//   ```js test             a module that is run beside the services of the page; `assert` is there,
//                          and `openPage` for what a browser sees
//   ```ini shown           only shown: for what runs on another machine
//
// A block may stand in a list, and in an HTML comment where showing it would bore the reader.

/** One fenced block of a page. */
export interface Block {
  /** `docs/guide/http.md:42`: the line of its fence. */
  readonly at: string;
  readonly line: number;
  readonly language: string;
  readonly kind: "file" | "run" | "test" | "shown";
  /** Of a file; empty for other kinds. */
  readonly path: string;
  readonly text: string;
}

/** A mistake in a block of a page: its action is unknown or missing. */
export class BlockError extends Error {
  override readonly name: string = "BlockError";
}

/** Words behind the language of a block that isn't a file. */
const kinds = ["run", "test", "shown"] as const;

/** Reads a page. A block that says nothing of what it is for is an error: no example goes untested by accident. */
export function blocksOf(page: string, text: string): Block[] {
  const blocks: Block[] = [];
  const lines = text.split("\n");
  for (let index = 0; index < lines.length; index++) {
    const fence = /^( *)(`{3,})(\w*) ?(.*)$/.exec(lines[index] ?? "");
    if (fence === null) {
      if (/`{3}|~{3}/.test(lines[index] ?? ""))
        throw new BlockError(
          `${page}:${index + 1}: a fence stands at the beginning of its line, in backticks`,
        );
      continue;
    }
    const [, indent = "", ticks = "", language = "", label = ""] = fence;
    const line = index + 1;
    const at = `${page}:${line}`;
    const above = lines[index - 1] ?? "";
    const beforeIt = lines[index - 2] ?? "";
    const end = lines.indexOf(indent + ticks, index + 1);
    if (end < 0) throw new BlockError(`${at}: the block has no end`);
    // In a list, a block is as far right as its item.
    const content = lines
      .slice(index + 1, end)
      .map((one) => (one.startsWith(indent) ? one.slice(indent.length) : one))
      .join("\n");
    blocks.push({
      at,
      line,
      language,
      text: `${content}\n`,
      ...(label.trim() === ""
        ? { kind: "file", path: pathOf(above, beforeIt, indent, at) }
        : { kind: kindOf(label.trim(), language, above, at), path: "" }),
    });
    index = end;
  }
  return blocks;
}

/** The line above a block that names its file. */
const caption = /^( *)`([^`]+)`$/;

function pathOf(above: string, beforeIt: string, indent: string, at: string): string {
  const [, indentOfPath, path] = caption.exec(above) ?? [];
  if (path === undefined)
    throw new BlockError(
      `${at}: a block has to say what it is for: run, test or shown behind its language, or its file in the line above it (such as \`src/main.ts\`)`,
    );
  if (indentOfPath !== indent)
    throw new BlockError(`${at}: '${path}' isn't indented as its block is`);
  // To a renderer it would be the end of a paragraph.
  if (!/^\s*(?:<!--.*)?$/.test(beforeIt))
    throw new BlockError(`${at}: the line above '${path}' isn't empty`);
  if (!/^[\w.@-]+(?:\/[\w.@-]+)*$/.test(path) || path.split("/").includes(".."))
    throw new BlockError(`${at}: '${path}' isn't a path in the application`);
  return path;
}

function kindOf(label: string, language: string, above: string, at: string): Block["kind"] {
  const kind = kinds.find((word) => word === label);
  if (kind === undefined)
    throw new BlockError(
      `${at}: '${label}' isn't run, test or shown (the name of a file stands in the line above its block)`,
    );
  if (kind === "run" && language !== "sh")
    throw new BlockError(`${at}: only sh is run as commands, this is ${language}`);
  if (kind === "test" && language !== "js")
    throw new BlockError(`${at}: only js is run as a test, this is ${language}`);
  if (kind !== "shown" && caption.test(above))
    throw new BlockError(`${at}: this is ${kind}, so ${above.trim()} is never written`);
  return kind;
}

/** A piece of a `sh run` block: commands, and the output that has to follow. */
export interface Step {
  /** Line of the page on which the commands begin. */
  readonly line: number;
  /** Line of the page behind the commands, where the expected output begins. */
  readonly outputLine: number;
  readonly command: string;
  /** A service: it goes on running until the end of the page, or `kill %1`. */
  readonly service: boolean;
  /** Without a written output, the commands only have to succeed. */
  readonly expected: readonly string[] | undefined;
}

/** Reads the commands of a `sh run` block. A comment at the beginning, or behind an empty line, is a comment. */
export function stepsOf(block: Block): Step[] {
  const steps: Step[] = [];
  const lines = block.text.trimEnd().split("\n");
  let index = 0;
  while (index < lines.length) {
    const first = lines[index] ?? "";
    if (first.trim() === "" || isComment(first)) {
      index++;
      continue;
    }
    const begin = index;
    const service = isService(first);
    index++;
    if (!service && !isKill(first))
      while (index < lines.length && goesOn(lines, begin, index)) index++;
    const behind = index;
    while (index < lines.length && isComment(lines[index] ?? "")) index++;
    steps.push({
      line: block.line + 1 + begin,
      outputLine: block.line + 1 + behind,
      command: lines.slice(begin, behind).join("\n").replace(/ &$/, ""),
      service,
      expected:
        behind === index
          ? undefined
          : lines.slice(behind, index).map((line) => line.replace(/^# ?/, "")),
    });
  }
  return steps;
}

const isService = (line: string): boolean => line.endsWith(" &");
/** `kill %1 %2`: of services that the page has started. */
export const isKill = (line: string): boolean => /^kill(?: %\d+)+$/.test(line);
const isComment = (line: string): boolean => /^#(?: |$)/.test(line);

/** Whether a line belongs to the commands that began before it: it is no output and no service, or a quotation is open. */
function goesOn(lines: readonly string[], begin: number, index: number): boolean {
  const before = lines.slice(begin, index).join("\n");
  if ((before.match(/'/g)?.length ?? 0) % 2 === 1 || before.endsWith("\\")) return true;
  const line = lines[index] ?? "";
  return line.trim() !== "" && !isComment(line) && !isService(line) && !isKill(line);
}
