// Reads the command line of `seamline start`, as a service is started in production: without the
// program, which has to know every command.

import { statSync } from "node:fs";
import { parseArgs } from "node:util";

import type { StartOptions } from "./start.ts";

const options = {
  config: { type: "string", short: "c" },
  root: { type: "string" },
  build: { type: "boolean" },
  "no-build": { type: "boolean" },
  console: { type: "boolean" },
  "env-file": { type: "string", multiple: true },
} as const;

/** `undefined` for everything else, and for what the program has to explain. */
export function readStart([command, ...args]: readonly string[]): StartOptions | undefined {
  if (command !== "start") return undefined;
  try {
    const {
      root = ".",
      build,
      "no-build": noBuild,
      "env-file": envFile,
      ...others
    } = parseArgs({ args, options }).values;
    // The last one of the two counts: the program knows which.
    if (build === true && noBuild === true) return undefined;
    if (statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
    const decided = build ?? (noBuild === true ? false : undefined);
    return {
      root,
      ...(decided === undefined ? {} : { build: decided }),
      ...(envFile === undefined ? {} : { envFile }),
      ...others,
    };
  } catch {
    // Help, or a mistake: the program says it.
    return undefined;
  }
}
