// Environments that aren't ours, above all those of frameworks that render pages on a server. Seams
// have no node there, so an import of a procedure is refused instead of failing at the first call.

import { readFileSync } from "node:fs";
import { basename, relative } from "node:path";

import type { Environment, Plugin, ResolvedConfig } from "vite";

import { type Problem, Problems } from "../../../src/base/problem.ts";
import { slashed } from "../../files/sources.ts";
import type { Application } from "../cut/application.ts";
import type { ApplicationReader } from "../application-reader.ts";
import { environmentNames } from "../read/module-ids.ts";
import { importProblem } from "../read/import-problem.ts";
import type { SourceModule } from "../read/modules.ts";

/** Whether modules are split in an environment. */
export function isOwnEnvironment(name: string): boolean {
  return Object.values<string>(environmentNames).includes(name);
}

/** The plugin for other environments. It only refuses imports of modules with procedures. */
export function foreignEnvironment(
  reader: Pick<ApplicationReader, "root">,
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
        const message = `the environment "${name}" imports ${cut.module.name}, which has procedures: pages and other procedures can call them, but not code that renders pages on a server`;
        const hint = `Call the service over HTTP there: fetch("http://…/rpc/${cut.procedures[0]?.fqn}").`;
        throw refusal(
          importProblem(
            importer,
            specifierIn(importer, source, cut.module),
            reader.root,
            message,
            hint,
          ),
        );
      },
    },
  };
}

/** The specifier as the importer writes it: aliases are replaced before plugins see an import. */
function specifierIn(importer: string, source: string, { file }: SourceModule): string {
  const text = readFileSync(importer.replace(/[?#].*$/, ""), "utf8");
  if (text.includes(source)) return source;
  const name = basename(file).replace(/\.\w+$/, "");
  const found = [...text.matchAll(/["'`]([^"'`\n]+)["'`]/g)].map(([, specifier = ""]) => specifier);
  return found.find((specifier) => basename(specifier).replace(/\.\w+$/, "") === name) ?? source;
}

/** The error if pages are built without servers. */
export function foreignBuild(
  { configFile }: Pick<ResolvedConfig, "configFile">,
  root: string,
): Problems {
  return refusal({
    file: configFile === undefined ? "vite.config" : slashed(relative(root, configFile)),
    message:
      "this build has pages but no modules for Seamline's servers, as in frameworks that render pages on a server of their own: the plugin doesn't support these yet",
    hint: 'Remove seamline(), give the service a configuration of its own, and call it over HTTP: fetch("http://…/rpc/…"). A script builds both with (await createBuilder(config, null)).buildApp().',
  });
}

/** Frameworks print the stack, which leads through tools only. */
function refusal(problem: Problem): Problems {
  const error = new Problems([problem]);
  error.stack = error.message;
  return error;
}
