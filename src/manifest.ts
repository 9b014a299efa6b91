// The contract between build, repository, node and browser: everything that run time must not guess.
// Run time never parses source and never reads `fn.name`. Its tables have names of the application as keys, and those may be
// any: write them with Object.fromEntries, and read them with `entryOf`.

/** Who may call a procedure from outside (§2.1). */
export type Access = "public" | "protected" | "private";

/** TypeScript annotation of a parameter, where text from a query string is converted by it (decisions §2). */
export type ValueType =
  | "number"
  | "boolean"
  | "bigint"
  | "Date"
  | "number[]"
  | "boolean[]"
  | "bigint[]"
  | "Date[]"
  | "string[]";

/** One name inside a destructured parameter: the property's name, or for an array pattern the variable's. */
export interface PatternName {
  readonly name: string;
  readonly optional?: true;
  readonly type?: ValueType;
}

/** One position of a procedure's parameter list (§2.1, parameter kinds). */
export type Parameter =
  | {
      readonly kind: "plain";
      readonly name: string;
      readonly optional?: true;
      readonly type?: ValueType;
    }
  | { readonly kind: "rest"; readonly name: string }
  | { readonly kind: "object"; readonly names: readonly PatternName[]; readonly optional?: true }
  /** `null` is a hole: `[first, , third]`. */
  | {
      readonly kind: "array";
      readonly names: readonly (PatternName | null)[];
      readonly optional?: true;
    };

/** One version of one procedure. */
export interface ProcedureRecord {
  readonly fqn: string;
  /** Three numbers, as `Version.toString` writes them. */
  readonly version: string;
  /** The module that declares it: relative to the source root, no extension (`shop/quote`). */
  readonly module: string;
  /** Under this name its body exports it. */
  readonly export: string;
  readonly parameters: readonly Parameter[];
}

/** A procedure as one segment holds it (§2.2). */
export interface SegmentEntry {
  /** Index into `procedures`. */
  readonly procedure: number;
  readonly access: Access;
  /** A cross-site GET may call it (decisions §5). */
  readonly safe?: true;
  /** It may be sent again without harm. */
  readonly idempotent?: true;
}

/** An exported class of the application whose instances may travel (§2.3). */
export interface ClassRecord {
  readonly key: string;
  readonly module: string;
  readonly export: string;
  /**
   * The public member that is constructor argument i, `null` where none is readable; `...name` for a rest parameter,
   * whose array is spread.
   */
  readonly args: readonly (string | null)[];
  /** Public members that are readable and writable and no constructor arguments; parents included. */
  readonly fields: readonly string[];
  /** Arguments that have a default and that nothing but the constructor can set: `undefined` would arrive as the default. */
  readonly fixed?: readonly string[];
  /** The constructor destructures a parameter that has no default: what it wants, no member holds, so instances can't be sent. */
  readonly pattern?: true;
  /**
   * What of its source the build can't read, a parent of another package (`Db`), one of the platform (`globalThis.Promise`) or a computed name
   * (`[names[0]]`): its instances may have data that nothing here names.
   */
  readonly unread?: string;
  /** It extends Error, so it travels as an error (decisions §3). */
  readonly error?: true;
  /** Only pages import its module, which may need what a page has: a service loads it when a message brings an instance, and never before. */
  readonly page?: true;
  /** The files whose classes have this key as well as this one: instances of neither can be sent (decisions §6). */
  readonly clash?: string;
}

/** What {@link ClassRecord.unread} begins with where it is a class of the platform's. @internal */
export const platformPrefix = "globalThis.";

/** The files of one source module in the output. */
export interface ModuleRecord {
  /** What `import './M'` gives: the face, or the module itself when nothing in it is segmented. */
  readonly file: string;
  /** The procedures' code, where this build holds any. */
  readonly body?: string;
}

export interface FileRecord {
  /** `sha256-` and base64, the form of Subresource Integrity. */
  readonly integrity: string;
  /** Bytes. */
  readonly size: number;
  /** Files that this one imports, statically or dynamically. */
  readonly imports: readonly string[];
}

export interface Manifest {
  readonly format: 1;
  /** Changes whenever anything does that a node or a browser could load. */
  readonly revision: string;
  readonly procedures: readonly ProcedureRecord[];
  /** Segment name → what it holds. In a browser's manifest: only the segments that browsers may load. */
  readonly segments: Readonly<Record<string, readonly SegmentEntry[]>>;
  readonly classes: readonly ClassRecord[];
  /** Source module (`shop/quote`) → its files. In a browser's manifest: only what browsers can get. */
  readonly modules: Readonly<Record<string, ModuleRecord>>;
  /** Output file → what it is. In a browser's manifest the keys are URL paths without the leading slash. */
  readonly files: Readonly<Record<string, FileRecord>>;
}

/** What stands under a name: nothing where nobody put it there, though every object inherits a `constructor` and a `toString`. @internal */
export function entryOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** The server's manifest holds all that the build found, and what the build itself needs to know again. @internal */
export interface ServerManifest extends Manifest {
  /** Hash of the sources that the build read; a different one now means that the output is stale. */
  readonly sources: string;
  /** Files outside of the source folder that the build read as well, by their paths from the application folder, with a digest of each. */
  readonly outside: Readonly<Record<string, string>>;
  /** Segments that browsers may load (decisions §6). */
  readonly clients: readonly string[];
  /** Page of the sources → file that was built of it. Both are paths, of which the first begins at the application folder. */
  readonly pages: Readonly<Record<string, string>>;
  /** The module through which the seams of this graph find their node. */
  readonly graph: string;
  /** Source module → the modules that it imports, by value or by type: what a node loads classes of. */
  readonly imports: Readonly<Record<string, readonly string[]>>;
}
