// From a tree to what can be moved: units (a declarator, an import specifier, a statement), the names they bind and
// mention, and the module's exports.

import type { Source } from "./mark.ts";
import { References } from "./references.ts";
import { isTypeOnly, type Reference } from "./scopes.ts";
import {
  bare,
  child,
  type Comment,
  list,
  nameOf,
  need,
  type Node,
  programOf,
  type Parse,
  type ParsedModule,
  stringOf,
  walk,
  word,
} from "./tree.ts";
import { LocalTypes } from "./value-types.ts";

/** The smallest thing that goes to one part or another. */
export interface Unit {
  /** `default`: an `export default` of an expression, which binds no name. */
  readonly kind: "import" | "declarator" | "declaration" | "statement" | "default";
  readonly node: Node;
  /** What stands at the top level of the program: of a declarator, the whole (exported) declaration. */
  readonly statement: Node;
  readonly names: readonly string[];
  readonly references: readonly Reference[];
}

/** An export of something that this module declares. */
export interface LocalExport {
  readonly exported: string;
  /** `undefined` for a default export without a name. */
  readonly local: string | undefined;
  readonly units: readonly Unit[];
  /** Where the export stands. */
  readonly node: Node;
}

export interface Reexport {
  readonly exported: string;
  readonly specifier: string;
  /** `*` for the namespace. */
  readonly imported: string;
  /** The statement that names the other module. */
  readonly source: Node;
  readonly node: Node;
}

export interface Module extends Source {
  readonly program: Node;
  readonly comments: readonly Comment[];
  /** In source order. */
  readonly units: readonly Unit[];
  /** What binds each name of the module: several units where declarations merge. */
  readonly bindings: ReadonlyMap<string, readonly Unit[]>;
  readonly exports: readonly LocalExport[];
  readonly reexports: readonly Reexport[];
  /** Statements `export * from '…'`. */
  readonly stars: readonly Node[];
  /** Every name that the text uses for anything, so that generated names are none of them. */
  readonly taken: ReadonlySet<string>;
  /** The types that it declares. */
  readonly types: LocalTypes;
  /** What it was read with. */
  readonly parse: Parse;
}

type Draft = { -readonly [Key in keyof Unit]: Unit[Key] };

/** Reads a module that the parser understood. */
export function analyze(
  { file, source, parse }: Source & { readonly parse: Parse },
  parsed: ParsedModule,
): Module {
  const program = programOf(parsed);
  const references = new References(jsxFactories(parsed.comments));
  const units: Draft[] = [];
  for (const statement of list(program, "body"))
    for (const [kind, node] of piecesOf(statement)) units.push(draft(kind, node, statement));
  for (const unit of units)
    unit.names = references.read(
      unit.node,
      unit.kind === "default" ? need(unit.node, "declaration") : unit.node,
    );
  for (const unit of units) unit.references = references.resolve(unit.node);

  const bindings = new Map<string, Unit[]>();
  for (const unit of units)
    for (const name of unit.names) bindings.set(name, [...(bindings.get(name) ?? []), unit]);
  const written = new Set(
    units.flatMap((unit) => unit.references.filter((one) => one.write).map((one) => one.name)),
  );
  const { exports, reexports, stars } = exportsOf(program, units, bindings, written);
  // `export default f` names `f` once more; nothing is left of the statement to be placed.
  const aliases = new Set(
    [...exports.filter((one) => one.local !== undefined), ...reexports].map((one) => one.node),
  );
  const placed = units.filter((unit) => unit.kind !== "default" || !aliases.has(unit.node));
  let taken: ReadonlySet<string> | undefined;
  let types: LocalTypes | undefined;
  return {
    file,
    source,
    program,
    comments: parsed.comments,
    units: placed,
    bindings,
    exports,
    reexports,
    stars,
    // Most modules are never written anew.
    get taken() {
      return (taken ??= allNames(program));
    },
    get types() {
      return (types ??= new LocalTypes(program));
    },
    parse,
  };
}

function allNames(program: Node): ReadonlySet<string> {
  const found = new Set<string>();
  walk(program, (node) => {
    const name = nameOf(node);
    if (name !== undefined) found.add(name);
  });
  return found;
}

function jsxFactories(comments: readonly Comment[]): string[] {
  const named = comments.flatMap((one) => [...one.value.matchAll(/@jsx(?:Frag)?[ \t]+([\w$]+)/g)]);
  return named.map((one) => one[1] ?? "");
}

function draft(kind: Unit["kind"], node: Node, statement: Node): Draft {
  return { kind, node, statement, names: [], references: [] };
}

