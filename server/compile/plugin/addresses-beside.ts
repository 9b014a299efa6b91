// Literal addresses of files beside a server module. Code is built like any other module; all else
// is copied. The address leads to where the output has it, which isn't always beside the module:
// TypeScript becomes JavaScript, and files outside the source folder have a folder of their own.

import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, isAbsolute, posix, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import MagicString from "magic-string";
import type { Environment, Rolldown } from "vite";

import type { Problem } from "../../../src/base/problem.ts";
import { frameOf, positionOf } from "../../../src/split/read/code-frame.ts";
import {
  type LiteralAddress,
  ownAddressHint,
  ownAddresses,
  type UnreadAddress,
} from "../../../src/split/describe/own-addresses.ts";
import { type Parse, programOf } from "../../../src/split/read/tree.ts";
import { serviceFile } from "../../files/service-files.ts";
import { isInside, realPath, slashed } from "../../files/sources.ts";
import { loadVite, parserOf } from "../read/load-vite.ts";
import { isCommonJs, isInstalled, packageOf } from "../read/package-of.ts";
import type { Build } from "../write/build-run.ts";
import { builtFileOf, placeOf } from "../write/environments.ts";
import { languageOf } from "./resolve.ts";

type TransformContext = Rolldown.TransformPluginContext & { readonly environment: Environment };

/** Code that the bundler compiles. CommonJS is copied: compiled, it would export something else. */
const isCode = /\.(?:m?[jt]s|[jt]sx)$/;

const nameEach =
  'Name each file: new URL("./hello.txt", import.meta.url). All files of a folder: import.meta.glob("./*.txt", { query: "?raw" }). Or read it from the working directory.';

const unreadMessages: Readonly<Record<UnreadAddress["kind"], string>> = {
  computed: "this address is computed",
  folder: "this is the module's folder",
};

const isElsewhere =
  "so the build can't tell which files this module needs, and a built module has none of them beside it";

/** Code of a server module as its author has it, or a part of it, or a CommonJS file. */
interface Importer {
  readonly code: string;
  /** Absolute: its addresses count from here. */
  readonly file: string;
  readonly isCommonJs: boolean;
}

/** A file at a literal address, which a build has to have. */
export interface FileBeside {
  readonly address: LiteralAddress;
  readonly file: string;
  /** The address's query and fragment. */
  readonly suffix: string;
  /** Whether the bundler compiles it; all else is copied. */
  readonly isCode: boolean;
  /** For code that is started as a thread or process, if it imports procedures. */
  readonly started?: Problem;
}

export interface FilesBesideCode {
  readonly found: readonly FileBeside[];
  readonly warnings: readonly Problem[];
}

/** The files at the addresses in code of a server, and warnings about other addresses. */
export function filesBeside(importer: Importer, root: string, parse: Parse): FilesBesideCode {
  const { code, file, isCommonJs: isRequired } = importer;
  if (!isRequired && !ownAddressHint.test(code)) return { found: [], warnings: [] };
  const parsed = parse(`${basename(file)}.${languageOf(file)}`, code);
  // The bundler reports it.
  if (parsed.errors.length > 0) return { found: [], warnings: [] };
  const { literal, unread } = ownAddresses(programOf(parsed), { isCommonJs: isRequired });
  const found: FileBeside[] = [];
  const warnings = unread.map(({ kind, start }) =>
    problemAt(importer, root, start, `${unreadMessages[kind]}, ${isElsewhere}`, nameEach),
  );
  for (const address of literal) {
    const at = resolved(file, address);
    const wrong = unusable(at.file, file, root);
    if (wrong !== undefined || at.file === undefined) {
      const [message, hint] = wrong ?? notThere;
      warnings.push(problemAt(importer, root, address.start, `"${address.path}" ${message}`, hint));
      continue;
    }
    const isBuilt = isCode.test(at.file) && !(address.kind === "require" && isCommonJs(at.file));
    const started =
      isBuilt && address.isStart
        ? problemAt(
            importer,
            root,
            address.start,
            `this starts ${slashed(relative(root, at.file))}`,
            "Call them in the procedure that starts it, and pass on what they return.",
          )
        : undefined;
    found.push({
      address,
      file: at.file,
      suffix: at.suffix,
      isCode: isBuilt,
      ...(started && { started }),
    });
  }
  // Authors can't change installed packages.
  return { found, warnings: isInstalled(file) ? [] : warnings };
}

const notThere = [
  "isn't a file here, and a built module is in another folder",
  "Correct the address. A file that is made at run time needs a path from the working directory.",
] as const;

