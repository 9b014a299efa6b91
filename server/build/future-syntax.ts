// Decorators and `accessor` fields that nothing has compiled, in the application and in packages that become a part of its build: a build and
// development look at what the plugins have left of them, a check asks Vite's compiler alone. Vite compiles them where tsconfig.json says
// `experimentalDecorators`, and else leaves them in what it writes.

import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, relative } from "node:path";

import type { Environment, Plugin } from "vite";

import type { Problem } from "../../src/problem.ts";
import { problemAt } from "../../src/split/mark.ts";
import { futureSyntax, mayHoldFutureSyntax } from "../../src/split/future-syntax.ts";
import { type Parse, programOf } from "../../src/split/tree.ts";
import { slashed } from "../sources.ts";
import type { Application } from "./application.ts";
import type { Build } from "./build-run.ts";
import { loadVite, parserOf } from "./load-vite.ts";
import { isInstalled } from "./package-of.ts";
import { isTyped } from "./tsconfig.ts";

/** Refuses what is left of such syntax when all other plugins have had their turn. */
export function syntaxGuard(
  build: Build,
  applicationFor: (environment: Environment, id: string) => Promise<Application | undefined>,
): Plugin {
  let parser: Promise<Parse> | undefined;
  return {
    name: "seamline:syntax",
    enforce: "post",
    sharedDuringBuild: true,
    transform: {
      order: "post",
      async handler(code, id) {
        const application = await applicationFor(this.environment, id);
        if (application === undefined) return;
        const parse = await (parser ??= loadVite(build.root).then(parserOf));
        const problem = uncompiled(id.replace(/[?#].*$/, ""), application, parse);
        if (problem === undefined || !isLeft(code, parse)) return;
        // A build tells all of them at its end.
        if (this.environment.mode === "build") build.mistakes.push(problem);
        else throw build.fail([problem]);
      },
    },
  };
}

/** What to say of a file with such syntax if nobody compiles it; `undefined` for all others. */
export function uncompiled(
  file: string,
  { modules, root }: Pick<Application, "modules" | "root">,
  parse: Parse,
): Problem | undefined {
  const module = modules.byFile(file);
  if (module === undefined && !mayNeedCompiling(file)) return undefined;
  const source = module === undefined ? readFileSync(file, "utf8") : modules.text(file);
  const at =
    module === undefined ? firstIn(file, source, parse) : modules.describe(module).futureSyntax;
  if (at === undefined) return undefined;
  return problemAt(
    { file: module?.name ?? slashed(relative(root, file)), source },
    at,
    "Neither Node nor browsers can run decorators and `accessor` fields, and nothing in this build compiles them",
    'Set "experimentalDecorators": true in tsconfig.json, add a plugin that compiles them, or do without them.',
  );
}

/** Whether compiled code still has such syntax. */
export function isLeft(code: string, parse: Parse): boolean {
  return firstIn("compiled.jsx", code, parse) !== undefined;
}

/** What was installed in JavaScript has been compiled for engines already. */
function mayNeedCompiling(file: string): boolean {
  return (
    isAbsolute(file) &&
    /\.[cm]?[jt]sx?$/.test(file) &&
    (isTyped(file) || !isInstalled(file)) &&
    existsSync(file)
  );
}

/** Where such syntax begins in a text; text that can't be parsed has problems of its own. */
function firstIn(file: string, text: string, parse: Parse): number | undefined {
  if (!mayHoldFutureSyntax(text)) return undefined;
  const parsed = parse(file, text);
  return parsed.errors.length > 0
    ? undefined
    : futureSyntax(programOf(parsed), text, parsed.comments)[0]?.start;
}
