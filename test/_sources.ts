// Source files as the architecture tests see them: path, text and imports.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, posix, relative, sep } from "node:path";
import type TypeScript from "typescript";

/**
 * By `require`: Vitest takes the compiler for an ES module, and would transform nine megabytes of
 * it.
 */
export const ts: typeof TypeScript = createRequire(import.meta.url)(
  "typescript",
) as typeof TypeScript;

export const root: string = join(import.meta.dirname, "..");

export interface Import {
  /** As written. */
  specifier: string;
  /** Path from the root where the import is relative. */
  path: string | undefined;
  typeOnly: boolean;
  /** By `import()`. */
  lazy: boolean;
}

export interface Source {
  /** From the root, with forward slashes: `src/base/call.ts`. */
  path: string;
  text: string;
  tree: TypeScript.SourceFile;
  imports: readonly Import[];
}

/** Paths of all files under a folder of the project, from the root, with forward slashes. */
export function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter(
      (entry) => entry.isFile() && !/[\\/](node_modules|dist)([\\/]|$)/.test(entry.parentPath),
    )
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll(sep, "/"))
    .toSorted();
}

function importsOf(path: string, tree: TypeScript.SourceFile): Import[] {
  const found: Import[] = [];
  const add = (specifier: TypeScript.Node | undefined, typeOnly: boolean, lazy = false) => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return;
    const relativePath = specifier.text.startsWith(".")
      ? posix.join(dirname(path), specifier.text)
      : undefined;
    found.push({ specifier: specifier.text, path: relativePath, typeOnly, lazy });
  };
  const visit = (node: TypeScript.Node): void => {
    if (ts.isImportDeclaration(node))
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node.argument.literal, true);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], false, true);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** The TypeScript sources of a folder. */
export function sourcesIn(folder: string): Source[] {
  return filesIn(folder)
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))
    .map((path) => {
      const text = readFileSync(join(root, path), "utf8");
      const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false, ts.ScriptKind.TS);
      return {
        path,
        text,
        tree,
        imports: importsOf(path, tree),
      };
    });
}
