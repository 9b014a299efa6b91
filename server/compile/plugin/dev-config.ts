// The plugin's additions to Vite's configuration in development.

import { basename } from "node:path";

import type { Rolldown, UserConfig } from "vite";

import { segmentFileEnding } from "../../../src/base/manifest.ts";
import type { Application } from "../cut/application.ts";
import { packagesOf } from "../write/environments.ts";
import { valueImports } from "../read/described-imports.ts";
import { environmentNames } from "../read/module-ids.ts";
import { parsePartId } from "../read/module-ids.ts";
import { isModuleFile } from "../read/modules.ts";
import { configVariable } from "../../config/config-file.ts";

/** Vite's defaults. A list in the configuration replaces them. */
const viteDenies = [".env", ".env.*", "*.{crt,pem}", "**/.git/**"];

/** `development` returns the session once Vite has a server. */
export function developmentConfig(
  config: UserConfig,
  development: () => { application(): Promise<Application> } | undefined,
  named: string | undefined,
): UserConfig {
  const packages = packagesOf(config);
  const { noExternal } = packages;
  return {
    environments: {
      [environmentNames.browser]: {
        optimizeDeps: {
          // A page must load the runtime from one address only.
          exclude: ["seamline", "seamline/client"],
          rolldownOptions: { plugins: [scanned(development)] },
        },
      },
      // SSR options of packages apply to nodes. The plugin resolves `seamline`, since each node
      // provides its own.
      [environmentNames.server]: {
        resolve: {
          ...packages,
          noExternal: noExternal === true || [...[noExternal ?? []].flat(), /^seamline$/],
        },
      },
    },
    server: {
      // The trust key, which may also be in a configuration; leftovers of builds; and segment
      // files, which name procedures that browsers can't call.
      fs: {
        deny: [
          ...(config.server?.fs?.deny === undefined ? viteDenies : []),
          "**/.seamline/**",
          `*${segmentFileEnding}`,
          ...configurations(named),
        ],
      },
      watch: config.server?.watch === null ? null : { ignored: ["**/.seamline/**"] },
    },
  };
}

/** File names of configurations. Vite matches them in any folder. */
function configurations(named: string | undefined): string[] {
  return ["seamline.json", named ?? "", configVariable(process.env) ?? ""]
    .filter((path) => path !== "")
    .map((path) => basename(path));
}

/**
 * Vite scans sources for packages that pages need. For a split module it must scan only the parts
 * for browsers, or it would bundle packages that only bodies on servers import.
 */
function scanned(
  development: () => { application(): Promise<Application> } | undefined,
): Rolldown.Plugin {
  return {
    name: "seamline:scan",
    async load(id) {
      const { file } = parsePartId(id);
      const application = await development()
        ?.application()
        .catch(() => "broken" as const);
      // The session reports the problems. The scan would report them again, as problems of
      // packages.
      if (application === "broken")
        return isModuleFile(file) ? { code: "", moduleType: "js" } : undefined;
      const parts = application?.cut.get(file)?.parts.browser;
      if (parts === undefined) return undefined;
      // Only the imports matter here, and the parts can't be joined: both may declare the same
      // names.
      const imports = [parts.shared, parts.body].flatMap((part) =>
        part === undefined ? [] : valueImports(part.description),
      );
      const specifiers = [...new Set(imports)].filter(
        (specifier) =>
          !specifier.startsWith("seamline:") && parsePartId(specifier).part === undefined,
      );
      return {
        code: specifiers.map((specifier) => `import ${JSON.stringify(specifier)};`).join("\n"),
        moduleType: "js",
      };
    },
  };
}
