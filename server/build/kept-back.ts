// What browsers can't call they are to learn nothing of: private and protected procedures of other segments than theirs. A face for browsers
// has no seam for them, and names those alone that code of theirs names itself: of these it has a function that rejects.

import type { ModuleDescription, ModuleExport } from "../../src/split/describe.ts";
import { namesIn } from "../../src/split/mentioned.ts";
import { withoutReexports } from "../../src/split/passed-on.ts";
import type { KeptBack, Parse, Part } from "../../src/split/split-module.ts";
import { type BrowserCode, browserCode, type BrowserCodeOptions } from "./browser-code.ts";
import type { CutModule } from "./cut.ts";
import type { FileMemory } from "./file-memory.ts";
import type { Modules, SourceModule } from "./modules.ts";
import type { Procedure } from "./procedures.ts";

/** A script of a page or of a component. */
export interface PageScript {
  /** Absolute. */
  readonly file: string;
  /** All that may name something: of a component its markup, too. */
  readonly text: string;
  readonly description: ModuleDescription;
}

export interface KeptBackOptions extends BrowserCodeOptions {
  readonly clients: readonly string[];
  readonly scripts: readonly PageScript[];
  /** In tests nothing is public, and what they name is not known. */
  readonly forTests: boolean;
  readonly memory: FileMemory;
  readonly parse: Parse;
}

export interface BrowserFaces {
  readonly cut: ReadonlyMap<string, CutModule>;
  /** By file: modules that segments don't cut, without what they pass on of it. */
  readonly trimmed: ReadonlyMap<string, Part>;
}

/** Whether no browser can call a procedure: no segment makes it public, and none that has it is for browsers. */
export function isClosed({ entries }: Procedure, clients: readonly string[]): boolean {
  return entries.every(
    ({ segment, entry }) => entry.access !== "public" && !clients.includes(segment.name),
  );
}

/** Replaces the faces for browsers of modules with such procedures. */
export async function keepBack(options: KeptBackOptions): Promise<BrowserFaces> {
  const { cut, modules, clients } = options;
  const closed = new Map<SourceModule, ReadonlyMap<string, Procedure>>();
  for (const { module, procedures } of cut.values()) {
    const names = closedIn(modules.describe(module), procedures, clients);
    if (names.size > 0) closed.set(module, names);
  }
  const trimmed = new Map<string, Part>();
  if (closed.size === 0) return { cut, trimmed };
  const code = await browserCode(options);
  const search = new Search(closed, modules);
  const named = options.forTests ? undefined : await search.named(code, options);
  const faces = new Map(cut);
  for (const [file, one] of cut) {
    const own = closed.get(one.module) ?? new Map<string, Procedure>();
    const unnamed = [...own.keys()].filter((name) => named?.has(keyOf(one.module, name)) === false);
    unnamed.push(...(await search.passedOn(one.module, named)));
    if (own.size > 0 || unnamed.length > 0)
      faces.set(file, one.keepingBack(keptBackOf(own, unnamed)));
  }
  for (const module of new Set(code.map((one) => one.module))) {
    const left = cut.has(module.file) ? [] : await search.passedOn(module, named);
    if (left.length === 0) continue;
    const text = modules.text(module.file);
    const key = `trimmed ${left.join()}`;
    trimmed.set(
      module.file,
      options.memory.of(module.file, key, () =>
        withoutReexports({ source: text, file: module.name, parse: options.parse }, new Set(left)),
      ),
    );
  }
  return { cut: faces, trimmed };
}

/** The exports of a module that stand for closed procedures. */
export function closedIn(
  description: ModuleDescription,
  procedures: readonly Procedure[],
  clients: readonly string[],
): ReadonlyMap<string, Procedure> {
  const closed = procedures.filter((one) => isClosed(one, clients));
  return new Map(
    closed.flatMap((one) => namesOf(description, one.export).map((name) => [name, one] as const)),
  );
}

/** What a face for browsers keeps back of closed exports, of which nobody names some. */
export function keptBackOf(
  own: ReadonlyMap<string, Procedure>,
  unnamed: readonly string[],
): KeptBack {
  const errors = [...new Set(own.values())].map((one) => {
    const isProtected = one.entries.some(({ entry }) => entry.access === "protected");
    return [
      one.export,
      isProtected ? ("Unauthorized" as const) : ("ProcedureNotFound" as const),
    ] as const;
  });
  return { closed: new Map(errors), unnamed: new Set(unnamed) };
}

