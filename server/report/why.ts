// `seamline inspect --why`: the chain of imports that brings something into the browser.

import { isBuiltin } from "node:module";
import { resolve } from "node:path";

import { nearest } from "../../src/base/problem.ts";
import type { BrowserModule } from "../compile/rules/browser-graph.ts";
import { valueImports } from "../compile/read/described-imports.ts";
import { placeOfImport } from "../compile/read/import-problem.ts";
import type { Inspected } from "./inspection.ts";
import { parsePartId, partId } from "../compile/read/module-ids.ts";
import type { SourceModule } from "../compile/read/modules.ts";

/** What `seamline inspect --why MODULE --json` prints. */
export interface Why {
  /** The module or package in the query. */
  readonly name: string;
  readonly inBrowser: boolean;
  /** One chain for each part that browsers get, from an entry down to it. */
  readonly ways: readonly {
    readonly part?: "face" | "shared" | "body";
    readonly chain: readonly WhyStep[];
  }[];
  /** All modules that import it, in browsers or not. */
  readonly importers: readonly WhyStep[];
}

export interface WhyStep {
  readonly name: string;
  readonly part?: "face" | "shared" | "body";
  /** Of the import that leads on. */
  readonly line?: number;
}

/**
 * Finds a module by path or id, a package or module of Node by name. `near` is the closest known
 * name.
 */
export function whyInBrowser(
  inspected: Inspected,
  query: string,
): Why | { readonly near: string | undefined } {
  const { application } = inspected.open;
  const source =
    application.modules.at(resolve(application.root, query)) ?? application.modules.find(query);
  const node = isBuiltin(query) ? query.replace(/^(?:node:)?/, "node:") : undefined;
  const found = [...inspected.graph.modules.values()].filter((module) =>
    source !== undefined
      ? module.module === source
      : node !== undefined
        ? module.id === node
        : isNamed(module, query),
  );
  const importers = importersOf(inspected, source, node ?? query);
  // Of a package with many files, show the one that the application itself imports.
  const shown = source === undefined ? found.slice(0, 1) : found;
  if (source === undefined && node === undefined && found.length === 0 && importers.length === 0)
    return { near: nearTo(inspected, query) };
  return {
    name: source?.name ?? node ?? query,
    inBrowser: found.length > 0,
    ways: shown.map((module) => ({
      ...(module.part !== undefined && { part: module.part }),
      chain: chainOf(module, inspected),
    })),
    importers,
  };
}

function isNamed({ kind, name }: BrowserModule, query: string): boolean {
  return (kind === "code" || kind === "asset") && (name === query || name.startsWith(`${query}/`));
}

function chainOf(end: BrowserModule, inspected: Inspected): readonly WhyStep[] {
  const steps: WhyStep[] = [{ name: end.name, ...(end.part !== undefined && { part: end.part }) }];
  for (let module = end; module.importers[0] !== undefined;) {
    const { from, specifier } = module.importers[0];
    const line =
      specifier === undefined || parsePartId(specifier).part !== undefined
        ? undefined
        : lineIn(from, specifier, inspected);
    // The parts of a module are one step: nobody wrote an import between them.
    if (steps[0]?.name !== from.name)
      steps.unshift({
        name: from.name,
        ...(from.part !== undefined && { part: from.part }),
        ...(line !== undefined && { line }),
      });
    module = from;
  }
  return steps;
}

function lineIn(
  from: BrowserModule,
  specifier: string,
  { open: { application } }: Inspected,
): number | undefined {
  return from.module === undefined
    ? undefined
    : placeOfImport(application.modules.text(from.module.file), specifier)?.line;
}

/** Source modules that import it by value, wherever they run. */
function importersOf(
  inspected: Inspected,
  source: SourceModule | undefined,
  query: string,
): readonly WhyStep[] {
  const { graph, open } = inspected;
  const { modules } = open.application;
  const target = graphTargets(inspected, source);
  const found: WhyStep[] = [];
  for (const id of modules.ids) {
    const module = modules.get(id);
    if (module === undefined || module === source) continue;
    const specifier = valueImports(modules.describe(module)).find((imported) =>
      source !== undefined ? target.get(module)?.has(imported) === true : isMeant(imported, query),
    );
    if (specifier === undefined) continue;
    const line = placeOfImport(modules.text(module.file), specifier)?.line;
    const isFaceOnly =
      graph.modules.get(module.file)?.part === "face" &&
      !graph.modules.has(partId.body(module.file));
    found.push({
      name: module.name,
      ...(line !== undefined && { line }),
      ...(isFaceOnly && { part: "face" }),
    });
  }
  return found;
}

function isMeant(specifier: string, query: string): boolean {
  const plain = specifier.replace(/^node:/, "");
  const name = query.replace(/^node:/, "");
  return plain === name || plain.startsWith(`${name}/`);
}

/** Importer → its specifiers that mean `source`. */
function graphTargets(
  { open: { application } }: Inspected,
  source: SourceModule | undefined,
): ReadonlyMap<SourceModule, ReadonlySet<string>> {
  const found = new Map<SourceModule, Set<string>>();
  if (source === undefined) return found;
  const { modules } = application;
  for (const id of modules.ids) {
    const module = modules.get(id);
    if (module === undefined) continue;
    for (const specifier of valueImports(modules.describe(module)))
      if (
        /^\.{1,2}(?:\/|$)/.test(specifier) &&
        modules.at(resolve(module.file, "..", specifier.replace(/[?#].*$/, ""))) === source
      )
        found.set(module, (found.get(module) ?? new Set<string>()).add(specifier));
  }
  return found;
}

function nearTo({ graph, open }: Inspected, query: string): string | undefined {
  const { modules } = open.application;
  const names = [...modules.ids].map((id) => modules.get(id)?.name ?? id);
  const packages = [...graph.modules.values()]
    .map((module) => module.package)
    .filter((name) => name !== undefined);
  return nearest(query, new Set([...names, ...packages])) ?? nearest(query, modules.ids);
}
