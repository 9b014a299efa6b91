// Decorators and `accessor` fields that nothing compiled, in the application and in bundled
// packages. Builds and development check what the plugins left; `seamline check` asks Vite's
// compiler alone, which compiles them only if tsconfig.json sets `experimentalDecorators`.

import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, relative } from "node:path";

import type { Problem } from "../../../src/base/problem.ts";
import { problemAt } from "../../../src/split/read/code-frame.ts";
import { futureSyntaxHint } from "../../../src/split/describe/future-syntax.ts";
import { readModule } from "../../../src/split/read/read-module.ts";
import type { Parse } from "../../../src/split/read/tree.ts";
import { slashed } from "../../files/sources.ts";
import type { Application } from "../cut/application.ts";
import { isInstalled } from "../read/package-of.ts";
import { isTyped } from "./tsconfig.ts";

/** The problem if nothing compiles the syntax in a file; `undefined` if there is none. */
export function uncompiled(
  file: string,
  { modules, root }: Pick<Application, "modules" | "root">,
  parse: Parse,
): Problem | undefined {
  const module = modules.byFile(file);
  if (module === undefined && !mayNeedCompiling(file)) return undefined;
  const source = module === undefined ? readFileSync(file, "utf8") : modules.text(file);
  const at =
    module === undefined ? firstIn(file, source, parse) : modules.outline(module).futureSyntax;
  if (at === undefined) return undefined;
  return problemAt(
    { file: module?.name ?? slashed(relative(root, file)), source },
    at,
    "Neither Node nor browsers can run decorators and `accessor` fields, and nothing in this build compiles them",
    'Set "experimentalDecorators": true in tsconfig.json, add a plugin that compiles them, or avoid them.',
  );
}

/** Whether compiled code still has such syntax. */
export function isLeft(code: string, parse: Parse): boolean {
  return firstIn("compiled.jsx", code, parse) !== undefined;
}

/** Installed JavaScript is compiled already. */
function mayNeedCompiling(file: string): boolean {
  return (
    isAbsolute(file) &&
    /\.[cm]?[jt]sx?$/.test(file) &&
    (isTyped(file) || !isInstalled(file)) &&
    existsSync(file)
  );
}

/**
 * Offset of the first such syntax; `undefined` if the text can't be parsed, which others report.
 */
function firstIn(file: string, text: string, parse: Parse): number | undefined {
  if (!futureSyntaxHint.test(text)) return undefined;
  return readModule({ file, source: text, parse }).module?.futureSyntax[0]?.start;
}
