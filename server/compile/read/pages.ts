// Reads the application's pages: their imports, the segments that they start, and the modules that
// they import by name at run time.

import { existsSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";

import type { Problem } from "../../../src/base/problem.ts";
import type { CodeDescription } from "../../../src/split/describe/describe.ts";
import type { ClientCalls } from "../../../src/split/describe/client-calls.ts";
import { isInside, realPath, slashed } from "../../files/sources.ts";
import { describeComponent, isComponent, scriptsIn } from "./components.ts";
import type { CodeImports } from "./described-imports.ts";
import type { Modules, SourceModule } from "./modules.ts";

/** A page, and the imports of its scripts. */
export interface PageEntry {
  /** Absolute. */
  readonly file: string;
  /** Relative to the application folder. */
  readonly name: string;
  /** `module` is set for source modules. */
  readonly imports: readonly { readonly specifier: string; readonly module?: SourceModule }[];
}

/** A script of a page or of a component. */
export interface PageScript {
  /** Absolute. */
  readonly file: string;
  /** The text that may name procedures; of a component, its markup too. */
  readonly text: string;
  readonly description: CodeDescription;
}

type VisibleCode = CodeImports & ClientCalls;

/** Requests of pages and of the modules that they reach. */
export interface PageDemands {
  /** Segments named by literals, with a file that names each. */
  readonly started: ReadonlyMap<string, string>;
  /** Whether anything calls `startClient`, with or without segments. */
  readonly starts: boolean;
  /** `startClient` calls that name none. */
  readonly unclear: readonly Problem[];
  /** Named by `client.import('…')`, or by the `browserModules` globs. */
  readonly modules: readonly SourceModule[];
  readonly pages: readonly PageEntry[];
  /** Scripts inside pages, and those of components. */
  readonly scripts: readonly PageScript[];
  /** All modules that pages reach through value imports. */
  readonly reached: ReadonlySet<SourceModule>;
  /** Paths in `client.import('…')` that lead to no module, and the files with them. */
  readonly unknown: readonly { readonly path: string; readonly file: string }[];
}

interface Script {
  readonly text?: string;
  readonly src?: string;
}

/** Follows the imports of pages and of entry modules. */
export async function readPages(options: {
  root: string;
  /** Root-absolute URLs in pages are looked up in these folders. */
  bases: readonly string[];
  pages: readonly string[];
  entries: readonly SourceModule[];
  modules: Modules;
  /** The code that a page gets of an imported module; of a split one, its face and shared part. */
  visible: (module: SourceModule) => readonly VisibleCode[];
}): Promise<PageDemands> {
  const { root, modules } = options;
  const { memory } = modules;
  const started = new Map<string, string>();
  const unclear: Problem[] = [];
  const unknown: { path: string; file: string }[] = [];
  const requested = new Set<SourceModule>();
  const reached = new Set<SourceModule>();
  const queue = [...options.entries];

  let starts = false;
  const take = (description: VisibleCode, name: string): void => {
    starts ||= description.startClientCalls.length > 0;
    for (const call of description.startClientCalls)
      // A script in a page has a file name of its own, but the mistake is in the page.
      if ("problem" in call) unclear.push({ ...call.problem, file: name });
      else for (const segment of call.segments) started.set(segment, started.get(segment) ?? name);
    for (const path of description.clientImports) {
      const module = modules.find(path);
      if (module !== undefined) {
        requested.add(module);
        queue.push(module);
      } else unknown.push({ path, file: name });
    }
  };

  const scripts: PageScript[] = [];
  const components = new Set<string>();
  /** Follows components that are imported here to the modules that they import. */
  const throughComponents = async (
    description: Pick<VisibleCode, "imports">,
    importer: string,
  ): Promise<void> => {
    for (const { specifier } of description.imports.filter((edge) => isComponent(edge.specifier))) {
      const file = await modules.fileOf(specifier, importer);
      if (
        file === undefined ||
        components.has(file) ||
        !isInside(root, file) ||
        /[\\/]node_modules[\\/]/.test(file) ||
        !existsSync(file)
      )
        continue;
      components.add(file);
      const name = slashed(relative(root, file));
      for (const script of describeComponent(file, modules)) {
        scripts.push({ file, text: memory.text(file), description: script });
        take(script, name);
        for (const { specifier: inside } of script.imports.filter(({ typeOnly }) => !typeOnly)) {
          const module = await modules.resolve(inside, file);
          if (module !== undefined) queue.push(module);
        }
        await throughComponents(script, file);
      }
    }
  };

  const pages: PageEntry[] = [];
  for (const page of options.pages) {
    // It may be removed while `dev` runs. A build says so by itself.
    if (!existsSync(page)) continue;
    const name = slashed(relative(root, page));
    const imports: { specifier: string; module?: SourceModule }[] = [];
    for (const [at, script] of memory
      .of(page, "scripts", () => moduleScripts(memory.text(page)))
      .entries()) {
      const { text, src } = script;
      if (src !== undefined)
        imports.push({ specifier: src, ...optional(found(src, page, options)) });
      if (text === undefined) continue;
      const description = memory.of(page, `script ${at}`, () =>
        modules.describeText(text, `${page}.ts`),
      );
      take(description, name);
      scripts.push({ file: page, text, description });
      for (const { specifier } of description.imports.filter(({ typeOnly }) => !typeOnly))
        imports.push({
          specifier,
          ...optional((await modules.resolve(specifier, page)) ?? found(specifier, page, options)),
        });
    }
    queue.push(...imports.map(({ module }) => module).filter((module) => module !== undefined));
    pages.push({ file: page, name, imports });
  }
  for (let module = queue.pop(); module !== undefined; module = queue.pop()) {
    if (reached.has(module)) continue;
    reached.add(module);
    for (const description of options.visible(module)) {
      take(description, module.name);
      for (const edge of await modules.importsIn(module.file, description))
        if (!edge.typeOnly) queue.push(edge.module);
      await throughComponents(description, module.file);
    }
  }
  return { started, starts, unclear, modules: [...requested], pages, scripts, reached, unknown };
}

function optional(module: SourceModule | undefined): { module?: SourceModule } {
  return module === undefined ? {} : { module };
}

/** The source module behind a URL in a page. */
function found(
  address: string,
  page: string,
  options: { bases: readonly string[]; modules: Modules },
): SourceModule | undefined {
  const path = address.replace(/[?#].*$/, "");
  if (/^(?:[a-z][\w+.-]*:|\/\/)/i.test(path)) return undefined;
  const bases = path.startsWith("/") ? options.bases : [dirname(page)];
  return bases
    .map((base) => options.modules.byFile(realPath(resolve(base, `./${path}`))))
    .find((module) => module !== undefined);
}

/** The module scripts of a page. */
function moduleScripts(html: string): readonly Script[] {
  return scriptsIn(html)
    .filter(({ attributes }) => /\btype\s*=\s*["']?module\b/i.test(attributes))
    .map(({ attributes, text }) => {
      const src = /\bsrc\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/i.exec(attributes);
      return src === null ? { text } : { src: src[1] ?? src[2] ?? src[3] ?? "" };
    });
}
