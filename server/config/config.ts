// Reads a configuration: one flat JSON object with a `mode`. All problems are reported at once,
// with file, line and key.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { type JsonText, readJson } from "../../src/base/json.ts";
import { type Problem, Problems } from "../../src/base/problem.ts";
import { checkConfig, kindOf, modeProblem } from "./config-check.ts";
import { substitute } from "./config-environment.ts";
import { defaultConfigFile } from "./config-file.ts";
import { isMode, schemas } from "./config-schema.ts";
import type { Config } from "./config-types.ts";
import { factsOf, type KeyFacts, schemasBelow, type SchemaNode } from "./schema-key.ts";

export type * from "./config-types.ts";

export interface ConfigOptions {
  /** The application folder: paths in the configuration are relative to it. */
  readonly root: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Another server listens for the service: that one has the certificate, if there is one. */
  readonly isMounted?: boolean | undefined;
}

/**
 * Reads and checks a configuration: a path relative to the application folder, or the object
 * itself. Throws {@link Problems}.
 */
export async function readConfig(source: string | object, options: ConfigOptions): Promise<Config> {
  if (typeof source !== "string") return parseConfig(source, "configuration", options);
  const path = resolve(options.root, source);
  const file = shownPath(path, options.root);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw new Problems([unreadable(error, source, file, options.root)]);
  }
  const json = readJson(text, file);
  if ("broken" in json) throw new Problems([json.broken]);
  return parseConfig(json.value, file, options, json);
}

/** {@link readConfig} for a value; problems name `file`, and get their lines from `text`. */
export function parseConfig(
  value: unknown,
  file: string,
  { root, env = process.env, isMounted = false }: ConfigOptions,
  text?: JsonText,
): Config {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Problems([{ file, message: `expected a JSON object, found ${kindOf(value)}` }]);
  const problems: Problem[] = [];
  const { $schema, ...values } = substitute(value as Record<string, unknown>, file, env, problems);
  if ($schema !== undefined && typeof $schema !== "string")
    problems.push({
      file,
      path: "$schema",
      message: `expected the path of a JSON Schema, found ${kindOf($schema)}`,
    });
  const config = isMode(values["mode"])
    ? checkConfig(values, values["mode"], { file, isMounted }, problems)
    : void problems.push(modeProblem(values["mode"], file));
  if (text !== undefined) problems.push(...text.problems);
  if (problems.length > 0 || config === undefined) {
    const located = problems.map((problem) => ({ ...locate(problem, text), ...problem }));
    throw new Problems(
      located.toSorted(
        (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
      ),
    );
  }
  return withAbsolutePaths(config, root);
}

function unreadable(error: unknown, source: string, file: string, root: string): Problem {
  const { code } = error as NodeJS.ErrnoException;
  const isMissing = code === "ENOENT";
  if (isMissing && !existsSync(root))
    return {
      file,
      message: `there is no application folder ${root}`,
      hint: "Name the right one with --root DIR",
    };
  const ways = "with --config FILE, or with the variable SEAMLINE_CONFIG";
  return {
    file,
    message: isMissing ? "there is no such file" : `it can't be read (${code})`,
    // Without a name on the command line there may be no configuration yet.
    hint:
      isMissing && source === defaultConfigFile
        ? `Write one, { "mode": "standalone", "url": "http://127.0.0.1:3000" } for everything in one process, or name another ${ways}`
        : `Name the configuration ${ways}`,
  };
}

/** The line and column of a problem's key, or of the object that misses it. */
function locate(problem: Problem, text: JsonText | undefined): Pick<Problem, "line" | "column"> {
  const path = problem.path?.split(".") ?? [];
  // The name of a health check may contain dots, so the longest name is tried as well.
  return (
    text?.placeOf(path) ??
    text?.placeOf([path[0] ?? "", path.slice(1).join(".")]) ??
    text?.placeOf(path.slice(0, 1)) ??
    {}
  );
}

// Here, once, so that nothing after this depends on the working directory.
function withAbsolutePaths(config: Config, root: string): Config {
  const resolved = (
    value: unknown,
    at: readonly SchemaNode[],
    path?: KeyFacts["path"],
  ): unknown => {
    const kind = path ?? at.map((schema) => factsOf(schema)?.path)[0];
    if (typeof value === "string") return kind === undefined ? value : absolute(value, kind, root);
    if (typeof value !== "object" || value === null) return value;
    const below = (name: string, member: unknown): unknown =>
      resolved(
        member,
        at.flatMap((schema) => schemasBelow(schema, name)),
        kind,
      );
    return Array.isArray(value)
      ? value.map((item, index) => below(String(index), item))
      : Object.fromEntries(
          Object.entries(value).map(([name, member]) => [name, below(name, member)]),
        );
  };
  return resolved(config, [schemas[config.mode]]) as Config;
}

function absolute(path: string, kind: "file" | "module", root: string): string {
  if (kind === "module") return /^\.\.?\//.test(path) ? join(root, path) : path;
  return isAbsolute(path) ? path : join(root, path);
}

/** The name of a configuration in problems: its file, if it has one. */
export function configName(file: string | undefined, root: string): string {
  return file === undefined ? "configuration" : shownPath(resolve(root, file), root);
}

function shownPath(path: string, root: string): string {
  const name = relative(root, path);
  return name.startsWith("..") || isAbsolute(name) ? path : name.split(sep).join("/");
}
