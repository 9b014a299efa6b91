// Loads the application's own Vite: a build runs with the version that the application installed.

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import type { Parse } from "../../../src/split/write/split-module.ts";

export type Vite = typeof import("vite");

/** The first version with environments and with the parser for TypeScript. */
const oldest = 8;

/** Vite as resolved from the application folder. Throws an error that says what to install. */
export async function loadVite(root: string): Promise<Vite> {
  const vite = await resolveVite(root);
  // Not a peer dependency: npm would install Vite also on machines that only run builds.
  if (Number.parseInt(vite.version, 10) < oldest)
    throw new Error(
      `A build needs Vite ${oldest}, and ${root} has ${vite.version}: npm install --save-dev vite@${oldest}`,
    );
  return vite;
}

/** The module runner of the same Vite. */
export async function loadRunner(root: string): Promise<typeof import("vite/module-runner")> {
  const path = pathOf(root, "vite/module-runner");
  return path === undefined
    ? await import("vite/module-runner")
    : ((await import(path)) as typeof import("vite/module-runner"));
}

async function resolveVite(root: string): Promise<Vite> {
  const path = pathOf(root, "vite");
  if (path !== undefined) return (await import(path)) as Vite;
  try {
    // A workspace may keep Vite beside Seamline only.
    return await import("vite");
  } catch (cause) {
    throw new Error(
      `A build needs Vite ${oldest}, and ${root} has none: npm install --save-dev vite@${oldest}`,
      { cause },
    );
  }
}

function pathOf(root: string, name: string): string | undefined {
  try {
    return pathToFileURL(createRequire(join(root, "package.json")).resolve(name)).href;
  } catch {
    return undefined;
  }
}

/** Vite's parser as the splitter needs it. The file's extension decides about types and JSX. */
export function parserOf(vite: Vite): Parse {
  // Not taken apart: each of its parts is made when it is asked for.
  return (file, source) => vite.parseSync(file, source);
}
