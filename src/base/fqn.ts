// Fully qualified names: the directory of the module, then the name. The file isn't part of it,
// so that versions in separate files share one FQN.

import { ProcedureNotFound } from "./errors.ts";

/**
 * FQN of a procedure, and key of a class, declared in `module` (`shop/quote`, no extension) under
 * `name`.
 */
export function fqnOf(module: string, name: string): string {
  const slash = module.lastIndexOf("/");
  return slash < 0 ? name : `${module.slice(0, slash)}/${name}`;
}

/**
 * FQN of a default export without a name of its own: the file's base name stands for it, and for an
 * `index` module its whole directory.
 */
export function fqnOfAnonymousDefault(module: string): string {
  return module.endsWith("/index") ? module.slice(0, -"/index".length) : module;
}

/** One version of one procedure, as a key: `shop/quote@1.0.0`. */
export function procedureKey(fqn: string, version: string): string {
  return `${fqn}@${version}`;
}

/** The line that a procedure adds to an error that passes it. */
export function traceLine(fqn: string, version: string): string {
  return `[${fqn} | v${version}]`;
}

/**
 * Whether a name has an empty part, `.` or `..`. A proxy on the way may normalize such a path, so that the request
 * would reach another endpoint than `/rpc`.
 */
export function isUnsafePath(fqn: string): boolean {
  return /(?:^|[/\\])\.{0,2}(?:[/\\]|$)/.test(fqn);
}

/** The error for a name without a procedure. `versions` are the versions that the caller may know about. */
export function procedureNotFound(
  fqn: string,
  version: string,
  versions: readonly string[] = [],
): ProcedureNotFound {
  const others = versions.length === 0 ? "" : `; there is v${versions.join(", v")}`;
  return new ProcedureNotFound(`Procedure '${fqn}' v${version} not found${others}`);
}
