// Outputs of the browser's build that pages couldn't use: the runtime is a module, which they
// import.

import { relative } from "node:path";

import type { ResolvedConfig } from "vite";

import type { Problem } from "../../../src/base/problem.ts";
import { paths } from "../../../src/base/protocol.ts";
import { slashed } from "../../files/sources.ts";
import { environmentNames } from "../read/module-ids.ts";

/** The function that `@vitejs/plugin-legacy` adds to the configuration if it makes such chunks. */
const legacyMark = "isOutputOptionsForLegacyChunks";

const moduleFormats: readonly unknown[] = [undefined, "es", "esm", "module"];

/** Problems with the outputs in Vite's configuration, plugins included. */
export function outputProblems(config: ResolvedConfig, root: string): readonly Problem[] {
  // Development has no outputs.
  if (config.command !== "build") return [];
  const file =
    config.configFile === undefined ? "vite.config" : slashed(relative(root, config.configFile));
  if (legacyMark in config)
    return [
      {
        file,
        message: `@vitejs/plugin-legacy makes scripts for browsers without modules, and those can't load ${paths.client}, which is a module: no page of theirs could call a procedure`,
        hint: "Set legacy({ renderLegacyChunks: false }), which still adds polyfills for browsers with modules, or remove the plugin.",
      },
    ];
  const { output = [] } =
    config.environments[environmentNames.browser]?.build.rolldownOptions ?? {};
  const formats = [output].flat().map(({ format }) => format);
  return [...new Set(formats)]
    .filter((format) => !moduleFormats.includes(format))
    .map((format) => ({
      file,
      message: `build.rolldownOptions.output.format is "${format}", and scripts of this format can't load ${paths.client}, which is a module`,
      hint: 'Remove the option, or set it to "es".',
    }));
}
