// Hides from browsers the procedures that they can't call: private and protected procedures of other segments. A
// browser's face has no seam for these. It exports only those that browser code names, as functions
// that reject.

import { dropReexports } from "../../../src/split/write/drop-reexports.ts";
import { mentionedNames } from "../../../src/split/read/mentioned-names.ts";
import type { Parse, Part } from "../../../src/split/write/split-module.ts";
import { type BrowserCode, browserCode, type BrowserCodeOptions } from "./browser-code.ts";
import { closedIn, keptBackOf } from "./closed-procedures.ts";
import type { CutModule } from "./cut.ts";
import type { PageScript } from "../read/pages.ts";
import { declarationOf, exportNames } from "../read/export-declarations.ts";
import type { Modules, SourceModule } from "../read/modules.ts";
import type { ApplicationProcedure } from "./application-procedure.ts";

export interface HiddenExportsOptions extends BrowserCodeOptions {
  readonly browserSegments: readonly string[];
  readonly scripts: readonly PageScript[];
  /** In tests nothing is published, and which names they use isn't known. */
  readonly forTests: boolean;
  readonly parse: Parse;
}

export interface BrowserFaces {
  readonly cut: ReadonlyMap<string, CutModule>;
  /** By file: modules without procedures, without their re-exports of hidden ones. */
  readonly trimmed: ReadonlyMap<string, Part>;
}

/** Replaces the browser's faces of modules with such procedures. */
export async function hideExports(options: HiddenExportsOptions): Promise<BrowserFaces> {
  const { cut, modules, browserSegments } = options;
  const closed = new Map<SourceModule, ReadonlyMap<string, ApplicationProcedure>>();
  for (const { module, procedures } of cut.values()) {
    const names = closedIn(modules.describe(module), procedures, browserSegments);
    if (names.size > 0) closed.set(module, names);
  }
  const trimmed = new Map<string, Part>();
  if (closed.size === 0) return { cut, trimmed };
  const code = await browserCode(options);
  const search = new Search(closed, modules);
  const named = options.forTests ? undefined : await search.named(code, options);
  const faces = new Map(cut);
  for (const [file, cutModule] of cut) {
    const own = closed.get(cutModule.module) ?? new Map<string, ApplicationProcedure>();
    const unnamed = [...own.keys()].filter(
      (name) => named?.has(keyOf(cutModule.module, name)) === false,
    );
    unnamed.push(...(await search.hiddenReexports(cutModule.module, named)));
    if (own.size > 0 || unnamed.length > 0)
      faces.set(file, cutModule.keepingBack(keptBackOf(own, unnamed)));
  }
  for (const module of new Set(code.map((part) => part.module))) {
    const left = cut.has(module.file) ? [] : await search.hiddenReexports(module, named);
    if (left.length === 0) continue;
    const key = `trimmed ${left.join()}`;
    trimmed.set(
      module.file,
      modules.memory.of(module.file, key, () => dropReexports(modules.read(module), new Set(left))),
    );
  }
  return { cut: faces, trimmed };
}

function keyOf(module: SourceModule, name: string): string {
  return `${module.id}#${name}`;
}

/** `import(…)`, `client.import(…)`, `import.meta.glob(…)`. */
const dynamicHint = /\bimport\s*\(|\bimport\.meta\.glob\b/;

/** Finds the closed procedures that code names. */
class Search {
  readonly #closed: ReadonlyMap<SourceModule, ReadonlyMap<string, ApplicationProcedure>>;
  readonly #modules: Modules;

  constructor(
    closed: ReadonlyMap<SourceModule, ReadonlyMap<string, ApplicationProcedure>>,
    modules: Modules,
  ) {
    this.#closed = closed;
    this.#modules = modules;
  }

  /**
   * Keys of closed procedures that browser code imports by name, or mentions if it imports a whole
   * module.
   */
  async named(
    code: readonly BrowserCode[],
    {
      scripts,
      browserModules,
      parse,
    }: Pick<HiddenExportsOptions, "scripts" | "browserModules" | "parse">,
  ): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    // A computed import may load any module.
    const isDynamic = [...code, ...scripts].some((part) => dynamicHint.test(part.text));
    const wholes = new Set<SourceModule>([
      ...browserModules,
      ...(isDynamic ? this.#closed.keys() : []),
    ]);
    for (const { file, text, description } of [
      ...code.map((part) => ({ ...part, file: part.module.file })),
      ...scripts,
    ]) {
      for (const { specifier, names, typeOnly, unused, dynamic } of description.imports) {
        const target =
          typeOnly || unused === true ? undefined : await this.#modules.resolve(specifier, file);
        if (target === undefined) continue;
        if (dynamic === true || names.some(({ imported }) => imported === "*")) wholes.add(target);
        for (const { imported, local } of names.filter((name) => name.imported !== "*")) {
          const key = await this.#behind(target, imported);
          if (key === undefined || found.has(key)) continue;
          // `import { reserve } from …; export { reserve }` only re-exports it.
          const isReexported = description.exports.some(
            ({ from }) => from?.specifier === specifier && from.name === imported,
          );
          if (!isReexported || mentionedNames({ source: text, file, parse }).has(local))
            found.add(key);
        }
      }
      for (const { from } of description.exports) {
        const target =
          from?.name === "*" ? await this.#modules.resolve(from.specifier, file) : undefined;
        if (target !== undefined) wholes.add(target);
      }
    }
    let mentioned: ((name: string) => boolean) | undefined;
    for (const module of wholes)
      for (const name of await exportNames(this.#modules, module)) {
        const key = await this.#behind(module, name);
        if (key === undefined || found.has(key)) continue;
        mentioned ??= mentionsIn(code, scripts, parse);
        if (mentioned(name)) found.add(key);
      }
    return found;
  }

  /**
   * The names under which a module re-exports closed procedures that nothing names. Without
   * `named`, all count as named.
   */
  async hiddenReexports(
    module: SourceModule,
    named: ReadonlySet<string> | undefined,
  ): Promise<readonly string[]> {
    const found: string[] = [];
    if (named === undefined) return found;
    for (const { name, from } of this.#modules.describe(module).exports) {
      const behind =
        from === undefined || from.name === "*" ? undefined : await this.#behind(module, name);
      if (behind !== undefined && !named.has(behind)) found.push(name);
    }
    return found;
  }

  /** The key of the closed procedure behind an export. */
  async #behind(module: SourceModule, name: string): Promise<string | undefined> {
    const declared = await declarationOf(this.#modules, module, name);
    if (
      "missing" in declared ||
      this.#closed.get(declared.module)?.has(declared.export.name) !== true
    )
      return undefined;
    return keyOf(declared.module, declared.export.name);
  }
}

/**
 * Returns whether this code mentions a name other than to re-export it. Namespaces may be passed
 * from module to module.
 */
function mentionsIn(
  code: readonly BrowserCode[],
  scripts: readonly PageScript[],
  parse: Parse,
): (name: string) => boolean {
  const names = new Set(
    code.flatMap(({ module, text }) => [
      ...mentionedNames({ source: text, file: module.file, parse }),
    ]),
  );
  const texts = scripts.map((script) => script.text).join("\n");
  return (name) =>
    names.has(name) || new RegExp(`(?<![\\w$])${name.replace(/\$/g, "\\$")}(?![\\w$])`).test(texts);
}
