// One JSON file, flat, with `mode` (§2.4, decisions §5). Whatever is wrong in it is told at once, with file and key.

import { readFile } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import * as v from "valibot";
import { nearest, type Problem, Problems } from "../src/problem.ts";
import { substitute } from "./config-environment.ts";
import { laterKeys, schemas } from "./config-schema.ts";
import type { Config, Mode } from "./config-types.ts";

export type * from "./config-types.ts";

export interface ConfigOptions {
  /** The application folder: paths in the configuration are relative to it. */
  readonly root: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Reads and checks a configuration: a path relative to the application folder, or the object itself. Throws {@link Problems}. */
export async function readConfig(source: string | object, options: ConfigOptions): Promise<Config> {
  if (typeof source !== "string") return parseConfig(source, "configuration", options);
  const path = resolve(options.root, source);
  const file = nameOf(path, options.root);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    const message = missing ? "there is no such file" : `it can't be read (${(error as NodeJS.ErrnoException).code})`;
    throw new Problems([{ file, message, hint: "Name the configuration with --config FILE, or with the variable SVC_CONFIG" }]);
  }
  return parseConfig(parseJson(text, file), file, options);
}

/** {@link readConfig} for a value that is there already; `file` is what problems name. */
export function parseConfig(value: unknown, file: string, { root, env = process.env }: ConfigOptions): Config {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Problems([{ file, message: `expected a JSON object, found ${kindOf(value)}` }]);
  const problems: Problem[] = [];
  const { $schema: _, ...given } = substitute(value as Record<string, unknown>, file, env, problems);
  const { mode } = given;
  if (!isMode(mode)) {
    const wanted = Object.keys(schemas).join(", ");
    const near = typeof mode === "string" ? nearest(mode, Object.keys(schemas)) : undefined;
    const message = mode === undefined ? "it is missing" : `expected one of ${wanted}, found ${shown(mode)}`;
    problems.push({ file, path: "mode", message, hint: near === undefined ? `Set 'mode' to one of ${wanted}` : `Did you mean '${near}'?` });
    throw new Problems(problems);
  }
  problems.push(...unknownKeys(given, mode, file));
  const result = v.safeParse(schemas[mode], given);
  for (const issue of result.issues ?? []) {
    const path = v.getDotPath(issue) ?? undefined;
    // A variable without a value has its own problem already.
    if (problems.some((one) => one.path === path && path !== undefined)) continue;
    // Required keys that aren't there: valibot reports them for the object, and so without the key's own message.
    const hint = path === "segments" ? "Give a list of segment names" : "Give an address such as http://127.0.0.1:3000";
    const place = path === undefined ? {} : { path };
    problems.push(
      issue.received === "undefined" ? { file, ...place, message: "it is missing", hint } : { file, ...place, message: issue.message },
    );
  }
  if (mode === "proxy" && "gateway" in given === "node" in given)
    problems.push({ file, path: "gateway", message: "a proxy needs one of 'gateway' and 'node', and not both" });
  if (problems.length > 0 || !result.success) throw new Problems(problems);
  return absolute(result.output, root);
}

function unknownKeys(given: Readonly<Record<string, unknown>>, mode: Mode, file: string): Problem[] {
  const known = Object.keys(schemas[mode].entries);
  const problems: Problem[] = [];
  for (const key of Object.keys(given)) {
    if (known.includes(key)) continue;
    const elsewhere = (Object.keys(schemas) as Mode[]).filter((other) => Object.hasOwn(schemas[other].entries, key));
    const later = laterKeys.get(key);
    const near = nearest(key, known);
    problems.push({
      file,
      path: key,
      message:
        later !== undefined
          ? `this version can't do it yet: ${later}`
          : elsewhere.length > 0
            ? `mode '${mode}' has no such key; it belongs to ${elsewhere.join(", ")}`
            : "unknown key",
      hint: later !== undefined ? "Leave it out" : near === undefined ? `Known here: ${known.join(", ")}` : `Did you mean '${near}'?`,
    });
  }
  return problems;
}

function isMode(value: unknown): value is Mode {
  return typeof value === "string" && Object.hasOwn(schemas, value);
}

// Paths become absolute here, once, so that nothing later depends on the working directory.
function absolute(config: Config, root: string): Config {
  const path = (one: string): string => (isAbsolute(one) ? one : join(root, one));
  // `middleware` and `healthChecks` may name packages as well as files.
  const module = (one: string): string => (one.startsWith("./") || one.startsWith("../") ? join(root, one) : one);
  const changed: Record<string, unknown> = { ...config };
  for (const key of ["source", "output", "cache"]) if (typeof changed[key] === "string") changed[key] = path(changed[key]);
  if (config.middleware !== undefined) changed["middleware"] = config.middleware.map(module);
  if (config.healthChecks !== undefined)
    changed["healthChecks"] = Object.fromEntries(Object.entries(config.healthChecks).map(([name, one]) => [name, module(one)]));
  return changed as unknown as Config;
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    const message = (error as Error).message;
    const at = / at position (\d+)/.exec(message)?.[1];
    const before = at === undefined ? undefined : text.slice(0, Number(at)).split("\n");
    throw new Problems([
      {
        file,
        ...(before === undefined ? {} : { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }),
        message: `it is no JSON: ${message.replace(/ in JSON at position .*| \(line .*/s, "")}`,
      },
    ]);
  }
}

function nameOf(path: string, root: string): string {
  const name = relative(root, path);
  return name.startsWith("..") || isAbsolute(name) ? path : name.split(sep).join("/");
}

function kindOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
