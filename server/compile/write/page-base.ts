// Vite's `base`, as far as it is a path: everything of ours is below it, too.

import type { Environment, ResolvedConfig } from "vite";

import { paths } from "../../../src/base/protocol.ts";
import { mayBeginRoute, reservedPaths } from "../../../src/http/route-pattern.ts";
import { runtimeHash } from "../../base/runtime-files.ts";

/**
 * The path below which pages and the runtime's files are. A CDN's address, or a relative one, is for
 * the files of the build only: the runtime stays at the root of the page's origin.
 */
export function pageBase({ base }: Pick<ResolvedConfig, "base">): string {
  return base.startsWith("/") ? base : "/";
}

/** One of our paths (`/svc/client.js`) as an address in pages. */
export function addressBelow(base: string, path: string): string {
  return base.replace(/\/$/, "") + path;
}

/** The same in an environment. Vite's development server adds the base itself. */
export function inPages(environment: Environment, path: string): string {
  return environment.mode === "build"
    ? addressBelow(pageBase(environment.getTopLevelConfig()), path)
    : path;
}

/** A file of the runtime at the path that browsers keep for good: `/svc/<hash>/client.js`. */
export function keptPath(path: string): string {
  return `${paths.components}${runtimeHash()}/${path.slice(paths.components.length)}`;
}

/** The runtime's address for modules of an environment. Development has no hashes. */
export function clientAddress(environment: Environment): string {
  return inPages(environment, environment.mode === "build" ? keptPath(paths.client) : paths.client);
}

/** Throws for a base that couldn't be told from paths of the runtime. */
export function refuseBase(config: Pick<ResolvedConfig, "base">): void {
  const base = pageBase(config);
  const [, first = ""] = base.split("/");
  if (base !== "/" && !mayBeginRoute(first))
    throw new Error(
      `'base' in the Vite configuration is ${JSON.stringify(base)}, whose beginning is Seamline's or the development server's: begin with another word than ${reservedPaths.join(", ")}, and not with @`,
    );
}
