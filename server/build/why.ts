// `seamline inspect --why`: by which imports something gets into the browser, or where its way there ends.

import { isBuiltin } from "node:module";
import { resolve } from "node:path";

import { nearest } from "../../src/problem.ts";
import { type BrowserModule, valueImports } from "./browser-graph.ts";
import { placeOfImport } from "./import-problem.ts";
import type { Inspected } from "./inspection.ts";
import type { SourceModule } from "./modules.ts";

/** What `seamline inspect --why MODULE --json` prints. */
export interface Why {
  /** What was asked for, as the application knows it. */
  readonly name: string;
  readonly inBrowser: boolean;
  /** One for each part of it that browsers get, from a page or another entry down to it. */
  readonly ways: readonly {
    readonly part?: "face" | "shared" | "body";
    readonly chain: readonly WhyStep[];
  }[];
  /** Who imports it, in the browser or not. */
  readonly importers: readonly WhyStep[];
}

export interface WhyStep {
  readonly name: string;
  readonly part?: "face" | "shared" | "body";
  /** Of the import that leads on. */
  readonly line?: number;
}

/** Looks for a module by its path or id, a package by its name, or a module of Node; `near` is what may have been meant instead. */
export function whyInBrowser(
  inspected: Inspected,
  asked: string,
): Why | { readonly near: string | undefined } {
  const { application } = inspected.open;
  const source =
    application.modules.at(resolve(application.root, asked)) ?? application.modules.find(asked);
  const node = isBuiltin(asked) ? asked.replace(/^(?:node:)?/, "node:") : undefined;
  const found = [...inspected.graph.modules.values()].filter((one) =>
    source !== undefined
      ? one.module === source
      : node !== undefined
        ? one.id === node
        : isNamed(one, asked),
  );
  const importers = importersOf(inspected, source, node ?? asked);
  // Of a package with many files, the one that the application itself asked for.
  const shown = source === undefined ? found.slice(0, 1) : found;
  if (source === undefined && node === undefined && found.length === 0 && importers.length === 0)
    return { near: nearTo(inspected, asked) };
  return {
    name: source?.name ?? node ?? asked,
    inBrowser: found.length > 0,
    ways: shown.map((one) => ({
      ...(one.part !== undefined && { part: one.part }),
      chain: chainOf(one, inspected),
    })),
    importers,
  };
}

function isNamed({ kind, name }: BrowserModule, asked: string): boolean {
  return (kind === "code" || kind === "asset") && (name === asked || name.startsWith(`${asked}/`));
}

function chainOf(end: BrowserModule, inspected: Inspected): readonly WhyStep[] {
  const steps: WhyStep[] = [{ name: end.name, ...(end.part !== undefined && { part: end.part }) }];
  for (let one = end; one.importers[0] !== undefined;) {
    const { from, specifier } = one.importers[0];
    const line =
      specifier === undefined || specifier.includes("?seamline=")
        ? undefined
        : lineIn(from, specifier, inspected);
    // The parts of one module are one step: nobody wrote an import between them.
    if (steps[0]?.name !== from.name)
      steps.unshift({
        name: from.name,
        ...(from.part !== undefined && { part: from.part }),
        ...(line !== undefined && { line }),
      });
    one = from;
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
  asked: string,
): readonly WhyStep[] {
  const { graph, open } = inspected;
  const { modules } = open.application;
  const target = graphTargets(inspected, source);
  const found: WhyStep[] = [];
  for (const id of modules.ids) {
    const module = modules.get(id);
    if (module === undefined || module === source) continue;
    const specifier = valueImports(modules.describe(module)).find((one) =>
      source !== undefined ? target.get(module)?.has(one) === true : isMeant(one, asked),
    );
    if (specifier === undefined) continue;
    const line = placeOfImport(modules.text(module.file), specifier)?.line;
    const isFaceOnly =
      graph.modules.get(module.file)?.part === "face" &&
      !graph.modules.has(`${module.file}?seamline=body`);
    found.push({
      name: module.name,
      ...(line !== undefined && { line }),
      ...(isFaceOnly && { part: "face" }),
    });
  }
  return found;
}

function isMeant(specifier: string, asked: string): boolean {
  const plain = specifier.replace(/^node:/, "");
  const name = asked.replace(/^node:/, "");
  return plain === name || plain.startsWith(`${name}/`);
}

/** Importer → the specifiers by which it means `source`. */
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

function nearTo({ graph, open }: Inspected, asked: string): string | undefined {
  const { modules } = open.application;
  const names = [...modules.ids].map((id) => modules.get(id)?.name ?? id);
  const packages = [...graph.modules.values()]
    .map((one) => one.package)
    .filter((one) => one !== undefined);
  return nearest(asked, new Set([...names, ...packages])) ?? nearest(asked, modules.ids);
}
