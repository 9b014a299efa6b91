// One JSON file, flat, with `mode` (§2.4, decisions §5). Whatever is wrong in it is told at once, with file and key.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import * as v from "valibot";
import { type JsonText, readJson } from "../src/json.ts";
import { nearest, type Problem, Problems } from "../src/problem.ts";
import { schemeProblem } from "./config-address.ts";
import { substitute } from "./config-environment.ts";
import { limitNames, schemas } from "./config-schema.ts";
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
    const message = missing
      ? "there is no such file"
      : `it can't be read (${(error as NodeJS.ErrnoException).code})`;
    if (missing && !existsSync(options.root))
      throw new Problems([
        {
          file,
          message: `there is no application folder ${options.root}`,
          hint: "Name the right one with --root DIR",
        },
      ]);
    const another = "with --config FILE, or with the variable SVC_CONFIG";
    // Nobody has named this one: it may be that there is none yet.
    const first = `Write one, { "mode": "standalone", "url": "http://127.0.0.1:3000" } for everything in one process, or name another ${another}`;
    const hint =
      missing && source === "./seamline.json" ? first : `Name the configuration ${another}`;
    throw new Problems([{ file, message, hint }]);
  }
  const json = readJson(text, file);
  if ("broken" in json) throw new Problems([json.broken]);
  return parseConfig(json.value, file, options, json);
}

/** {@link readConfig} for a value that is there already; `file` is what problems name, `text` tells them their lines. */
export function parseConfig(
  value: unknown,
  file: string,
  { root, env = process.env }: ConfigOptions,
  text?: JsonText,
): Config {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Problems([{ file, message: `expected a JSON object, found ${kindOf(value)}` }]);
  const problems: Problem[] = [];
  const { $schema, ...given } = substitute(value as Record<string, unknown>, file, env, problems);
  if ($schema !== undefined && typeof $schema !== "string")
    problems.push({
      file,
      path: "$schema",
      message: `expected the path of a JSON Schema, found ${kindOf($schema)}`,
    });
  const config = isMode(given["mode"])
    ? check(given, given["mode"], file, problems)
    : void problems.push(modeProblem(given["mode"], file));
  if (text !== undefined) problems.push(...text.problems);
  if (problems.length > 0 || config === undefined) {
    const placed = problems.map((one) => ({ ...placeOf(one, text), ...one }));
    throw new Problems(
      placed.toSorted(
        (one, other) =>
          (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0),
      ),
    );
  }
  return absolute(config, root);
}

/** The configuration, its defaults filled in; what is wrong goes to `problems`. */
function check(
  given: Record<string, unknown>,
  mode: Mode,
  file: string,
  problems: Problem[],
): Config | undefined {
  problems.push(...unknownKeys(given, mode, file));
  // For valibot a list is an object as well.
  for (const path of ["healthChecks", "limits", "tls", "layout"])
    if (Array.isArray(given[path]))
      problems.push({ file, path, message: "expected an object, found an array" });
  problems.push(...lostNames(given, file));
  const result = v.safeParse(schemas[mode], given);
  for (const issue of result.issues ?? []) {
    const path = v.getDotPath(issue) ?? undefined;
    // A variable without a value has its own problem already.
    if (problems.some((one) => one.path === path && path !== undefined)) continue;
    problems.push({ file, ...(path !== undefined && { path }), ...wordsOf(issue, path ?? "") });
  }
  if (mode === "proxy" && "gateway" in given === "node" in given)
    problems.push({
      file,
      path: "gateway",
      message: "a proxy needs one of 'gateway' and 'node', and not both",
    });
  const { url, tls } = given;
  if (typeof url === "string" && !problems.some((one) => one.path === "url")) {
    const problem = schemeProblem(url, tls !== undefined);
    if (problem !== undefined) problems.push({ file, path: "url", ...problem });
  }
  return result.success ? result.output : undefined;
}

// Required keys that aren't there: valibot reports them for the object, and so without the key's own message.
const missing: Readonly<Record<string, string>> = {
  segments: "Give a list of segment names",
  "tls.cert": "Give the path of the certificate, a PEM file",
  "tls.key": "Give the path of the certificate's private key, a PEM file",
};

