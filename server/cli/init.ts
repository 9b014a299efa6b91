// `seamline init`: a new application out of a template. Nothing is fetched, and nothing is asked.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { packageFolder } from "../package-folder.ts";
import type { InitOptions } from "./program.ts";
import { type Terminal, UsageError } from "./terminal.ts";

const placeholder = "app-name";

/** Makes the application, and says what came of it and how it goes on. */
export async function init(
  folder: string,
  options: InitOptions,
  terminal: Terminal,
): Promise<void> {
  if (folder === "")
    throw new UsageError("the folder has no name: name one, or . for the one that you are in");
  const root = resolve(folder);
  await refuseUsed(root, folder);
  await makeFolder(root, folder);
  const template = options.template ?? "vanilla";
  await fill(root, template, await seamlineSpec(options.seamline, root)).catch(
    (error: NodeJS.ErrnoException) => {
      if (!/^(?:EACCES|EPERM|EROFS|ENOSPC|EDQUOT)$/.test(error.code ?? "")) throw error;
      throw new Error(`${folder} can't be written to (${error.code})\n  → ${elsewhere}`, {
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
    terminal.stdout.write("\nOther templates: --template react, --template vue\n");
}

const elsewhere = "Name a folder somewhere else, or get leave to write there";

/** Makes a folder and those above it, one by one: where the system says that a folder isn't there and is, Node's own never ends (/proc). */
async function makeFolder(path: string, given: string): Promise<void> {
  if (existsSync(path)) {
    if (statSync(path).isDirectory()) return;
    throw new UsageError(
      `${given} can't be made: ${path} is a file\n  → Name a folder somewhere else`,
    );
  }
  await makeFolder(dirname(path), given);
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      `${given} can't be made: the system makes no folder ${path} (${error.code})\n  → ${elsewhere}`,
      { cause: error },
    );
  });
}

async function fill(root: string, template: string, seamline: string): Promise<void> {
  // `base` holds what all templates share.
  for (const layer of ["base", template])
    await cp(join(packageFolder, "templates", layer), root, { recursive: true });
  // npm leaves files of this name out of packages, and reads them as its own.
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

/** An application is made in a folder of its own: nothing that is there is written over, or mixed with what isn't. */
async function refuseUsed(root: string, given: string): Promise<void> {
  if (!existsSync(root)) return;
  if (!statSync(root).isDirectory()) throw new UsageError(`${given} is a file: name a folder`);
  const found = (await readdir(root)).filter((name) => name !== ".git").toSorted();
  if (found.length === 0) return;
  const config = found.find((name) => /^vite\.config\.[cm]?[jt]s$/.test(name));
  if (config !== undefined || (found.includes("package.json") && (await usesVite(root))))
    throw new UsageError(
      `${given} is a Vite application already, and 'seamline init' makes new ones. ${existing(config ?? "vite.config.ts")}`,
    );
  const shown = found.slice(0, 20);
  const more = found.length > shown.length ? `  and ${found.length - shown.length} more\n` : "";
  throw new UsageError(
    `${given} is not empty: name a new folder, or one with nothing in it but .git. There are\n${listed(shown)}${more}`.trimEnd(),
  );
}

async function usesVite(root: string): Promise<boolean> {
  const text = await readFile(join(root, "package.json"), "utf8");
  return /"vite"\s*:/.test(text);
}

const existing = (config: string): string => {
  const segment = "segments/server.segment.json";
  const line = (file: string, text: string): string =>
    `  ${file.padEnd(segment.length)}    ${text}`;
  return `To this one, add by hand:

  npm install seamline

${line(config, 'import { seamline } from "seamline/vite";')}
${line("", "plugins: [seamline()], beside those that are there")}

${line(segment, '{ "./path/in/src": { "nameOfFunction": { "access": "public" } } }')}

The guide has a page about it: docs/guide/vite.md`;
};

/** Gives the application its name and its versions: those that this very package is built and tested with. */
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
        throw new Error(`The template asks for ${name}, of which this package knows no version`);
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

/** What stands behind "seamline" in the application's package.json: this version, or what was asked for. */
async function seamlineSpec(given: string | undefined, root: string): Promise<string> {
  if (given === undefined) {
    const { version } = JSON.parse(
      await readFile(join(packageFolder, "package.json"), "utf8"),
    ) as OwnPackage;
    return `^${version}`;
  }
  // A path is meant from where it was typed; in package.json it counts from there.
  return /[\\/]|\.tgz$/.test(given) && existsSync(given)
    ? `file:${relative(root, resolve(given)).split(sep).join("/")}`
    : given;
}

// npm's own limit.
const longestName = 214;

/** The folder's name, as npm allows it; never that of a package which the application installs. */
export function nameFor(root: string, dependencies: readonly string[]): string {
  const name = basename(root)
    // An é is an e with a mark behind it then.
    .normalize("NFKD")
    .replaceAll(/\p{M}+/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9._~-]+/g, "-")
    .replaceAll(/^[-._~]+/g, "")
    .slice(0, longestName)
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
  // On Windows package managers are scripts, which only a shell starts.
  const child = spawn(manager, words, {
    cwd,
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32",
  });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0)
    throw new Error(`'${manager} install' failed: mend what it says, and run it again in ${cwd}`);
}
