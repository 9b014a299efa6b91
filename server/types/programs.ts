// Which program of the compiler a module belongs to. This file and read-types.ts know the compiler, and
// nothing else does. It is the application's own, so it comes in as an argument.

import { createHash } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import type ts from "typescript";
import type { Problem } from "../../src/base/problem.ts";

/** TypeScript 5.9 or 6. Version 7 has no stable interface for programs. */
export type Compiler = typeof ts;

export interface ProgramOptions {
  /** The application's folder: no `tsconfig.json` above it counts. */
  readonly root: string;
  /** Vite's `resolve.alias`, without those whose `find` is a regular expression. */
  readonly aliases?: readonly Alias[];
  /** Absolute folders that hold no source, whatever a `tsconfig.json` includes. */
  readonly outputs?: readonly string[];
  /** Absolute path → the text that counts in place of the one on the disk. */
  readonly texts?: Readonly<Record<string, string>> | undefined;
  /** The results of an earlier reading of the same application that can be used again. */
  readonly memory?: ProgramMemory;
}

export interface Alias {
  readonly find: string;
  readonly replacement: string;
}

export interface Programs {
  /** Absolute path of each module → the program that holds it. */
  readonly byModule: ReadonlyMap<string, ts.Program>;
  readonly problems: readonly Problem[];
  /** Configurations without `strictNullChecks`, relative to the root: they are read as if it was on. */
  readonly loose: readonly string[];
  /** All files that were read → their stamps before that. */
  readonly files: ReadonlyMap<string, string>;
  /** The application's own modules → hashes of their outlines, as {@link outlineOf} says. */
  readonly outlines: ReadonlyMap<string, string>;
  /** Paths at which a `tsconfig.json` would have counted. */
  readonly missing: ReadonlySet<string>;
}

interface Project {
  readonly config: string | undefined;
  readonly options: ts.CompilerOptions;
  readonly files: readonly string[];
}

/** Parsed files by name and options: they are parsed again if they have changed. */
export type ParsedFiles = Map<string, ParsedFile>;

interface ParsedFile {
  readonly stamp: string;
  readonly source: ts.SourceFile;
  /** Absent for a file of a package. */
  readonly outline: string | undefined;
}

/** Reused when a program is made again after an edit. */
export interface ProgramMemory {
  readonly files: ParsedFiles;
  /** Files of packages, including the compiler's libraries; several applications may share them. */
  readonly packages: ParsedFiles;
  /** By configuration. Imports are resolved again only in files that have changed. */
  readonly programs: Map<string, ts.Program>;
}

export function programMemory(packages: ParsedFiles = new Map()): ProgramMemory {
  return { files: new Map(), packages, programs: new Map() };
}

/**
 * One program for each configuration that includes some of the modules: the nearest `tsconfig.json`,
 * or a project that it refers to. Modules that none includes share a program with default options.
 */
