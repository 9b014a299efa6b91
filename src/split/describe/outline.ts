// The outline of a module: its imports and exports, which is all that most rules ask of a module
// without procedures. The parser lists these by itself, so no syntax tree of such a module is made.

import type { ModuleRecord, ParsedModule, RecordedExport, RecordedImport } from "../read/tree.ts";
import type { ModuleDescription, ModuleExport, ModuleImport } from "./describe.ts";

/** The facts of an outline; a module's description has the same. */
export interface ModuleOutline extends Pick<
  ModuleDescription,
  "starReexports" | "classes" | "problems" | "startClientCalls" | "clientImports" | "futureSyntax"
> {
  readonly imports: readonly Omit<ModuleImport, "unused">[];
  readonly exports: readonly Pick<ModuleExport, "name" | "from">[];
}

// Classes, decorators and accessors of theirs, and requests to the client are read from the tree. An
// escape may hide any of these words.
const needsTree = /\bclass\b|\bstartClient\b|\\u/;

/** The outline of a module; `undefined` if it takes the syntax tree to tell. */
export function outlineOf(source: string, parse: () => ParsedModule): ModuleOutline | undefined {
  if (needsTree.test(source)) return undefined;
  const { errors, module } = parse();
  if (errors.length > 0 || module === undefined || hasOtherImports(source, module))
    return undefined;
  const imports = module.staticImports.map((found) => importOf(source, found));
  const exports = module.staticExports.map((found) => namesOf(source, found));
  if (imports.includes(undefined) || exports.includes(undefined)) return undefined;
  // Overloads have one name.
  const names = new Set(exports.flatMap((found) => found ?? []));
  return {
    imports: imports.filter((found) => found !== undefined),
    exports: [...names].map((name) => ({ name })),
    starReexports: [],
    classes: [],
    problems: [],
    startClientCalls: [],
    clientImports: [],
  };
}

/** Whether the word stands anywhere else: `import("…")`, `client.import("…")`, `import.meta`, or in a comment. */
function hasOtherImports(source: string, { staticImports }: ModuleRecord): boolean {
  const starts = new Set(staticImports.map(({ start }) => start));
  return [...source.matchAll(/\bimport\b/g)].some(({ index }) => !starts.has(index));
}

function importOf(
  source: string,
  { start, moduleRequest, entries }: RecordedImport,
): ModuleOutline["imports"][number] | undefined {
  // Of `import type {} from "…"` the record is the same.
  if (entries.length === 0 && !/^import\s*$/.test(source.slice(start, moduleRequest.start)))
    return undefined;
  return {
    specifier: moduleRequest.value,
    typeOnly: entries.length > 0 && entries.every(({ isType }) => isType),
    names: entries.map(({ importName, localName }) => ({
      imported:
        importName.kind === "Name"
          ? (importName.name ?? "")
          : importName.kind === "Default"
            ? "default"
            : "*",
      local: localName.value,
    })),
  };
}

const declared = /^export\s+(?:(?:async\s+)?function|const|let|var|interface|type)\b/;
const defaultFunction = /^export\s+default\s+(?:async\s+)?function\b/;

/** The names that a declaration exports. Whether `export { a }` is a value depends on what declares `a`. */
function namesOf(
  source: string,
  { start, end, entries }: RecordedExport,
): readonly string[] | undefined {
  const text = source.slice(start, end);
  if (defaultFunction.test(text)) return ["default"];
  if (!declared.test(text)) return undefined;
  const isDeclaration = entries.every(
    ({ moduleRequest, exportName, localName }) =>
      moduleRequest === null && localName.kind === "Name" && exportName.name === localName.name,
  );
  return isDeclaration
    ? entries.flatMap(({ isType, exportName: { name } }) => (isType || name === null ? [] : [name]))
    : undefined;
}
