// References to names, and the scopes in which the names are looked up.

/** A reference to a name that the module binds at its top level. */
export interface Reference {
  readonly name: string;
  /** Start of the identifier. */
  readonly start: number;
  readonly end: number;
  /** The name is written: by `=`, `++`, a destructuring target, or the head of a `for`. */
  readonly write: boolean;
  /** It stands as `{ name }`, so a replacement has to repeat the property's name. */
  readonly shorthand: boolean;
  /** It is called: `name(…)`. */
  readonly call: boolean;
  /** How its value is used. */
  readonly usage: Usage;
  /** A JSX factory that the code may need. It keeps an import of that name, and nothing else. */
  readonly soft: boolean;
}

/** How the value of an expression is used, as far as the code around it tells. */
export interface Usage {
  /** It is called: `quote()`, `quote.call(this)`. */
  readonly called?: boolean;
  /** Members that are taken of it: `quote` of `shop.quote`; without them, it is used as a whole. */
  readonly members?: readonly string[];
  /** The member is called. */
  readonly memberCalled?: boolean;
  /** Its value or content is changed: `=`, `++`, `delete`, `.push(…)`. */
  readonly changed?: boolean;
}

/** A reference before it is looked up: a declaration further down may still bind its name. */
export interface ScopedReference extends Reference {
  readonly scope: Scope;
}

/** The names that a module, function, block or class binds. */
export class Scope {
  readonly names: Set<string> = new Set();
  readonly parent: Scope | undefined;
  /** The scope that a `var` in this one belongs to. */
  readonly varScope: Scope;

  constructor(parent: Scope | undefined, holdsVars: boolean) {
    this.parent = parent;
    this.varScope = holdsVars || parent === undefined ? this : parent.varScope;
  }

  /** The innermost scope that binds `name`. */
  owner(name: string): Scope | undefined {
    return this.names.has(name) ? this : this.parent?.owner(name);
  }
}
