// The syntax tree of a source module: ESTree with TypeScript and JSX nodes. The splitter depends on
// the shape of the tree and not on a parser. The build passes one in (Vite has it), so `src` needs
// none.

/** A node of the tree. Offsets are UTF-16 units, so `source.slice(start, end)` is its text. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

export interface Comment {
  readonly start: number;
  readonly end: number;
  readonly value: string;
}

/** A syntax error. */
export interface ParseError {
  readonly message: string;
  readonly labels?: readonly { readonly start: number; readonly end: number }[];
}

/** An import statement, as the parser lists it. */
export interface RecordedImport {
  readonly start: number;
  readonly moduleRequest: { readonly value: string; readonly start: number };
  readonly entries: readonly {
    readonly importName: { readonly kind: string; readonly name: string | null };
    readonly localName: { readonly value: string };
    readonly isType: boolean;
  }[];
}

/** An export statement, as the parser lists it. */
export interface RecordedExport {
  readonly start: number;
  readonly end: number;
  readonly entries: readonly {
    readonly moduleRequest: object | null;
    readonly exportName: { readonly kind: string; readonly name: string | null };
    readonly localName: { readonly kind: string; readonly name: string | null };
    readonly isType: boolean;
  }[];
}

export interface ModuleRecord {
  readonly staticImports: readonly RecordedImport[];
  readonly staticExports: readonly RecordedExport[];
}

/**
 * A parser's result: the tree, all comments in source order, and the syntax errors. The tree is made
 * when it is first asked for, and the record of imports and exports is there without it.
 */
export interface ParsedModule {
  readonly program: unknown;
  readonly module?: ModuleRecord;
  readonly comments: readonly Comment[];
  readonly errors: readonly ParseError[];
}

/** Parses a module; the extension decides about types and JSX. Syntax errors don't throw. */
export type Parse = (file: string, source: string) => ParsedModule;

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

/** The node at `key`, if there is one. */
export function child(node: Node, key: string): Node | undefined {
  const value = node[key];
  return isNode(value) ? value : undefined;
}

/** The node that the grammar requires at `key`. */
export function need(node: Node, key: string): Node {
  const value = node[key];
  if (!isNode(value))
    throw new TypeError(
      `${node.type} has no '${key}': the parser's tree differs from the one that the splitter expects`,
    );
  return value;
}

/** The list at `key`; a hole, as in `[, b]`, is `undefined`. */
export function slots(node: Node, key: string): (Node | undefined)[] {
  const value = node[key];
  return Array.isArray(value)
    ? value.map((item: unknown) => (isNode(item) ? item : undefined))
    : [];
}

/** The nodes of the list at `key`. */
export function list(node: Node, key: string): Node[] {
  return slots(node, key).filter((item) => item !== undefined);
}

/** The string at `key` (`name`, `kind`, `operator`); empty if there is none. */
export function word(node: Node, key: string): string {
  const value = node[key];
  return typeof value === "string" ? value : "";
}

/** The direct children, in the order of the node's keys. */
export function children(node: Node): Node[] {
  const nodes: Node[] = [];
  for (const key in node) {
    const value = node[key];
    if (isNode(value)) nodes.push(value);
    else if (Array.isArray(value))
      for (const item of value as unknown[]) if (isNode(item)) nodes.push(item);
  }
  return nodes;
}

/** Calls `enter` for `node` and its descendants, outermost first. `false` skips the descendants. */
export function walk(node: Node, enter: (node: Node) => boolean | void): void {
  if (enter(node) !== false) for (const below of children(node)) walk(below, enter);
}

/** All names below these nodes: of variables and members, and strings that may be names. */
export function namesIn(nodes: readonly Node[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const node of nodes)
    walk(node, (below) => {
      const name = nameOf(below);
      if (name !== undefined) names.add(name);
    });
  return names;
}

/** The name in an identifier or a string literal; `undefined` for any other expression. */
export function nameOf(node: Node | undefined): string | undefined {
  if (node?.type === "Identifier" || node?.type === "JSXIdentifier") return word(node, "name");
  return stringOf(node);
}

/** The value of a string literal, or of a template literal without expressions. */
export function stringOf(node: Node | undefined): string | undefined {
  if (node?.type === "Literal" && typeof node["value"] === "string") return node["value"];
  if (node?.type !== "TemplateLiteral" || list(node, "expressions").length > 0) return undefined;
  const cooked = (list(node, "quasis")[0]?.["value"] as { cooked?: unknown } | undefined)?.cooked;
  return typeof cooked === "string" ? cooked : undefined;
}

/** The name of a member: plain, quoted, a number (`0x10` is "16"), or such a literal computed. */
export function memberName(member: Node, key: Node): string | undefined {
  const name = bare(key);
  if (
    name.type === "Literal" &&
    (typeof name["value"] === "number" || typeof name["bigint"] === "string")
  )
    return String(name["bigint"] ?? name["value"]);
  return member["computed"] === true ? stringOf(name) : nameOf(name);
}

const wrappers = new Set([
  "ParenthesizedExpression",
  "TSAsExpression",
  "TSSatisfiesExpression",
  "TSNonNullExpression",
  "TSTypeAssertion",
  "TSInstantiationExpression",
]);

/** An expression without the parentheses and type assertions around it. */
export function bare(node: Node): Node {
  return wrappers.has(node.type) ? bare(need(node, "expression")) : node;
}

/** Whether an expression means what it wraps: parentheses, or a type assertion. */
export function isTypeWrapper(node: Node): boolean {
  return wrappers.has(node.type);
}

export function isFunction(node: Node): boolean {
  return (
    node.type === "FunctionDeclaration" ||
    node.type === "FunctionExpression" ||
    node.type === "ArrowFunctionExpression"
  );
}

/** The program of a module that was parsed without errors. */
export function programOf(parsed: ParsedModule): Node {
  if (!isNode(parsed.program) || parsed.program.type !== "Program")
    throw new TypeError("The parser returned no Program");
  return parsed.program;
}