/** The names under which a module exports the function that it exports as `name`. */
function namesOf({ exports }: ModuleDescription, name: string): readonly string[] {
  const found = exports.find((one) => one.name === name);
  const isSame = (one: ModuleExport): boolean =>
    one.from === undefined && one.line === found?.line && one.column === found.column;
  return exports.filter(isSame).map((one) => one.name);
}

function keyOf(module: SourceModule, name: string): string {
  return `${module.id}#${name}`;
}

/** `import(…)`, `client.import(…)`, `import.meta.glob(…)`. */
const dynamicHint = /\bimport\s*\(|\bimport\.meta\.glob\b/;

/** Looks for what names closed procedures. */
class Search {
  readonly #closed: ReadonlyMap<SourceModule, ReadonlyMap<string, Procedure>>;
  readonly #modules: Modules;

  constructor(closed: ReadonlyMap<SourceModule, ReadonlyMap<string, Procedure>>, modules: Modules) {
    this.#closed = closed;
    this.#modules = modules;
  }

  /** Exports of closed procedures that code of browsers imports by name, or mentions where it imports all. */
  async named(
    code: readonly BrowserCode[],
    { scripts, clientModules, parse }: Pick<KeptBackOptions, "scripts" | "clientModules" | "parse">,
  ): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    // What is loaded by a name that comes when the page runs may be any of them.
    const isDynamic = [...code, ...scripts].some((one) => dynamicHint.test(one.text));
    const wholes = new Set<SourceModule>([
      ...clientModules,
      ...(isDynamic ? this.#closed.keys() : []),
    ]);
    for (const { file, text, description } of [
      ...code.map((one) => ({ ...one, file: one.module.file })),
      ...scripts,
    ]) {
      for (const { specifier, names, typeOnly, unused, dynamic } of description.imports) {
        const target =
          typeOnly || unused === true ? undefined : await this.#modules.resolve(specifier, file);
        if (target === undefined) continue;
        if (dynamic === true || names.some(({ imported }) => imported === "*")) wholes.add(target);
        for (const { imported, local } of names.filter((one) => one.imported !== "*")) {
          const key = await this.#behind(target, imported);
          if (key === undefined || found.has(key)) continue;
          // `import { reserve } from …; export { reserve }` passes it on, and does no more.
          const isPassedOn = description.exports.some(
            ({ from }) => from?.specifier === specifier && from.name === imported,
          );
          if (!isPassedOn || namesIn({ source: text, file, parse }).has(local)) found.add(key);
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
      for (const name of await this.#modules.exportNames(module)) {
        const key = await this.#behind(module, name);
        if (key === undefined || found.has(key)) continue;
        mentioned ??= mentionsIn(code, scripts, parse);
        if (mentioned(name)) found.add(key);
      }
    return found;
  }

  /** The names by which a module passes on closed procedures that nobody names; all of them are named where `named` is left out. */
  async passedOn(
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

  /** The key of the closed procedure that an export stands for. */
  async #behind(module: SourceModule, name: string): Promise<string | undefined> {
    const declared =
      this.#modules.declaredIn(module, name) ?? (await this.#modules.declaration(module, name));
    if (
      "missing" in declared ||
      this.#closed.get(declared.module)?.has(declared.export.name) !== true
    )
      return undefined;
    return keyOf(declared.module, declared.export.name);
  }
}

/** Whether any of this code mentions a name, for more than to pass it on. A namespace may be handed from one module to another. */
function mentionsIn(
  code: readonly BrowserCode[],
  scripts: readonly PageScript[],
  parse: Parse,
): (name: string) => boolean {
  const names = new Set(
    code.flatMap(({ module, text }) => [...namesIn({ source: text, file: module.file, parse })]),
  );
  const texts = scripts.map((one) => one.text).join("\n");
  return (name) =>
    names.has(name) || new RegExp(`(?<![\\w$])${name.replace(/\$/g, "\\$")}(?![\\w$])`).test(texts);
}
