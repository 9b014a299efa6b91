// What a build has to know of a module before anything is split: its exports, parameters, classes and imports.

import type { Parameter } from "../manifest.ts";
import type { Problem } from "../problem.ts";
import type { Parse } from "./tree.ts";

/** One value export (types are none). */
export interface ModuleExport {
  /** Under this name others import it. */
  readonly name: string;
  /** The name that the function or class has in the source; absent where it has none (decisions §1). */
  readonly ownName?: string;
  /** One-based, as all lines and columns here. */
  readonly line: number;
  readonly column: number;
  /** `wrapped`: `const f = withAuth(async …)`, whose async argument gives the parameters. */
  readonly kind: "async" | "async-generator" | "sync" | "wrapped" | "class" | "other" | "reexport";
  /** Where a re-export comes from; `name` is `*` for a whole namespace. */
  readonly from?: { readonly specifier: string; readonly name: string };
  /** Of `async`, `async-generator` and `wrapped`. Names that no call could give are left out, see `problems`. */
  readonly parameters?: readonly Parameter[];
  /** What forbids a segment to name it (§8): no function, not async, a nested pattern. `splitModule` reports the same ones. */
  readonly problems: readonly Problem[];
}

/** An exported class, as its source says (§2.3). What it has from parents in the same file that are not exported is included. */
export interface ClassDescription {
  /** Empty for `export default class {}`. */
  readonly name: string;
  readonly export: string;
  /** Local name, or the text of the expression, of the parent. */
  readonly superclass?: string;
  /** The constructor's: `...x` for a rest, `""` for a pattern; absent when the parent's constructor stands. */
  readonly parameters?: readonly string[];
  /** Public instance members that hold data. */
  readonly members: readonly ClassMember[];
}

export interface ClassMember {
  readonly name: string;
  readonly readable: boolean;
  readonly writable: boolean;
}

/** One `import` of a module, or a dynamic one with a literal. Re-exports stand in `exports` and `starReexports`. */
export interface ModuleImport {
  readonly specifier: string;
  /** Nothing of it is left when types are stripped. */
  readonly typeOnly: boolean;
  /** `imported` is `default` and `*` where it has no name. */
  readonly names: readonly { readonly imported: string; readonly local: string }[];
  readonly dynamic?: true;
}

export interface ModuleDescription {
  readonly exports: readonly ModuleExport[];
  /** Specifiers of `export * from '…'`. */
  readonly starReexports: readonly string[];
  readonly classes: readonly ClassDescription[];
  readonly imports: readonly ModuleImport[];
  /** What makes the module unreadable, whatever segments say. */
  readonly problems: readonly Problem[];
  /** `startClient('ui', …)`: the segments that it names, or that it doesn't name them literally (decisions §6). */
  readonly startClientCalls: readonly (StartClientCall | { readonly problem: Problem })[];
  /** Literal arguments of `client.import('…')`. */
  readonly clientImports: readonly string[];
}

export interface StartClientCall {
  readonly segments: readonly string[];
}

/** Reads what a build has to know of a module. Text that can't be parsed gives `problems`, never an exception. */
export function describeModule(input: {
  readonly source: string;
  readonly file: string;
  readonly module: string;
  readonly parse: Parse;
}): ModuleDescription {
  void input;
  throw new Error("not written yet");
}
