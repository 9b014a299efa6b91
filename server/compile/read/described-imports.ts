// The imports and re-exports in the description of a module or of a part.

import type { ModuleExport, ModuleImport } from "../../../src/split/describe/describe.ts";
import type { ModuleOutline } from "../../../src/split/describe/outline.ts";

export interface DescribedImport {
  readonly specifier: string;
  readonly typeOnly: boolean;
  readonly names: readonly string[];
  /** The local name of `import * as …`. */
  readonly namespace?: string | undefined;
  readonly isReexport: boolean;
}

/** As much of a description as {@link importsIn} reads. */
export type CodeImports = Pick<ModuleOutline, "imports" | "exports" | "starReexports">;

/** All imports and re-exports, of values and of types. */
export function importsIn(description: CodeImports): readonly DescribedImport[] {
  return [
    ...description.imports.map(({ specifier, typeOnly, names }) => ({
      specifier,
      typeOnly,
      names: names.map((name) => name.imported),
      namespace: names.find((name) => name.imported === "*")?.local,
      isReexport: false,
    })),
    ...description.exports.flatMap((exported) =>
      exported.from === undefined
        ? []
        : [
            {
              specifier: exported.from.specifier,
              typeOnly: false,
              names: [exported.from.name],
              isReexport: true,
            },
          ],
    ),
    ...description.starReexports.map((specifier) => ({
      specifier,
      typeOnly: false,
      names: ["*"],
      isReexport: true,
    })),
  ];
}

/** Specifiers of imports and re-exports of values. An outline doesn't tell which imports go with the types. */
export function valueImports(description: {
  readonly imports: readonly Pick<ModuleImport, "specifier" | "typeOnly" | "unused">[];
  readonly exports: readonly Pick<ModuleExport, "from">[];
  readonly starReexports: readonly string[];
}): readonly string[] {
  return [
    ...description.imports
      .filter((statement) => !statement.typeOnly && statement.unused !== true)
      .map((statement) => statement.specifier),
    ...description.exports.flatMap((exported) => exported.from?.specifier ?? []),
    ...description.starReexports,
  ];
}
