// The configurations of an application folder, for `seamline check`: their mistakes, and their
// build settings.

import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isAbsolute, relative, resolve } from "node:path";

import { type JsonText, readJson } from "../../src/base/json.ts";
import { nearest, type Problem, Problems } from "../../src/base/problem.ts";
import { segmentFileEnding } from "../../src/base/manifest.ts";
import { type Config, parseConfig, readConfig } from "../config/config.ts";
import { isConfiguration } from "../files/service-files.ts";
import { slashed } from "../files/sources.ts";
import type { Application } from "../compile/cut/application.ts";
import type { Modules } from "../compile/read/modules.ts";
import { isMissingVariable } from "../config/config-environment.ts";

export interface ConfigurationFile {
  /** Relative to the application folder. */
  readonly file: string;
  /** `undefined` if it has mistakes. */
  readonly config: Config | undefined;
  readonly text: JsonText | undefined;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/**
 * A configuration is a file that is named, `./seamline.json`, and every other `.json` in the
 * application folder or one folder below that has one of our modes, or nearly one and a `url`.
 * Other files belong to other tools.
 */
export async function findConfigurations(options: {
  readonly root: string;
  readonly files: readonly string[];
  readonly named: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}): Promise<readonly ConfigurationFile[]> {
  const { root, env } = options;
  const named = [
    ...options.named,
    ...(existsSync(resolve(root, "seamline.json")) ? ["seamline.json"] : []),
  ];
  const paths = new Set(named.map((file) => resolve(root, file)));
  for (const file of options.files) if (isNear(root, file)) paths.add(file);
  return await Promise.all(
    [...paths].map(async (file) => await readConfigurationFile(file, root, env)),
  );
}

function isNear(root: string, file: string): boolean {
  if (
    !file.endsWith(".json") ||
    file.endsWith(segmentFileEnding) ||
    slashed(relative(root, file)).split("/").length > 2
  )
    return false;
  const text = readFileSync(file, "utf8");
  // A broken file may belong to another tool.
  return !("broken" in readJson(text, file)) && isConfiguration(text);
}

async function readConfigurationFile(
  path: string,
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ConfigurationFile> {
  const name = relative(root, path);
  const file = name.startsWith("..") || isAbsolute(name) ? path : slashed(name);
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  let config: Config | undefined;
  let text: JsonText | undefined;
  try {
    config = await readConfig(path, { root, env });
  } catch (error) {
    if (!(error instanceof Problems)) throw error;
    // The service may run on another machine, with other variables in its environment.
    for (const problem of error.problems)
      (isMissingVariable(problem) ? warnings : problems).push(problem);
  }
  // An unreadable file has already been reported.
  const read = await readFile(path, "utf8").catch(() => undefined);
  if (read !== undefined) {
    const json = readJson(read, file);
    if (!("broken" in json)) {
      text = json;
      if (config === undefined && problems.length === 0)
        config = withoutVariables(json, file, root, env);
    }
  }
  return { file, config, text, problems, warnings };
}

/** The configuration as if every missing variable had a value that fits. */
function withoutVariables(
  json: JsonText,
  file: string,
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): Config | undefined {
  const fitting = (value: unknown, key: string): unknown => {
    if (Array.isArray(value)) {
      const items = value.map((item) => fitting(item, key)).filter((item) => item !== undefined);
      return items.length === 0 ? undefined : items;
    }
    if (typeof value === "string" && /\$\{[A-Za-z_]\w*\}/.test(value)) {
      const missing = [...value.matchAll(/\$\{([A-Za-z_]\w*)\}/g)].some(
        (match) => env[match[1] ?? ""] === undefined,
      );
      if (missing)
        return /^(?:url|gateway|repository|node)$/.test(key) ? "http://127.0.0.1" : undefined;
    }
    return value;
  };
  const entries = Object.entries(json.value as Record<string, unknown>).map(
    ([key, value]) => [key, fitting(value, key)] as const,
  );
  try {
    return parseConfig(
      Object.fromEntries(entries.filter(([, value]) => value !== undefined)),
      file,
      {
        root,
        env,
      },
    );
  } catch (error) {
    // Without the missing variables, nothing more can be checked.
    if (error instanceof Problems) return undefined;
    throw error;
  }
}

/** Segments and modules that a configuration names and the application lacks. */
export function configurationProblems(
  { file, config, text }: ConfigurationFile,
  application: Application,
): readonly Problem[] {
  if (config === undefined) return [];
  const problems: Problem[] = [];
  const refuse = (
    path: readonly (string | number)[],
    message: string,
    near: string | undefined,
  ): void => {
    const place = text?.placeOf(path.map(String)) ?? text?.placeOf([String(path[0])]);
    const hint = near === undefined ? {} : { hint: `Did you mean "${near}"?` };
    problems.push({ file, ...place, path: path.join("."), message, ...hint });
  };
  const segments = application.segments.map((segment) => segment.name);
  if ("segments" in config)
    for (const [at, name] of (config.segments ?? []).entries())
      if (!segments.includes(name))
        refuse(
          ["segments", at],
          `there is no segment "${name}"; there are ${segments.join(", ") || "none"}`,
          nearest(name, segments),
        );
  for (const [at, path] of (config.middleware ?? []).entries())
    if (isMissing(path, application))
      refuse(
        ["middleware", at],
        `there is no module ${shown(path, application.root)}`,
        nearModule(path, application),
      );
  for (const [name, path] of Object.entries(config.healthChecks ?? {}))
    if (isMissing(path, application))
      refuse(
        ["healthChecks", name],
        `there is no module ${shown(path, application.root)}`,
        nearModule(path, application),
      );
  return problems;
}

/** Doesn't look for packages: the service finds them on its own machine. */
function isMissing(path: string, { modules }: { readonly modules: Modules }): boolean {
  return isAbsolute(path) && modules.at(path) === undefined && !existsSync(path);
}

function shown(path: string, root: string): string {
  return `./${slashed(relative(root, path))}`;
}

function nearModule(path: string, { modules, root }: Application): string | undefined {
  const names = [...modules.ids].map((id) => shown(modules.get(id)?.file ?? id, root));
  return nearest(shown(path, root), names);
}