export function programsOf(
  ts: Compiler,
  modules: readonly string[],
  { root, aliases = [], outputs = [], texts = {}, memory = programMemory() }: ProgramOptions,
): Programs {
  const problems: Problem[] = [];
  const files = new Map<string, string>();
  const outlines = new Map<string, string>();
  const missing = new Set<string>();
  const parsed = new Map<string, ts.ParsedCommandLine>();
  const filesOf = new Map<string, ReadonlySet<string>>();
  const groups = new Map<string | undefined, string[]>();
  for (const module of modules) {
    const config = configOf(module);
    groups.set(config, [...(groups.get(config) ?? []), module]);
  }
  const byModule = new Map<string, ts.Program>();
  const loose: string[] = [];
  const strictByDefault = Number.parseInt(ts.version, 10) >= 6;
  for (const [config, members] of groups) {
    const project = projectOf(config);
    const { strict = strictByDefault, strictNullChecks = strict } = project.options;
    if (config !== undefined && !strictNullChecks) loose.push(shown(config));
    const programOptions = { ...project.options, ...readingOptions };
    const previous = memory.programs.get(config ?? "");
    const program = ts.createProgram({
      rootNames: [...new Set([...project.files, ...members])],
      options: programOptions,
      host: hostOf(programOptions),
      ...(previous !== undefined && { oldProgram: previous }),
    });
    memory.programs.set(config ?? "", program);
    for (const module of members) byModule.set(module, program);
  }
  return { byModule, problems, loose, files, outlines, missing };

  /** Path of the configuration that includes a module. */
  function configOf(module: string): string | undefined {
    for (let folder = dirname(module); ; folder = dirname(folder)) {
      const config = join(folder, "tsconfig.json");
      const exists = existsSync(config);
      if (!exists) missing.add(config);
      const found = exists ? including(config, module, new Set()) : undefined;
      if (found !== undefined) return found;
      if (folder === resolve(root) || folder === dirname(folder)) return undefined;
    }
  }

  function including(config: string, module: string, seen: Set<string>): string | undefined {
    if (seen.has(config)) return undefined;
    seen.add(config);
    const { projectReferences = [] } = parse(config);
    if (filesOf.get(config)?.has(module)) return config;
    for (const reference of projectReferences) {
      const found = including(ts.resolveProjectReferencePath(reference), module, seen);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  function parse(config: string): ts.ParsedCommandLine {
    const previous = parsed.get(config);
    if (previous !== undefined) return previous;
    noteFile(config);
    const report = (diagnostic: ts.Diagnostic): void => {
      problems.push({
        file: shown(config),
        message: ts.flattenDiagnosticMessageText(diagnostic.messageText, " "),
        hint: "Types of parameters are read as this file says, so it has to be readable",
      });
    };
    // Overrides what the file says, so that `include` finds JavaScript as well.
    const result = ts.getParsedCommandLineOfConfigFile(
      config,
      { allowJs: true },
      { ...ts.sys, onUnRecoverableConfigFileDiagnostic: report },
    ) ?? { options: {}, fileNames: [], errors: [] };
    // A root of references includes nothing by itself, and isn't wrong.
    for (const error of result.errors) if (!emptyLists.has(error.code)) report(error);
    result.fileNames = result.fileNames.filter((file) => !isOutput(resolve(file)));
    const { configFile } = result.options as { configFile?: ts.TsConfigSourceFile };
    for (const file of configFile?.extendedSourceFiles ?? []) noteFile(file);
    parsed.set(config, result);
    filesOf.set(config, new Set(result.fileNames.map((file) => resolve(file))));
    return result;
  }

  function isOutput(file: string): boolean {
    return outputs.some((folder) => file.startsWith(folder + sep));
  }

  function projectOf(config: string | undefined): Project {
    if (config === undefined)
      return { config, options: withAliases(defaultOptions(ts), root), files: [] };
    const { options, fileNames } = parse(config);
    return { config, options: withAliases(options, dirname(config)), files: fileNames };
  }

  /** The configuration's own paths win, as its editor follows them. */
  function withAliases(options: ts.CompilerOptions, folder: string): ts.CompilerOptions {
    const paths = Object.fromEntries(
      aliases.flatMap(({ find, replacement }) => {
        const target = resolve(root, replacement);
        const name = find.replace(/\/$/, "");
        return [
          [name, [target]],
          [`${name}/*`, [join(target, "*")]],
        ];
      }),
    );
    const own = Object.fromEntries(
      Object.entries(options.paths ?? {}).map(([name, targets]) => [
        name,
        targets.map((target) =>
          resolve(options.baseUrl ?? (options["pathsBasePath"] as string) ?? folder, target),
        ),
      ]),
    );
    return { ...options, paths: { ...paths, ...own } };
  }

  function hostOf(programOptions: ts.CompilerOptions): ts.CompilerHost {
    const host = ts.createCompilerHost(programOptions);
    // Options about locations of files don't change how a file is parsed.
    const { paths: _, configFilePath: _config, pathsBasePath: _base, ...parsing } = programOptions;
    const optionsKey = JSON.stringify(parsing);
    const { fileExists, readFile } = host;
    host.fileExists = (name) => Object.hasOwn(texts, name) || fileExists(name);
    host.readFile = (name) => (Object.hasOwn(texts, name) ? texts[name] : readFile(name));
    const parseFile = host.getSourceFile;
    host.getSourceFile = (name, given, ...others) => {
      // Before it is read: a later change shows.
      const stamp = noteFile(name);
      const isPackage = isOfPackage(name);
      const languageOptions = isPackage ? withoutComments(given) : given;
      const key = `${name}\0${JSON.stringify(languageOptions)}\0${optionsKey}`;
      const parsedFiles = isPackage ? memory.packages : memory.files;
      let known = parsedFiles.get(key);
      if (known === undefined || known.stamp !== stamp) {
        const source = parseFile(name, languageOptions, ...others);
        if (source === undefined || stamp === undefined) return source;
        known = { stamp, source, outline: isPackage ? undefined : emptyBodies(ts, source) };
        parsedFiles.set(key, known);
      }
      if (known.outline !== undefined) outlines.set(name, known.outline);
      return known.source;
    };
    return host;
  }

  /** Comments are half of a declaration file, and only matter in JavaScript. */
  function withoutComments(
    options: ts.ScriptTarget | ts.CreateSourceFileOptions,
  ): ts.CreateSourceFileOptions {
    const jsDocParsingMode = ts.JSDocParsingMode.ParseForTypeInfo;
    return typeof options === "object"
      ? { ...options, jsDocParsingMode }
      : { languageVersion: options, jsDocParsingMode };
  }

  function noteFile(name: string): string | undefined {
    // No file has this stamp, so what was read isn't kept.
    const stamp = Object.hasOwn(texts, name) ? `text ${texts[name]}` : stampOf(name);
    if (stamp !== undefined) files.set(name, stamp);
    return stamp;
  }

  function shown(path: string): string {
    return relative(root, path).split(sep).join("/");
  }
}

/**
 * The hash of a module's text without the bodies of functions that say what they return. No type outside such a body
 * depends on it, so modules with equal outlines give equal types. `keepsTypes` of development has the same rule for the
 * trees that it has.
 */
export function outlineOf(ts: Compiler, file: string, text: string): string {
  return emptyBodies(ts, ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
}

/** Takes those bodies out of the tree: their statements are most of a program. Returns the outline's hash. */
function emptyBodies(ts: Compiler, source: ts.SourceFile): string {
  const rest = createHash("sha256");
  let end = 0;
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node)) return;
    const body =
      ts.isFunctionLike(node) && node.type ? (node as ts.FunctionLikeDeclaration).body : undefined;
    if (body === undefined || !ts.isBlock(body)) return ts.forEachChild(node, visit);
    rest.update(source.text.slice(end, body.pos)).update("{}");
    end = body.end;
    Object.assign(body, { statements: ts.factory.createNodeArray() });
  };
  visit(source);
  return rest.update(source.text.slice(end)).digest("base64");
}

/**
 * Changes when a file is written or replaced; `undefined` if it doesn't exist. Packages have files with one
 * modification time, so when the inode was changed counts as well.
 */
export function stampOf(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  return found && `${found.mtimeMs} ${found.ctimeMs} ${found.size}`;
}

export function isOfPackage(file: string): boolean {
  return /[\\/]node_modules[\\/]/.test(file);
}

/** "No inputs were found", "The 'files' list is empty". */
const emptyLists = new Set([18002, 18003]);

// The values of a type depend on `strictNullChecks`: without it, every type takes `null`. The rest saves
// work, as no declaration is written and errors of the program are its author's.
const readingOptions: ts.CompilerOptions = {
  strictNullChecks: true,
  noEmit: true,
  skipLibCheck: true,
  allowJs: true,
  composite: false,
  incremental: false,
};

function defaultOptions(ts: Compiler): ts.CompilerOptions {
  return {
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    jsx: ts.JsxEmit.Preserve,
    allowImportingTsExtensions: true,
    strict: true,
  };
}
