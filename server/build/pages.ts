// The application's own pages: what they load, which segments they start, and what they import by name (decisions §6).

import { dirname, relative, resolve } from "node:path";

import { type Problem, nearest } from "../../src/problem.ts";
import type { ModuleDescription } from "../../src/split/describe.ts";
import { slashed } from "../sources.ts";
import type { FileMemory } from "./file-memory.ts";
import type { Modules, SourceModule } from "./modules.ts";

/** What pages and the modules that they reach ask for. */
export interface PageDemands {
  /** Segments named by literals, with the file that names each. */
  readonly started: ReadonlyMap<string, string>;
  /** `startClient` calls that name none. */
  readonly unclear: readonly Problem[];
  /** Named by `client.import('…')`, or by the `clientModules` globs. */
  readonly modules: readonly SourceModule[];
  /** All modules that pages reach, types left out. */
  readonly reached: ReadonlySet<SourceModule>;
  readonly problems: readonly Problem[];
}

interface Script {
  readonly text?: string;
  readonly src?: string;
}

/** Follows pages, and modules that are entries by themselves, through their imports. */
export async function readPages(options: {
  root: string;
  source: string;
  /** Root-absolute addresses in pages start at one of these. */
  bases: readonly string[];
  pages: readonly string[];
  entries: readonly SourceModule[];
  modules: Modules;
  memory: FileMemory;
  /** What a page gets of a module that it imports: of a split one, its shared part only. */
  visible: (module: SourceModule) => ModuleDescription;
}): Promise<PageDemands> {
  const { root, modules, memory } = options;
  const started = new Map<string, string>();
  const unclear: Problem[] = [];
  const problems: Problem[] = [];
  const asked = new Set<SourceModule>();
  const reached = new Set<SourceModule>();
  const queue = [...options.entries];

  const take = (description: ModuleDescription, name: string): void => {
    for (const call of description.startClientCalls)
      // A script inside a page is described under a name of its own, but the mistake stands in the page.
      if ("problem" in call) unclear.push({ ...call.problem, file: name });
      else for (const segment of call.segments) started.set(segment, started.get(segment) ?? name);
    for (const path of description.clientImports) {
      const module = modules.find(path);
      if (module !== undefined) {
        asked.add(module);
        queue.push(module);
      } else {
        const near = nearest(
          path.replace(/\.\w+$/, ""),
          [...modules.ids].map((id) => `./${id}`),
        );
        problems.push({
          file: name,
          message: `client.import("${path}") names no module of the source folder`,
          ...(near !== undefined && { hint: `Did you mean "${near}"?` }),
        });
      }
    }
  };

  for (const page of options.pages) {
    const name = slashed(relative(root, page));
    const scripts = memory.of(page, "scripts", () => scriptsOf(memory.text(page)));
    for (const [at, script] of scripts.entries()) {
      if (script.src !== undefined) queue.push(...found(script.src, page, options));
      const { text } = script;
      if (text === undefined) continue;
      const description = memory.of(page, `script ${at}`, () => modules.describeText(text, `${page}.ts`, name));
      take(description, name);
      for (const one of description.imports) {
        const module = one.typeOnly ? undefined : ((await modules.resolve(one.specifier, page)) ?? found(one.specifier, page, options)[0]);
        if (module !== undefined) queue.push(module);
      }
    }
  }
  for (let module = queue.pop(); module !== undefined; module = queue.pop()) {
    if (reached.has(module)) continue;
    reached.add(module);
    const description = options.visible(module);
    take(description, module.name);
    for (const edge of await modules.importsOf(module, description)) if (!edge.typeOnly) queue.push(edge.module);
  }
  return { started, unclear, modules: [...asked], reached, problems };
}

/** The module behind an address in a page, if it is one of the source folder's. */
function found(address: string, page: string, options: { bases: readonly string[]; modules: Modules }): readonly SourceModule[] {
  const path = address.replace(/[?#].*$/, "");
  if (/^(?:[a-z][\w+.-]*:|\/\/)/i.test(path)) return [];
  const bases = path.startsWith("/") ? options.bases : [dirname(page)];
  const modules = bases.map((base) => options.modules.byFile(resolve(base, `./${path}`)));
  return modules.filter((one) => one !== undefined).slice(0, 1);
}

/**
 * Module scripts of a page. The text of an inline one keeps its lines and columns, so that problems point into the page.
 * Chosen: a scan for tags is enough here, as Vite's own reading of the page decides what is built.
 */
export function scriptsOf(html: string): readonly Script[] {
  const scripts: Script[] = [];
  const visible = html.replace(/<!--[\s\S]*?-->/g, blank);
  for (const match of visible.matchAll(/<script\b([^>]*)>([\s\S]*?)<\/script\s*>/gi)) {
    const attributes = match[1] ?? "";
    if (!/\btype\s*=\s*["']?module\b/i.test(attributes)) continue;
    const src = /\bsrc\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/i.exec(attributes);
    if (src !== null) scripts.push({ src: src[1] ?? src[2] ?? src[3] ?? "" });
    else {
      const start = match.index + match[0].indexOf(">") + 1;
      scripts.push({ text: blank(html.slice(0, start)) + (match[2] ?? "") });
    }
  }
  return scripts;
}

function blank(text: string): string {
  return text.replace(/[^\n\r]/g, " ");
}
