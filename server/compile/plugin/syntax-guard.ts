// Refuses decorators and `accessor` fields that no plugin has compiled.

import type { Environment, Plugin } from "vite";

import { futureSyntaxHint } from "../../../src/split/describe/future-syntax.ts";
import type { Parse } from "../../../src/split/read/tree.ts";
import type { ApplicationReader } from "../application-reader.ts";
import type { Application } from "../cut/application.ts";
import { loadVite, parserOf } from "../read/load-vite.ts";
import { isLeft, uncompiled } from "../rules/future-syntax.ts";
import type { Findings } from "../write/findings.ts";

/** Refuses such syntax if it is left after all other plugins. */
export function syntaxGuard(
  reader: Pick<ApplicationReader, "root">,
  findings: Findings,
  applicationFor: (environment: Environment, id: string) => Promise<Application | undefined>,
): Plugin {
  let parser: Promise<Parse> | undefined;
  return {
    name: "seamline:syntax",
    enforce: "post",
    sharedDuringBuild: true,
    transform: {
      order: "post",
      // The bundler calls this for no other code, which saves a way out of it for each module.
      filter: { code: futureSyntaxHint },
      async handler(code, id) {
        const application = await applicationFor(this.environment, id);
        if (application === undefined) return;
        const parse = await (parser ??= loadVite(reader.root).then(parserOf));
        const problem = uncompiled(id.replace(/[?#].*$/, ""), application, parse);
        if (problem === undefined || !isLeft(code, parse)) return;
        // A build reports them all at its end.
        if (this.environment.mode === "build") findings.mistakes.push(problem);
        else throw findings.fail([problem]);
      },
    },
  };
}
