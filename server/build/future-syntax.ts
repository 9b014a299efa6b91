// Decorators and `accessor` fields that nothing has compiled: a build and development look at what the plugins have left of them, a check asks
// Vite's compiler alone. Vite compiles them where tsconfig.json says `experimentalDecorators`, and else leaves them in what it writes.

import type { Environment, Plugin } from "vite";

import type { Problem } from "../../src/problem.ts";
import { problemAt } from "../../src/split/mark.ts";
import { futureSyntax } from "../../src/split/future-syntax.ts";
import { type Parse, programOf } from "../../src/split/tree.ts";
import type { Application } from "./application.ts";
import type { Build } from "./build-run.ts";
import { loadVite, parserOf } from "./load-vite.ts";
import type { Modules, SourceModule } from "./modules.ts";

/** Refuses what is left of such syntax when all other plugins have had their turn. */
export function syntaxGuard(build: Build, applicationOf: (environment: Environment) => Promise<Application | undefined>): Plugin {
  return {
    name: "seamline:syntax",
    enforce: "post",
    sharedDuringBuild: true,
    transform: {
      order: "post",
      async handler(code, id) {
        const application = await applicationOf(this.environment);
        const module = application?.modules.byFile(id.replace(/\?.*$/, ""));
        const problem = module === undefined ? undefined : uncompiled(module, application?.modules as Modules);
        if (problem === undefined || !isLeft(code, parserOf(await loadVite(build.root)))) return;
        // A build tells all of them at its end.
        if (this.environment.mode === "build") build.mistakes.push(problem);
        else throw build.fail([problem]);
      },
    },
  };
}

/** What to say of a module with such syntax if nobody compiles it; `undefined` for all others. */
export function uncompiled(module: SourceModule, modules: Modules): Problem | undefined {
  const at = modules.describe(module).futureSyntax;
  if (at === undefined) return undefined;
  return problemAt(
    { file: module.name, source: modules.text(module.file) },
    at,
    "Neither Node nor browsers can run decorators and `accessor` fields, and nothing in this build compiles them",
    'Set "experimentalDecorators": true in tsconfig.json, add a plugin that compiles them, or do without them.',
  );
}

/** Whether compiled code still has such syntax. */
export function isLeft(code: string, parse: Parse): boolean {
  const parsed = parse("compiled.jsx", code);
  return parsed.errors.length === 0 && futureSyntax(programOf(parsed), code, parsed.comments).length > 0;
}
