// tsconfig.json, as Vite reads it for every module in TypeScript. It would tell of a mistake there once for each, with a backtrace, and without the place.

import { existsSync, readFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";

import type { Problem } from "../../src/problem.ts";
import { frameOf, placeOf } from "../../src/split/mark.ts";
import { slashed } from "../sources.ts";
import type { Vite } from "./load-vite.ts";

export interface TsconfigReader {
  /** The application folder. */
  readonly root: string;
  /** What Vite's configuration names for all modules. */
  readonly named: string | undefined;
  readonly vite: Pick<Vite, "transformWithOxc">;
}

/** The tsconfig.json that Vite goes by for a file. */
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

/** Whether Vite asks for a tsconfig.json to make JavaScript of a file. */
export function isTyped(file: string): boolean {
  return /\.(?:[cm]?ts|[jt]sx)$/.test(file);
}

/** What is wrong with a tsconfig.json, or with what it extends and references. */
export async function tsconfigProblem(
  file: string,
  { root, vite }: Omit<TsconfigReader, "named">,
): Promise<Problem | undefined> {
  // Named, it is read anew: what Vite finds by itself it keeps.
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
  // Paths are relative to where the process was started.
  const wrong = resolve(path);
  const [, text = reason, line, column] = /^(.*) at line (\d+) column (\d+)$/.exec(reason) ?? [];
  if (line !== undefined)
    return { ...placed(root, wrong, Number(line), Number(column)), message: text, hint };
  const said = text === "Tsconfig not found" ? mentionOf(path, file, new Set()) : undefined;
  if (said === undefined) return { file: slashed(relative(root, wrong)), message: text, hint };
  const { line: at, column: from } = placeOf(readFileSync(said.file, "utf8"), said.offset);
  return {
    ...placed(root, said.file, at, from),
    message: `there is no tsconfig "${said.text}"`,
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

/** Where a tsconfig, or one that it names, names another. By its texts alone: it may hold comments. */
function mentionOf(wanted: string, file: string, seen: Set<string>): Mention | undefined {
  if (seen.has(file) || !existsSync(file)) return undefined;
  seen.add(file);
  const named = [...readFileSync(file, "utf8").matchAll(/"((?:[^"\\]|\\.)+)"/g)].map((found) => ({
    text: found[1] ?? "",
    offset: found.index,
  }));
  const own = named.find(({ text }) => text === wanted || isOf(text, file, resolve(wanted)));
  if (own !== undefined) return { file, ...own };
  for (const { text } of named)
    for (const path of filesOf(text, file)) {
      const found = mentionOf(wanted, path, seen);
      if (found !== undefined) return found;
    }
  return undefined;
}

function isOf(text: string, file: string, wanted: string): boolean {
  return filesOf(text, file).includes(wanted);
}

/** Files that a text may mean, if it means one. */
function filesOf(text: string, file: string): readonly string[] {
  if (!isAbsolute(text) && !/^\.{1,2}(?:\/|$)/.test(text)) return [];
  const path = resolve(dirname(file), text);
  return [path, `${path}.json`, join(path, "tsconfig.json")];
}
