// Lowers syntax in development that is too new for Node or browsers, as the bundler does in a build.

import type { Environment, Plugin } from "vite";

import type { ApplicationReader } from "../application-reader.ts";
import { environmentNames } from "../read/module-ids.ts";
import { loadVite } from "../read/load-vite.ts";

/** `using` and `await using`: Vite's compiler can lower no other syntax that Node 20 lacks. */
const hint = /\busing\b/;

/** Lowers for the Node that runs nodes, and in pages for the browsers of `build.target`. */
export function lowerSyntax(
  { root }: Pick<ApplicationReader, "root">,
  isActive: (environment: Pick<Environment, "name">) => boolean,
): Plugin {
  return {
    name: "seamline:lower",
    apply: "serve",
    // After what compiles TypeScript, and before Vite resolves the imports of the compiler's helpers.
    enforce: "post",
    applyToEnvironment: isActive,
    transform: {
      filter: { code: hint },
      async handler(code, id) {
        const { transformWithOxc } = await loadVite(root);
        const target = targetOf(this.environment);
        const { code: lowered, map } = await transformWithOxc(code, id, {
          // A plugin after this one may compile it.
          lang: "jsx",
          jsx: "preserve",
          sourcemap: true,
          ...(target !== false && { target }),
        });
        return { code: lowered, map: map ?? null };
      },
    },
  };
}

function targetOf({ name, config }: Environment): string | string[] | false {
  const configured = config.oxc === false ? undefined : config.oxc.target;
  if (configured !== undefined) return configured;
  return name === environmentNames.server ? `node${process.versions.node}` : config.build.target;
}
