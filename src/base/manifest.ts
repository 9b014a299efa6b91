// The contract between build, repository, node and browser: everything that the runtime can't know
// without parsing source or reading `fn.name`, which it never does. The keys of its tables are
// names from the application, `__proto__` included: write tables with Object.fromEntries, and read
// them with `entryOf`.

/** Files with this ending are segment files. */
export const segmentFileEnding = ".segment.json";

/** The callers that may call a procedure from outside its node. */
export type Access = "public" | "protected" | "private";

/** Type of a parameter, if its annotation or default says how to convert text from a query string. */
export type ValueType =
  | "number"
  | "boolean"
  | "bigint"
  | "Date"
  | "number[]"
  | "boolean[]"
  | "bigint[]"
  | "Date[]"
  | "string[]"
  | "File[]";

/**
 * A name in a destructured parameter: that of the property, or of the variable in an array pattern.
 */
export interface PatternName {
  readonly name: string;
  readonly optional?: true;
  readonly type?: ValueType;
}

/** One position of a procedure's parameter list. */
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
  /** The name under which its body exports it. */
  readonly export: string;
  readonly parameters: readonly Parameter[];
  /** It returns an async iterator, whose items travel one by one, and not a promise. */
  readonly stream?: true;
}

/** The treatment of undeclared members of a caller's arguments: they are dropped, kept, or refused. */
export const extraMembers = ["drop", "keep", "refuse"] as const;

export type ExtraMembers = (typeof extraMembers)[number];

/** A procedure in one segment. */
export interface SegmentEntry {
  /** Index into `procedures`. */
  readonly procedure: number;
  readonly access: Access;
  /** A cross-site GET may call it. */
  readonly safe?: true;
  /** Sending a call again does no harm. */
  readonly idempotent?: true;
  /** Of a stream: if it is cut, its caller asks for the rest. Such an entry is idempotent, too. */
  readonly resume?: true;
  /** A call of it may take this long. */
  readonly timeoutMs?: number;
  /** The guard of callers from outside, as module and export: `auth#signedIn`. Browsers don't learn it. */
  readonly guard?: string;
  /** Arguments of callers from outside aren't checked by types. Browsers don't learn it. */
  readonly validate?: false;
  /** Members that no type names don't just fail to arrive. Browsers don't learn it. */
  readonly extra?: Exclude<ExtraMembers, "drop">;
}

/** A function of one segment that answers requests for a path, instead of calls. */
export interface RouteEntry {
  /** Named like a procedure: the directory of the module, then the function's name. */
  readonly name: string;
  /** `GET`, `POST`, …, or `*` for any. */
  readonly method: string;
  /** Pattern of the path: `/webhooks/:provider`. */
  readonly path: string;
  readonly module: string;
  /** The name under which its body exports it. */
  readonly export: string;
  readonly access: Access;
  /** Forms of other sites may send it requests. */
  readonly crossSite?: true;
  /** The most bytes that a request's body may have. */
  readonly bodyBytes?: number;
  /** As in {@link SegmentEntry}. */
  readonly guard?: string;
}

/** An exported class of the application whose instances may travel. */
export interface ClassRecord {
  readonly key: string;
  readonly module: string;
  readonly export: string;
  /**
   * The public member that holds constructor argument i, `null` if none is readable; `...name` for
   * a rest parameter, whose array is spread.
   */
  readonly args: readonly (string | null)[];
  /**
   * Readable and writable public members that aren't constructor arguments, inherited ones
   * included.
   */
  readonly fields: readonly string[];
  /**
   * Arguments with a default that only the constructor can set: `undefined` would arrive as the
   * default.
   */
  readonly fixed?: readonly string[];
  /**
   * The constructor destructures a parameter without a default. No member holds that argument, so
   * instances can't be sent.
   */
  readonly pattern?: true;
  /**
   * A parent that the build can't read, from another package (`Db`) or the platform (`globalThis.Promise`), or a
   * computed name (`[names[0]]`). Instances may have data that this record doesn't name.
   */
  readonly unread?: string;
  /** It extends Error, so it travels as an error. */
  readonly error?: true;
  /**
   * Only pages import its module, which may need a page's globals: a service doesn't load it before
   * a message brings an instance.
   */
  readonly page?: true;
  /** Other files with a class of the same key: instances of none of them can be sent. */
  readonly clash?: string;
}

