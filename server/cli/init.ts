// `seamline init`: makes a new application from a template, without downloads or questions.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { type Command, Option } from "commander";
import { packageFolder } from "../base/package-folder.ts";
import type { Terminal } from "../base/terminal.ts";
import { findCompiler, findPackage } from "../types/compiler.ts";
import { UsageError } from "./failure.ts";

const placeholder = "app-name";

interface InitOptions {
  readonly template?: "vanilla" | "react" | "vue" | "svelte" | "solid" | "preact";
  readonly install?: true;
  readonly seamline?: string;
}

export function addInit(program: Command, terminal: Terminal): void {
  program
    .command("init")
    .description("make a new application in a folder")
    .argument("<folder>", "where: a new folder, or . for this one")
    .addOption(
      new Option("-t, --template <name>", "the template (default: vanilla)").choices([
        "vanilla",
        "react",
        "vue",
        "svelte",
        "solid",
        "preact",
      ]),
    )
    .option("--install", "install its packages as well")
    .option("--seamline <spec>", "another seamline than this version: a tarball, a folder, a tag")
    .action(async (folder: string, options: InitOptions) => await init(folder, options, terminal));
}

/** Makes the application, lists its files, and prints the next commands. */
async function init(folder: string, options: InitOptions, terminal: Terminal): Promise<void> {
  if (folder === "")
    throw new UsageError("the folder name is empty: give a name, or . for the current folder");
  const root = resolve(folder);
  await refuseUsed(root, folder);
  await makeFolder(root, folder);
  const template = options.template ?? "vanilla";
  await fill(root, template, await seamlineSpec(options.seamline, root)).catch(
    (error: NodeJS.ErrnoException) => {
      if (!/^(?:EACCES|EPERM|EROFS|ENOSPC|EDQUOT)$/.test(error.code ?? "")) throw error;
      throw new Error(`${folder} isn't writable (${error.code})\n  → ${elsewhere}`, {
        cause: error,
      });
    },
  );

  const manager =
    /^(?:pnpm|yarn|bun)(?=\/)/.exec(terminal.env["npm_config_user_agent"] ?? "")?.[0] ?? "npm";
  const place = relative(".", root);
  terminal.stdout.write(
    `Made ${place === "" ? "." : place} (${template}):\n${listed(await filesIn(root))}\n`,
  );
  if (options.install) await install(manager, root);
  const next = [
    ...(place === "" ? [] : [`cd ${quoted(place)}`]),
    ...(options.install ? [] : [`${manager} install`]),
    `${manager} run dev`,
  ];
  terminal.stdout.write(`Next:\n${listed(next)}`);
  if (options.template === undefined)
    terminal.stdout.write("\nOther templates: --template react, vue, svelte, solid or preact\n");
}

const elsewhere = "Name another folder, or make this one writable";

// One folder after the other: Node's recursive mkdir never ends where the system reports
// contradictions (/proc).
async function makeFolder(path: string, given: string): Promise<void> {
  if (existsSync(path)) {
    if (statSync(path).isDirectory()) return;
    throw new UsageError(`${given} can't be created: ${path} is a file\n  → Name another folder`);
  }
  await makeFolder(dirname(path), given);
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      `${given} can't be created: the system refuses to create ${path} (${error.code})\n  → ${elsewhere}`,
      { cause: error },
    );
  });
}

async function fill(root: string, template: string, seamline: string): Promise<void> {
  // `base` has what all templates share.
  for (const layer of ["base", template])
    await cp(join(packageFolder, "templates", layer), root, { recursive: true });
  // npm doesn't pack files with this name, and reads them as its own.
  await rename(join(root, "gitignore"), join(root, ".gitignore"));
  const dependencies = await fillPackage(root, seamline);
  const readme = join(root, "README.md");
  await writeFile(
    readme,
    (await readFile(readme, "utf8")).replace(placeholder, nameFor(root, dependencies)),
  );
}

const listed = (lines: readonly string[]): string => lines.map((line) => `  ${line}\n`).join("");
const quoted = (path: string): string => (/^[\w./\\@-]+$/.test(path) ? path : JSON.stringify(path));

/** Only an empty folder is used, so that no file is overwritten or mixed with others. */
async function refuseUsed(root: string, given: string): Promise<void> {
  if (!existsSync(root)) return;
  if (!statSync(root).isDirectory()) throw new UsageError(`${given} is a file: name a folder`);
  const found = (await readdir(root)).filter((name) => name !== ".git").toSorted();
  if (found.length === 0) return;
  const config = found.find((name) => /^vite\.config\.[cm]?[jt]s$/.test(name));
  if (config !== undefined || (found.includes("package.json") && (await usesVite(root))))
    throw new UsageError(
      `${given} already has a Vite application, and 'seamline init' makes new ones. ${existing(config ?? "vite.config.ts", await compilerFor(root))}`,
    );
  const shown = found.slice(0, 20);
  const more = found.length > shown.length ? `  and ${found.length - shown.length} more\n` : "";
  throw new UsageError(
    `${given} is not empty: name a new folder, or one with nothing but .git. It has\n${listed(shown)}${more}`.trimEnd(),
  );
}

