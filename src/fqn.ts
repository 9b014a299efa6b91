// Fully qualified names (decisions §1): the directory of the module, then the name. The file is no part of it,
// so that versions in separate files share one FQN (§9.3).

/** FQN of a procedure, and key of a class, declared in `module` (`shop/quote`, no extension) under `name`. */
export function fqnOf(module: string, name: string): string {
  const slash = module.lastIndexOf("/");
  return slash < 0 ? name : `${module.slice(0, slash)}/${name}`;
}

/**
 * FQN of a default export without a name of its own: the file's base name stands for it, and for an `index`
 * module its whole directory.
 */
export function fqnOfAnonymousDefault(module: string): string {
  return module.endsWith("/index") ? module.slice(0, -"/index".length) : module;
}

/** One version of one procedure, as a key: `shop/quote@1.0.0`. */
export function procedureKey(fqn: string, version: string): string {
  return `${fqn}@${version}`;
}

/** The line that a procedure adds to an error that passes it (§7.1). */
export function traceLine(fqn: string, version: string): string {
  return `[${fqn} | v${version}]`;
}

/** A name with an empty part, `.` or `..`: as a path it may be shortened on its way, and reach another door than `/rpc`. */
export function leadsAstray(fqn: string): boolean {
  return /(?:^|[/\\])\.{0,2}(?:[/\\]|$)/.test(fqn);
}