/** Prefix of {@link ClassRecord.unread} for a class of the platform. @internal */
export const platformPrefix = "globalThis.";

/** The output files of one source module. */
export interface ModuleRecord {
  /** The file that `import './M'` loads: the face, or the module itself if it has no procedures. */
  readonly file: string;
  /** The procedures' code, if this build has any. */
  readonly body?: string;
}

export interface FileRecord {
  /** `sha256-` and base64, the form of Subresource Integrity. */
  readonly integrity: string;
  /** Bytes. */
  readonly size: number;
  /** Files that it imports, statically or dynamically. */
  readonly imports: readonly string[];
}

export interface Manifest {
  readonly format: 1;
  /** Changes with everything that a node or a browser could load. */
  readonly revision: string;
  readonly procedures: readonly ProcedureRecord[];
  /**
   * Segment name → its procedures. In a browser's manifest: only segments that browsers may load.
   */
  readonly segments: Readonly<Record<string, readonly SegmentEntry[]>>;
  readonly classes: readonly ClassRecord[];
  /** Source module (`shop/quote`) → its files. In a browser's manifest: only files for browsers. */
  readonly modules: Readonly<Record<string, ModuleRecord>>;
  /**
   * Output file → its record. In a browser's manifest the keys are URL paths without leading slash.
   */
  readonly files: Readonly<Record<string, FileRecord>>;
}

/** The entry under a name, ignoring members that every object inherits (`constructor`). @internal */
export function entryOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** The server's manifest: everything that the build found, including facts that the next build checks. @internal */
export interface ServerManifest extends Manifest {
  /** Hash of the sources that the build read: if it differs now, the output is stale. */
  readonly sources: string;
  /** Other files that the build read: path from the application folder → digest. */
  readonly outside: Readonly<Record<string, string>>;
  /** Segments that browsers may load. */
  readonly browserSegments: readonly string[];
  /** Source page, as a path from the application folder → output file. */
  readonly pages: Readonly<Record<string, string>>;
  /**
   * Vite's `appType` is `spa`: addresses without a file lead to the index, unless the configuration
   * says otherwise.
   */
  readonly singlePage?: boolean;
  /** Vite's `build.assetsDir`. */
  readonly assetsFolder?: string;
  /** Vite's `base`, if it is a path other than the root: `/shop/`. */
  readonly base?: string;
  /** The module through which this graph's seams find their node. */
  readonly graph: string;
  /** Source module → the modules that it imports, by value or type: a node loads their classes. */
  readonly imports: Readonly<Record<string, readonly string[]>>;
  /** The module with the types of parameters, and with checks by them. Missing if nothing is checked. */
  readonly types?: string;
  /** Segment name → its routes. Missing if the application has none. */
  readonly routes?: Readonly<Record<string, readonly RouteEntry[]>>;
}

/** A guard by its name: the module, and the export, which is the default one if none is named. @internal */
export function guardParts(guard: string): { readonly module: string; readonly export: string } {
  const at = guard.indexOf("#");
  return at < 0
    ? { module: guard, export: "default" }
    : { module: guard.slice(0, at), export: guard.slice(at + 1) };
}

/** The name of a procedure's function in the module with the types of parameters. @internal */
export function typesIdOf({
  module,
  export: exported,
}: Pick<ProcedureRecord, "module" | "export">): string {
  return `${module}#${exported}`;
}

/** The segments that a server loads by default: all that browsers don't load. @internal */
export function defaultServerSegments(
  segments: Iterable<string>,
  browserSegments: readonly string[],
): string[] {
  return [...segments].filter((name) => !browserSegments.includes(name));
}
