// The code that browsers get of an application: modules as they are, and of split ones the shared part and what pages hold of the procedures.

import type { ModuleDescription } from "../../src/split/describe.ts";
import type { CutModule } from "./cut.ts";
import type { Modules, SourceModule } from "./modules.ts";

/** A module, or a part of one. */
export interface BrowserCode {
  readonly module: SourceModule;
  readonly text: string;
  readonly description: ModuleDescription;
}

export interface BrowserCodeOptions {
  readonly cut: ReadonlyMap<string, CutModule>;
  readonly modules: Modules;
  /** Modules that pages reach, and those that are entries by themselves. */
  readonly pageModules: Iterable<SourceModule>;
  readonly clientModules: Iterable<SourceModule>;
}

/** Follows value imports, from what pages load and from the procedures that they hold. */
export async function browserCode({
  cut,
  modules,
  pageModules,
  clientModules,
}: BrowserCodeOptions): Promise<readonly BrowserCode[]> {
  const held = [...cut.values()]
    .filter((one) => one.parts.browser.body !== undefined)
    .map((one) => one.module);
  const reached = new Set<SourceModule>([...pageModules, ...clientModules, ...held]);
  const found: BrowserCode[] = [];
  // A set hands out what is added while it is walked.
  for (const module of reached) {
    const parts = cut.get(module.file)?.parts.browser;
    const whole = modules.describe(module);
    const code =
      parts === undefined
        ? [{ module, text: modules.text(module.file), description: whole }]
        : [
            { module, text: "", description: passedOn(whole) },
            ...[parts.shared, parts.body].map((part) => ({
              module,
              text: part?.code ?? "",
              description: modules.describePart(module, part),
            })),
          ];
    found.push(...code);
    for (const { description } of code)
      for (const edge of await modules.importsOf(module, description))
        if (!edge.typeOnly) reached.add(edge.module);
  }
  return found;
}

const faces = new WeakMap<ModuleDescription, ModuleDescription>();

/** What a face has of the imports of its module; the same object as long as nothing in the module changes. */
function passedOn(whole: ModuleDescription): ModuleDescription {
  const known = faces.get(whole) ?? {
    ...whole,
    imports: [],
    clientImports: [],
    startClientCalls: [],
  };
  faces.set(whole, known);
  return known;
}
