// Names in generated code: fresh ones, and lists of imports and exports.

/** Hands out names that the module doesn't use for anything else. */
export class FreshNames {
  readonly #taken: Set<string>;

  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  /**
   * `base`, or `base` with a number if it is taken. Never returns a name twice. `base` begins with `$`, or is `arg`
   * and a number: of other names a module doesn't say whether they are taken.
   */
  fresh(base: string): string {
    let name = base;
    for (let n = 2; this.#taken.has(name); n++) name = `${base}_${n}`;
    this.#taken.add(name);
    return name;
  }
}

/** A name as it is written in an import or export list, where any string may be a name. */
export function listed(name: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u.test(name)
    ? name
    : JSON.stringify(name);
}

/** `export { a as b };`, or an empty string if there is nothing to export. */
export function exportList(pairs: readonly (readonly [local: string, exported: string])[]): string {
  const names = pairs.map(([local, exported]) =>
    local === exported ? local : `${listed(local)} as ${listed(exported)}`,
  );
  return names.length === 0 ? "" : `export { ${names.join(", ")} };`;
}

/** `import { a as b } from "…";`, or an empty string if there is nothing to import. */
export function importList(
  pairs: readonly (readonly [imported: string, local: string])[],
  specifier: string,
): string {
  const names = pairs.map(([imported, local]) =>
    imported === local ? local : `${listed(imported)} as ${local}`,
  );
  return names.length === 0
    ? ""
    : `import { ${names.join(", ")} } from ${JSON.stringify(specifier)};`;
}
