// Collects the code that browsers get: whole modules, and of split ones the shared part and the
// body that pages hold.

import type { CodeDescription } from "../../../src/split/describe/describe.ts";
import type { CutModule } from "./cut.ts";
import type { Modules, SourceModule } from "../read/modules.ts";

/** A module, or a part of one. */
export interface BrowserCode {
  readonly module: SourceModule;
  readonly text: string;
  readonly description: CodeDescription;
}

export interface BrowserCodeOptions {
  readonly cut: ReadonlyMap<string, CutModule>;
  readonly modules: Modules;
  /** Modules that pages reach, and those that are entries by themselves. */
  readonly pageModules: Iterable<SourceModule>;
  readonly browserModules: Iterable<SourceModule>;
}

/** Follows value imports from the modules of pages and from the bodies that they hold. */
export async function browserCode({
  cut,
  modules,
  pageModules,
  browserModules,
}: BrowserCodeOptions): Promise<readonly BrowserCode[]> {
  const held = [...cut.values()]
    .filter((cutModule) => cutModule.parts.browser.body !== undefined)
    .map((cutModule) => cutModule.module);
  const reached = new Set<SourceModule>([...pageModules, ...browserModules, ...held]);
  const found: BrowserCode[] = [];
  // Iterating a set includes items that are added meanwhile.
  for (const module of reached) {
    const parts = cut.get(module.file)?.parts.browser;
    const code =
      parts === undefined
        ? [{ module, text: modules.text(module.file), description: modules.describe(module) }]
        : [
            // Of its face, the re-exports.
            { module, text: "", description: parts.face.description },
            ...[parts.shared, parts.body].flatMap((part) =>
              part === undefined
                ? []
                : [{ module, text: part.code, description: part.description }],
            ),
          ];
    found.push(...code);
    for (const { description } of code)
      for (const edge of await modules.importsIn(module.file, description))
        if (!edge.typeOnly) reached.add(edge.module);
  }
  return found;
}
