// Finds mistakes in tsconfig.json. Vite reads it for every TypeScript module, and would report a
// mistake once for each, with a backtrace and without the place.

import { existsSync, readFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";

import type { Problem } from "../../../src/base/problem.ts";
import { frameOf, positionOf } from "../../../src/split/read/code-frame.ts";
import { slashed } from "../../files/sources.ts";
import type { Vite } from "../read/load-vite.ts";

export interface TsconfigReader {
  /** The application folder. */
  readonly root: string;
  /** The file that Vite's configuration sets for all modules. */
  readonly named: string | undefined;
  readonly vite: Pick<Vite, "transformWithOxc">;
}

/** The tsconfig.json that Vite uses for a file. */
export function tsconfigOf(
  file: string,
  { named }: Pick<TsconfigReader, "named">,
): string | undefined {
  if (named !== undefined) return named;
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "tsconfig.json"))) return join(folder, "tsconfig.json");
    if (folder === dirname(folder)) return undefined;
  }
}

/** Whether Vite needs a tsconfig.json to compile a file. */
export function isTyped(file: string): boolean {
  return /\.(?:[cm]?ts|[jt]sx)$/.test(file);
}

/** The problem of a tsconfig.json, or of one that it extends or references. */
export async function tsconfigProblem(
  file: string,
  { root, vite }: Omit<TsconfigReader, "named">,
): Promise<Problem | undefined> {
  // Naming the file bypasses Vite's cache.
  const failed: unknown = await vite
    .transformWithOxc("", join(dirname(file), "_.ts"), { tsconfig: file })
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  const [, path = "", reason = ""] =
    /Failed to load tsconfig '(.*?)': (.+)/.exec(failed instanceof Error ? failed.message : "") ??
    [];
  if (path === "") return undefined;
  const hint = "Vite reads it for every module in TypeScript, as the compiler does.";
  // Vite names paths relative to the working directory.
  const wrong = resolve(path);
  const [, text = reason, line, column] = /^(.*) at line (\d+) column (\d+)$/.exec(reason) ?? [];
  if (line !== undefined)
    return { ...placed(root, wrong, Number(line), Number(column)), message: text, hint };
  const mention = text === "Tsconfig not found" ? mentionOf(path, file, new Set()) : undefined;
  if (mention === undefined) return { file: slashed(relative(root, wrong)), message: text, hint };
  const { line: at, column: from } = positionOf(readFileSync(mention.file, "utf8"), mention.offset);
  return {
    ...placed(root, mention.file, at, from),
    message: `there is no tsconfig "${mention.text}"`,
    hint,
  };
}

function placed(
  root: string,
  file: string,
  line: number,
  column: number,
): Pick<Problem, "file" | "line" | "column" | "frame"> {
  return {
    file: slashed(relative(root, file)),
    line,
    column,
    frame: frameOf(readFileSync(file, "utf8"), line, column),
  };
}

interface Mention {
  readonly file: string;
  readonly offset: number;
  readonly text: string;
}

/**
 * The position in a tsconfig where it names another one. Searches the text, which may have
 * comments.
 */
function mentionOf(target: string, file: string, seen: Set<string>): Mention | undefined {
  if (seen.has(file) || !existsSync(file)) return undefined;
  seen.add(file);
  const named = [...readFileSync(file, "utf8").matchAll(/"((?:[^"\\]|\\.)+)"/g)].map((found) => ({
    text: found[1] ?? "",
    offset: found.index,
  }));
  const own = named.find(({ text }) => text === target || isOf(text, file, resolve(target)));
  if (own !== undefined) return { file, ...own };
  for (const { text } of named)
    for (const path of filesOf(text, file)) {
      const found = mentionOf(target, path, seen);
      if (found !== undefined) return found;
    }
  return undefined;
}

function isOf(text: string, file: string, target: string): boolean {
  return filesOf(text, file).includes(target);
}

/** Files that a text may mean, if it means one. */
function filesOf(text: string, file: string): readonly string[] {
  if (!isAbsolute(text) && !/^\.{1,2}(?:\/|$)/.test(text)) return [];
  const path = resolve(dirname(file), text);
  return [path, `${path}.json`, join(path, "tsconfig.json")];
}