function wordsOf(issue: v.BaseIssue<unknown>, path: string): Pick<Problem, "message" | "hint"> {
  if (issue.received === "undefined")
    return {
      message: "it is missing",
      hint: missing[path] ?? "Give an address such as http://127.0.0.1:3000",
    };
  if (issue.expected === "never") {
    const [outer, name] = path.split(/\.(.*)/s) as ["limits" | "tls", string];
    const known = outer === "limits" ? limitNames : ["cert", "key", "passphrase", "ca"];
    const near = nearest(name, known);
    return {
      message: `unknown ${outer === "limits" ? "limit" : "key"}; known: ${known.join(", ")}`,
      ...(near !== undefined && { hint: `Did you mean '${near}'?` }),
    };
  }
  const { input, message } = issue;
  // Secrets stay out of messages, which end in logs.
  const isShown =
    message.startsWith("expected") &&
    !message.includes("found") &&
    !/trustKey|passphrase/.test(path);
  const near =
    issue.type === "picklist" && typeof input === "string"
      ? nearest(input, ["info", "warn", "error", "none"])
      : undefined;
  return {
    message: isShown
      ? `${message}, found ${typeof input === "object" ? kindOf(input) : shown(input)}`
      : message,
    ...(near !== undefined && { hint: `Did you mean '${near}'?` }),
  };
}

function modeProblem(mode: unknown, file: string): Problem {
  const wanted = Object.keys(schemas).join(", ");
  const near = typeof mode === "string" ? nearest(mode, Object.keys(schemas)) : undefined;
  const message =
    mode === undefined ? "it is missing" : `expected one of ${wanted}, found ${shown(mode)}`;
  return {
    file,
    path: "mode",
    message,
    hint: near === undefined ? `Set 'mode' to one of ${wanted}` : `Did you mean '${near}'?`,
  };
}

/** Where the key of a problem stands; of a key that is missing, the object that should have it. */
function placeOf(problem: Problem, text: JsonText | undefined): Pick<Problem, "line" | "column"> {
  const path = problem.path?.split(".") ?? [];
  // A name of a health check may have dots itself: what stands there is asked for with the longest name.
  return (
    text?.placeOf(path) ??
    text?.placeOf([path[0] ?? "", path.slice(1).join(".")]) ??
    text?.placeOf(path.slice(0, 1)) ??
    {}
  );
}

function unknownKeys(
  given: Readonly<Record<string, unknown>>,
  mode: Mode,
  file: string,
): Problem[] {
  const known = Object.keys(schemas[mode].entries);
  return Object.keys(given)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const elsewhere = (Object.keys(schemas) as Mode[]).filter((other) =>
        Object.hasOwn(schemas[other].entries, key),
      );
      const near = nearest(key, known);
      return {
        file,
        path: key,
        message:
          elsewhere.length > 0
            ? `mode '${mode}' has no such key; it belongs to ${elsewhere.join(", ")}`
            : "unknown key",
        hint:
          hintFor(key) ??
          (near === undefined ? `Known here: ${known.join(", ")}` : `Did you mean '${near}'?`),
      };
    });
}

/** Names that valibot leaves out of what it gives, without a word. */
function lostNames(given: Readonly<Record<string, unknown>>, file: string): Problem[] {
  return Object.entries(given).flatMap(([outer, value]) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
    return ["__proto__", "constructor", "prototype"]
      .filter((name) => Object.hasOwn(value, name))
      .map((name) => ({
        file,
        path: `${outer}.${name}`,
        message: `"${name}" can't be a name here`,
        hint: "Choose another one.",
      }));
  });
}

/** What other servers call it. */
function hintFor(key: string): string | undefined {
  return /^(?:port|host|hostname|address)$/.test(key) ? "Host and port stand in 'url'." : undefined;
}

function isMode(value: unknown): value is Mode {
  return typeof value === "string" && Object.hasOwn(schemas, value);
}

// Paths become absolute here, once, so that nothing later depends on the working directory.
function absolute(config: Config, root: string): Config {
  const path = (one: string): string => (isAbsolute(one) ? one : join(root, one));
  // `middleware` and `healthChecks` may name packages as well as files.
  const module = (one: string): string =>
    one.startsWith("./") || one.startsWith("../") ? join(root, one) : one;
  const changed: Record<string, unknown> = { ...config };
  for (const key of ["source", "output", "cache"])
    if (typeof changed[key] === "string") changed[key] = path(changed[key]);
  if (config.tls !== undefined) {
    const { cert, key, ca, ...others } = config.tls;
    changed["tls"] = {
      ...others,
      cert: path(cert),
      key: path(key),
      ...(ca !== undefined && { ca: path(ca) }),
    };
  }
  if (config.middleware !== undefined) changed["middleware"] = config.middleware.map(module);
  if (config.healthChecks !== undefined)
    changed["healthChecks"] = Object.fromEntries(
      Object.entries(config.healthChecks).map(([name, one]) => [name, module(one)]),
    );
  return changed as unknown as Config;
}

function nameOf(path: string, root: string): string {
  const name = relative(root, path);
  return name.startsWith("..") || isAbsolute(name) ? path : name.split(sep).join("/");
}

function kindOf(value: unknown): string {
  return value === null
    ? "null"
    : Array.isArray(value)
      ? "an array"
      : typeof value === "object"
        ? "an object"
        : `a ${typeof value}`;
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
