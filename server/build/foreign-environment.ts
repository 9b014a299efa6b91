// Environments of others in a configuration of Vite's: above all those of frameworks that render pages on a server. Seams have no node there, so
// what would fail at the first call, or before, is told where it is imported.

import { readFileSync } from "node:fs";
import { basename, relative } from "node:path";

import type { Environment, Plugin, ResolvedConfig } from "vite";

import { type Problem, Problems } from "../../src/problem.ts";
import { slashed } from "../sources.ts";
import type { Application } from "./application.ts";
import type { Build } from "./build-run.ts";
import { environmentNames } from "./environments.ts";
import { importProblem } from "./import-problem.ts";
import type { SourceModule } from "./modules.ts";

/** Whether an environment is one of the two in which modules are split. */
export function isOwnEnvironment(name: string): boolean {
  return Object.values<string>(environmentNames).includes(name);
}

/** For environments that aren't: all is as if the plugin weren't there, but for modules with procedures. */
export function foreignEnvironment(
  build: Build,
  applicationOf: (environment: Environment) => Promise<Application>,
): Plugin {
  return {
    name: "seamline:foreign",
    enforce: "pre",
    resolveId: {
      order: "pre",
      async handler(source, importer, options) {
        if (importer === undefined || source.startsWith("\0")) return undefined;
        const found = await this.resolve(source, importer, { ...options, skipSelf: true });
        const application = found === null ? undefined : await applicationOf(this.environment);
        const cut =
          found === null ? undefined : application?.cut.get(found.id.replace(/[?#].*$/, ""));
        if (cut === undefined) return found;
        const { name } = this.environment;
        const message = `the environment "${name}" imports ${cut.module.name}, which has procedures: they can be called from pages and from other procedures, but not from where a server renders pages`;
        const hint = `Call the service over HTTP there: fetch("http://…/rpc/${cut.procedures[0]?.fqn}").`;
        throw refusal(
          importProblem(
            importer,
            specifierIn(importer, source, cut.module),
            build.root,
            message,
            hint,
          ),
        );
      },
    },
  };
}

/** What stands in the importer: an alias has been replaced before anybody is asked. */
function specifierIn(importer: string, source: string, { file }: SourceModule): string {
  const text = readFileSync(importer.replace(/[?#].*$/, ""), "utf8");
  if (text.includes(source)) return source;
  const name = basename(file).replace(/\.\w+$/, "");
  const found = [...text.matchAll(/["'`]([^"'`\n]+)["'`]/g)].map(([, specifier = ""]) => specifier);
  return found.find((specifier) => basename(specifier).replace(/\.\w+$/, "") === name) ?? source;
}

/** What is wrong where pages are built and servers aren't. */
export function foreignBuild(
  { configFile }: Pick<ResolvedConfig, "configFile">,
  root: string,
): Problems {
  return refusal({
    file: configFile === undefined ? "vite.config" : slashed(relative(root, configFile)),
    message:
      "pages are built here without the modules of Seamline's servers, as frameworks do that render pages on a server of their own: the plugin can't build with these yet",
    hint: 'Take seamline() out, give the service a configuration of its own, and call it over HTTP: fetch("http://…/rpc/…"). A script builds both with (await createBuilder(config, null)).buildApp().',
  });
}

/** Frameworks show it as an error of their own, with a stack that leads through tools only. */
function refusal(problem: Problem): Problems {
  const error = new Problems([problem]);
  error.stack = error.message;
  return error;
}
