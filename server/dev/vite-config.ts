// What Vite's configuration has more of while it serves pages and nodes.

import { basename } from "node:path";

import type { Rolldown, UserConfig } from "vite";

import { segmentFileEnding } from "../../src/segment.ts";
import type { Application } from "../build/application.ts";
import { environmentNames, packagesOf } from "../build/environments.ts";
import { isModuleFile } from "../build/modules.ts";
import { partOfId } from "./ids.ts";

/** Vite's own list, which a list in a configuration takes the place of. */
const viteDenies = [".env", ".env.*", "*.{crt,pem}", "**/.git/**"];

/** `development` is there as soon as there is a server. */
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
          // The runtime of a page has one address.
          exclude: ["seamline", "seamline/client"],
          rolldownOptions: { plugins: [scanned(development)] },
        },
      },
      // What is said of packages for SSR holds for nodes. Application modules get the `seamline` of their own node, so it is ours to resolve.
      [environmentNames.server]: {
        resolve: {
          ...packages,
          noExternal: noExternal === true || [...[noExternal ?? []].flat(), /^seamline$/],
        },
      },
    },
    server: {
      // The trust key, which a configuration may say as well; what builds leave; and segment files, which name what browsers can't call.
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

/** By their names: those of another folder say no less. */
function configurations(named: string | undefined): string[] {
  return ["seamline.json", named ?? "", process.env["SVC_CONFIG"] ?? ""]
    .filter((one) => one !== "")
    .map((one) => basename(one));
}

/**
 * Vite looks for packages that pages need by reading sources as they are. Of a split module pages get the parts for browsers, so only those
 * may say what they need: else it would bundle for the browser what only bodies on servers import.
 */
function scanned(
  development: () => { application(): Promise<Application> } | undefined,
): Rolldown.Plugin {
  return {
    name: "seamline:scan",
    async load(id) {
      const { file } = partOfId(id);
      const application = await development()
        ?.application()
        .catch(() => "broken" as const);
      // What is wrong is told elsewhere; here it would be told once more, as a mistake of packages.
      if (application === "broken")
        return isModuleFile(file) ? { code: "", moduleType: "js" } : undefined;
      const parts = application?.cut.get(file)?.parts.browser;
      if (parts === undefined) return undefined;
      const code = [parts.shared, parts.body].map((part) => part?.code ?? "").join("\n");
      // Each is a module of its own; here only what they import counts, and the two may name the same things.
      const imports = [...code.matchAll(/\b(?:from|import)\s*(["'])([^"']+)\1/g)].map(
        ([, , specifier]) => specifier ?? "",
      );
      const others = [...new Set(imports)].filter(
        (one) => !one.startsWith("seamline:") && !one.includes("?seamline="),
      );
      return {
        code: others.map((one) => `import ${JSON.stringify(one)};`).join("\n"),
        moduleType: "js",
      };
    },
  };
}
