/** Gives names to generated code that mean nothing else in a module. */
export class Names {
  readonly #taken: Set<string>;

  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  /** `base`, or `base` with something behind it, and never the same twice. */
  fresh(base: string): string {
    let name = base;
    for (let n = 2; this.#taken.has(name); n++) name = `${base}_${n}`;
    this.#taken.add(name);
    return name;
  }
}

/** A name as it stands in an import or export list: some are only possible as text. */
export function listed(name: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u.test(name)
    ? name
    : JSON.stringify(name);
}

/** `export { a as b }`, shortened where both are one; empty for nothing. */
export function exportList(pairs: readonly (readonly [local: string, exported: string])[]): string {
  const names = pairs.map(([local, exported]) =>
    local === exported ? local : `${listed(local)} as ${listed(exported)}`,
  );
  return names.length === 0 ? "" : `export { ${names.join(", ")} };`;
}

/** `import { a as b } from "…"`; empty for nothing. */
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