/** Why a file can't be part of a build, and what to do. */
function unusable(
  file: string | undefined,
  importer: string,
  root: string,
): readonly [message: string, hint: string] | undefined {
  const stats = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  if (file === undefined || stats === undefined) return notThere;
  if (!stats.isFile()) return [`is a folder, ${isElsewhere}`, nameEach];
  const roots = [root, packageOf(importer)?.folder ?? root];
  if (!roots.some((folder) => isInside(folder, file)))
    return [
      "is outside the application folder, so it isn't part of the build",
      "Move the file into the application folder, or into a package that the module imports.",
    ];
  if (file.endsWith(".node"))
    return [
      "is a native addon, which isn't part of a build: it fits one kind of machine only",
      "Install it as a package in the application folder, and import that.",
    ];
  if (basename(file).startsWith(".env") || serviceFile(file) !== undefined)
    return [
      "configures a service or holds its keys, so it isn't part of the build",
      "Read it from the working directory, or use environment variables.",
    ];
  return undefined;
}

/** Parts have the lines of their module, but not always its columns. */
function problemAt(
  { code, file }: Importer,
  root: string,
  start: number,
  message: string,
  hint: string,
): Problem {
  const { line, column } = positionOf(code, start);
  const source = readFileSync(file, "utf8");
  const about = { file: slashed(relative(root, file)), line, message, hint };
  const text = code.slice(start, start + 12).split("\n")[0] ?? "";
  const found = source.split("\n")[line - 1]?.indexOf(text) ?? -1;
  const at = found < 0 ? column : found + 1;
  return { ...about, column: at, frame: frameOf(source, line, at) };
}

/**
 * Makes the files at the addresses in a module part of the server's build. Returns the module with
 * the addresses that have changed.
 */
export async function takeFilesBeside(
  build: Build,
  context: TransformContext,
  code: string,
  id: string,
): Promise<{ code: string; map: Rolldown.SourceMap } | undefined> {
  const file = id.replace(/[?#].*$/, "");
  if (!isAbsolute(file)) return undefined;
  const parse = parserOf(await loadVite(build.reader.root));
  const name = builtFileOf(id, build.reader);
  const edited = new Beside(build, context, parse).take(
    { code, file, isCommonJs: name.endsWith(".cjs") },
    name,
  );
  return edited && { code: edited.toString(), map: edited.generateMap({ hires: true }) as never };
}

class Beside {
  readonly #build: Build;
  readonly #context: TransformContext;
  readonly #parse: Parse;

  constructor(build: Build, context: TransformContext, parse: Parse) {
    this.#build = build;
    this.#context = context;
    this.#parse = parse;
  }

  /** `name` is the output file of `importer`. */
  take(importer: Importer, name: string): MagicString | undefined {
    const { findings, filesBeside: beside, reader } = this.#build;
    const { found, warnings } = filesBeside(importer, reader.root, this.#parse);
    findings.warnings.push(...warnings);
    const text = new MagicString(importer.code);
    for (const { address, suffix, ...target } of found) {
      const output = this.#target(target);
      beside.need(name, output);
      const path = addressOf(address, posix.relative(posix.dirname(name), output), suffix);
      if (path !== address.path) text.update(address.start, address.end, JSON.stringify(path));
    }
    return text.hasChanged() ? text : undefined;
  }

  /** Makes a file part of the output, and returns its name there. */
  #target({
    file,
    isCode: isBuilt,
    started,
  }: Pick<FileBeside, "file" | "isCode" | "started">): string {
    const { filesBeside: beside, reader, entries } = this.#build;
    if (!isBuilt) return this.#copy(file);
    entries.emit(this.#context, file, reader.root);
    const name = builtFileOf(file, reader);
    if (started !== undefined) beside.start(name, started);
    return name;
  }

  /** Copies a file, and the files that it requires if it is CommonJS. Returns its output name. */
  #copy(file: string): string {
    const { filesBeside: beside, reader } = this.#build;
    const isScript = isCommonJs(file);
    // All of the output counts as ECMAScript modules, except for this ending.
    const name = isScript
      ? placeOf(file, reader).replace(/\.c?js$/, ".cjs")
      : placeOf(file, reader);
    if (beside.has(name)) return name;
    const content = readFileSync(file);
    beside.copy(file, name, content);
    if (!isScript) return name;
    const edited = this.take({ code: content.toString("utf8"), file, isCommonJs: true }, name);
    if (edited !== undefined) beside.copy(file, name, edited.toString());
    return name;
  }
}

function resolved(
  importer: string,
  { kind, path }: LiteralAddress,
): { readonly file?: string; readonly suffix: string } {
  try {
    if (kind === "require") return { file: createRequire(importer).resolve(path), suffix: "" };
    const { href, search, hash } = new URL(path, pathToFileURL(importer));
    return {
      file: realPath(fileURLToPath(href.slice(0, href.length - search.length - hash.length))),
      suffix: search + hash,
    };
  } catch {
    // `require` finds no such file.
    return { suffix: "" };
  }
}

/** The address of an output file, as it stands in the code. */
function addressOf({ kind }: LiteralAddress, path: string, suffix: string): string {
  const inside = path.startsWith("../") ? path : `./${path}`;
  return kind === "require" ? inside : inside.split("/").map(encodeURIComponent).join("/") + suffix;
}