function piecesOf(statement: Node): [Unit["kind"], Node][] {
  if (
    isTypeOnly(statement) ||
    statement["importKind"] === "type" ||
    statement["exportKind"] === "type"
  )
    return [];
  switch (statement.type) {
    case "ImportDeclaration": {
      const specifiers = list(statement, "specifiers");
      if (specifiers.length === 0) return [["statement", statement]];
      return specifiers.filter((one) => one["importKind"] !== "type").map((one) => ["import", one]);
    }
    case "ExportNamedDeclaration": {
      const declaration = child(statement, "declaration");
      return declaration === undefined ? [] : piecesOf(declaration);
    }
    case "ExportDefaultDeclaration": {
      const declaration = need(statement, "declaration");
      if (isTypeOnly(declaration)) return [];
      return declaration.type.endsWith("Declaration")
        ? [["declaration", declaration]]
        : [["default", statement]];
    }
    case "VariableDeclaration":
      return list(statement, "declarations").map((one) => ["declarator", one]);
    case "FunctionDeclaration":
    case "ClassDeclaration":
    case "TSEnumDeclaration":
    case "TSModuleDeclaration":
    case "TSImportEqualsDeclaration":
      return [["declaration", statement]];
    case "ExportAllDeclaration":
    case "EmptyStatement":
      return [];
    case "ExpressionStatement":
      // Directives say nothing in a module, which is strict as it is.
      return typeof statement["directive"] === "string" ? [] : [["statement", statement]];
    default:
      return [["statement", statement]];
  }
}

function exportsOf(
  program: Node,
  units: readonly Unit[],
  bindings: ReadonlyMap<string, readonly Unit[]>,
  written: ReadonlySet<string>,
): Pick<Module, "exports" | "reexports" | "stars"> {
  const exports: LocalExport[] = [];
  const reexports: Reexport[] = [];
  const stars: Node[] = [];
  const add = (exported: string, local: string, node: Node): void => {
    const declaring = bindings.get(local);
    // A name that only types bear is exported to the compiler alone.
    if (declaring === undefined) return;
    const [first] = declaring;
    if (first?.kind !== "import") exports.push({ exported, local, units: declaring, node });
    else
      reexports.push({
        exported,
        specifier: specifierOf(first.statement),
        imported: importedName(first.node),
        source: first.statement,
        node,
      });
  };
  for (const statement of list(program, "body")) {
    if (statement["exportKind"] === "type") continue;
    if (statement.type === "ExportAllDeclaration") {
      const exported = nameOf(child(statement, "exported"));
      if (exported === undefined) stars.push(statement);
      else
        reexports.push({
          exported,
          specifier: specifierOf(statement),
          imported: "*",
          source: statement,
          node: statement,
        });
    } else if (statement.type === "ExportNamedDeclaration") {
      for (const one of list(statement, "specifiers").filter(
        (specifier) => specifier["exportKind"] !== "type",
      )) {
        const [exported = "", local = ""] = [
          nameOf(need(one, "exported")),
          nameOf(need(one, "local")),
        ];
        if (child(statement, "source") === undefined) add(exported, local, one);
        else
          reexports.push({
            exported,
            specifier: specifierOf(statement),
            imported: local,
            source: statement,
            node: one,
          });
      }
      const declared = units.filter((unit) => unit.statement === statement);
      for (const unit of declared) for (const name of unit.names) add(name, name, unit.node);
    } else if (statement.type === "ExportDefaultDeclaration") {
      const value = bare(need(statement, "declaration"));
      const unit = units.find((one) => one.statement === statement);
      const [own] = unit?.names ?? [];
      const local = value.type === "Identifier" ? word(value, "name") : own;
      // `export default f` is `f` itself, unless `f` changes later: then it is the value that it had.
      const alias =
        local !== undefined && bindings.has(local) && (local === own || !written.has(local));
      if (alias) add("default", local, statement);
      else if (unit !== undefined)
        exports.push({ exported: "default", local: undefined, units: [unit], node: statement });
    }
  }
  // `function f` twice, or an enum in two halves, is one export.
  return {
    exports: exports.filter(
      (one, at) => exports.findIndex((other) => other.exported === one.exported) === at,
    ),
    reexports,
    stars,
  };
}

/** The module that an import or a re-export names. */
export function specifierOf(statement: Node): string {
  return stringOf(need(statement, "source")) ?? "";
}

/** What an import specifier takes: a name, `default` or `*`. */
export function importedName(specifier: Node): string {
  if (specifier.type === "ImportSpecifier") return nameOf(need(specifier, "imported")) ?? "";
  return specifier.type === "ImportDefaultSpecifier" ? "default" : "*";
}
