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
  ownAddresses,
  type UnreadAddress,
} from "../../../src/split/describe/own-addresses.ts";
import { type Parse, programOf } from "../../../src/split/read/tree.ts";
import { serviceFile } from "../../files/service-files.ts";
import { isInside, realPath, slashed } from "../../files/sources.ts";
import { loadVite, parserOf } from "../modules/load-vite.ts";
import { isCommonJs, isInstalled, packageOf } from "../modules/package-of.ts";
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
  const edited = new Beside(build, context, parse).take({
    code,
    file,
    name: builtFileOf(id, build.reader),
  });
  return edited && { code: edited.toString(), map: edited.generateMap({ hires: true }) as never };
}

/** A module, or a CommonJS file that is copied. */
interface Importer {
  readonly code: string;
  readonly file: string;
  /** In the output. */
  readonly name: string;
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

  take(importer: Importer): MagicString | undefined {
    const { code, file, name } = importer;
    const parsed = this.#parse(`${basename(file)}.${languageOf(file)}`, code);
    // The bundler reports it.
    if (parsed.errors.length > 0) return undefined;
    const { literal, unread } = ownAddresses(programOf(parsed), {
      isCommonJs: name.endsWith(".cjs"),
    });
    for (const { kind, start } of unread)
      this.#warn(importer, start, `${unreadMessages[kind]}, ${isElsewhere}`, nameEach);
    const text = new MagicString(code);
    for (const address of literal) {
      const target = this.#target(importer, address);
      if (target === undefined) continue;
      this.#build.filesBeside.need(name, target.name);
      const path = addressOf(
        address,
        posix.relative(posix.dirname(name), target.name),
        target.suffix,
      );
      if (path !== address.path) text.update(address.start, address.end, JSON.stringify(path));
    }
    return text.hasChanged() ? text : undefined;
  }

  /** The output file for an address, which becomes part of the output. */
  #target(
    importer: Importer,
    address: LiteralAddress,
  ): { name: string; suffix: string } | undefined {
    const { filesBeside, reader, entries } = this.#build;
    const { file, suffix } = resolved(importer.file, address);
    const warn = (message: string, hint: string): undefined =>
      this.#warn(importer, address.start, `"${address.path}" ${message}`, hint);
    const stats = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
    if (file === undefined || stats === undefined)
      return warn(
        "isn't a file here, and a built module is in another folder",
        "Correct the address. A file that is made at run time needs a path from the working directory.",
      );
    if (!stats.isFile()) return warn(`is a folder, ${isElsewhere}`, nameEach);
    const roots = [reader.root, packageOf(importer.file)?.folder ?? reader.root];
    if (!roots.some((root) => isInside(root, file)))
      return warn(
        "is outside the application folder, so it isn't part of the build",
        "Move the file into the application folder, or into a package that the module imports.",
      );
    if (file.endsWith(".node"))
      return warn(
        "is a native addon, which isn't part of a build: it fits one kind of machine only",
        "Install it as a package in the application folder, and import that.",
      );
    if (basename(file).startsWith(".env") || serviceFile(file) !== undefined)
      return warn(
        "configures a service or holds its keys, so it isn't part of the build",
        "Read it from the working directory, or use environment variables.",
      );
    if (address.kind === "require" ? isCode.test(file) && !isCommonJs(file) : isCode.test(file)) {
      entries.emit(this.#context, file, reader.root);
      const name = builtFileOf(file, reader);
      if (address.isStart)
        filesBeside.start(
          name,
          this.#problem(
            importer,
            address.start,
            `this starts ${slashed(relative(reader.root, file))}`,
            "Call them in the procedure that starts it, and pass on what they return.",
          ),
        );
      return { name, suffix };
    }
    return { name: this.#copy(file), suffix };
  }

  /** Copies a file, and what it requires if it is CommonJS. Returns its name in the output. */
  #copy(file: string): string {
    const { filesBeside, reader } = this.#build;
    const isScript = isCommonJs(file);
    // All of the output counts as ECMAScript modules, except for this ending.
    const name = isScript
      ? placeOf(file, reader).replace(/\.c?js$/, ".cjs")
      : placeOf(file, reader);
    if (filesBeside.has(name)) return name;
    const content = readFileSync(file);
    filesBeside.copy(file, name, content);
    if (!isScript) return name;
    const code = content.toString("utf8");
    const edited = this.take({ code, file, name });
    if (edited !== undefined) filesBeside.copy(file, name, edited.toString());
    return name;
  }

  #warn(importer: Importer, start: number, message: string, hint: string): undefined {
    // Nobody can edit these.
    if (!isInstalled(importer.file))
      this.#build.findings.warnings.push(this.#problem(importer, start, message, hint));
  }

  /** Parts have the lines of their module, but not always its columns. */
  #problem({ code, file }: Importer, start: number, message: string, hint: string): Problem {
    const { line, column } = positionOf(code, start);
    const source = readFileSync(file, "utf8");
    const about = { file: slashed(relative(this.#build.reader.root, file)), line, message, hint };
    const text = code.slice(start, start + 12).split("\n")[0] ?? "";
    const found = source.split("\n")[line - 1]?.indexOf(text) ?? -1;
    const at = found < 0 ? column : found + 1;
    return { ...about, column: at, frame: frameOf(source, line, at) };
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