async function usesVite(root: string): Promise<boolean> {
  const text = await readFile(join(root, "package.json"), "utf8");
  return /"vite"\s*:/.test(text);
}

/** The package whose compiler reads the types of parameters, if the application has none that can. */
async function compilerFor(root: string): Promise<string | undefined> {
  const file = join(root, "package.json");
  if ("path" in findCompiler(root, [file])) return undefined;
  const installed = findPackage("typescript", root, [file])?.version;
  const text = existsSync(file) ? await readFile(file, "utf8") : "";
  // Before the first install, the version that package.json asks for decides.
  const version = installed ?? /"typescript"\s*:\s*"\D*(\d+)/.exec(text)?.[1] ?? "";
  if (Number.parseInt(version, 10) >= 7) return "@typescript/typescript6";
  return "typescript@6";
}

const existing = (config: string, compiler: string | undefined): string => {
  const segment = "segments/server.segment.json";
  const line = (file: string, text: string): string =>
    `  ${file.padEnd(segment.length)}    ${text}`;
  return `To this one, add by hand:

  npm install seamline
${compiler === undefined ? "" : `  npm install --save-dev ${compiler}\n`}
${line(config, 'import { seamline } from "seamline/vite";')}
${line("", "plugins: [seamline()], besides the existing ones")}

${line(segment, '{ "./path/in/src": { "nameOfFunction": { "access": "public" } } }')}

The guide has a page about it: docs/guide/vite.md`;
};

/**
 * Sets the name of the application and the versions of its packages: those that this package is
 * tested with.
 */
async function fillPackage(root: string, seamline: string): Promise<readonly string[]> {
  const { devDependencies: tested } = JSON.parse(
    await readFile(join(packageFolder, "package.json"), "utf8"),
  ) as OwnPackage;
  const file = join(root, "package.json");
  const given = JSON.parse(await readFile(file, "utf8")) as Record<
    "dependencies" | "devDependencies",
    Record<string, string>
  >;
  const names: string[] = [];
  for (const kind of ["dependencies", "devDependencies"] as const) {
    for (const name of Object.keys(given[kind])) {
      const version = name === "seamline" ? seamline : tested[name];
      if (version === undefined)
        throw new Error(`The template needs ${name}, but this package has no version of it`);
      given[kind][name] = version;
      names.push(name);
    }
  }
  await writeFile(
    file,
    `${JSON.stringify({ ...given, name: nameFor(root, names) }, undefined, 2)}\n`,
  );
  return names;
}

interface OwnPackage {
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** The version of "seamline" in the application's package.json: this one, or the requested one. */
async function seamlineSpec(given: string | undefined, root: string): Promise<string> {
  if (given === undefined) {
    const { version } = JSON.parse(
      await readFile(join(packageFolder, "package.json"), "utf8"),
    ) as OwnPackage;
    return `^${version}`;
  }
  // A path is relative to the working directory; in package.json it is relative to that file.
  return /[\\/]|\.tgz$/.test(given) && existsSync(given)
    ? `file:${relative(root, resolve(given)).split(sep).join("/")}`
    : given;
}

// npm's limit.
const maxNameLength = 214;

/**
 * The folder's name, made valid for npm, and never that of a package that the application installs.
 */
export function nameFor(root: string, dependencies: readonly string[]): string {
  const name = basename(root)
    // Separates accents from their letters.
    .normalize("NFKD")
    .replaceAll(/\p{M}+/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9._~-]+/g, "-")
    .replaceAll(/^[-._~]+/g, "")
    .slice(0, maxNameLength)
    .replaceAll(/[-._~]+$/g, "");
  if (name === "") return "seamline-app";
  return name === "node_modules" || name === "favicon.ico" || dependencies.includes(name)
    ? `${name}-app`
    : name;
}

async function filesIn(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .filter((file) => !file.startsWith(".git/"))
    .toSorted();
}

async function install(manager: string, cwd: string): Promise<void> {
  const words = manager === "npm" ? ["install", "--no-audit", "--no-fund"] : ["install"];
  // On Windows, package managers are scripts, which only a shell can start.
  const child = spawn(manager, words, {
    cwd,
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0)
    throw new Error(
      `'${manager} install' failed: fix the problem above, and run it again in ${cwd}`,
    );
}
