// The tree of a source module (ESTree with TypeScript and JSX nodes), as the parser of the build gives it. The splitter
// is written against the shape of the tree, not against a parser: the build lends one (`vite` has it), so `src` needs none.

/** A node of the tree. Offsets count UTF-16 units, so `source.slice(start, end)` is its text. */
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

/** What a parser found to be no program. */
export interface ParseError {
  readonly message: string;
  readonly labels?: readonly { readonly start: number; readonly end: number }[];
}

/** `program`'s tree, every comment of the text in order, and what could not be read. */
export interface ParsedModule {
  readonly program: unknown;
  readonly comments: readonly Comment[];
  readonly errors: readonly ParseError[];
}

/** Reads a module; the file's extension says whether it holds types and JSX. Never throws for bad text. */
export type Parse = (file: string, source: string) => ParsedModule;

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

/** The node that stands at `key`, if one does. */
export function child(node: Node, key: string): Node | undefined {
  const value = node[key];
  return isNode(value) ? value : undefined;
}

/** The node that stands at `key` by the grammar. */
export function need(node: Node, key: string): Node {
  const value = node[key];
  if (!isNode(value))
    throw new TypeError(
      `A ${node.type} without '${key}': the parser's tree is not the one that the splitter knows`,
    );
  return value;
}

/** The list at `key`; `undefined` stands for a hole. */
export function slots(node: Node, key: string): (Node | undefined)[] {
  const value = node[key];
  return Array.isArray(value) ? value.map((one: unknown) => (isNode(one) ? one : undefined)) : [];
}

/** The nodes of the list at `key`. */
export function list(node: Node, key: string): Node[] {
  return slots(node, key).filter((one) => one !== undefined);
}

/** The text at `key` (`name`, `kind`, `operator`), empty where there is none. */
export function word(node: Node, key: string): string {
  const value = node[key];
  return typeof value === "string" ? value : "";
}

/** All nodes directly below. */
export function children(node: Node): Node[] {
  const found: Node[] = [];
  for (const key in node) {
    const value = node[key];
    if (isNode(value)) found.push(value);
    else if (Array.isArray(value))
      for (const one of value as unknown[]) if (isNode(one)) found.push(one);
  }
  return found;
}

/** Calls `enter` for `node` and what is below, outermost first; `false` leaves out what is below. */
export function walk(node: Node, enter: (node: Node) => boolean | void): void {
  if (enter(node) !== false) for (const one of children(node)) walk(one, enter);
}

/** The name that an identifier or a string stands for; `undefined` for anything computed. */
export function nameOf(node: Node | undefined): string | undefined {
  if (node?.type === "Identifier" || node?.type === "JSXIdentifier") return word(node, "name");
  return stringOf(node);
}

/** The value of a string literal, or of a template without anything in it. */
export function stringOf(node: Node | undefined): string | undefined {
  if (node?.type === "Literal" && typeof node["value"] === "string") return node["value"];
  if (node?.type !== "TemplateLiteral" || list(node, "expressions").length > 0) return undefined;
  const cooked = (list(node, "quasis")[0]?.["value"] as { cooked?: unknown } | undefined)?.cooked;
  return typeof cooked === "string" ? cooked : undefined;
}

/** The name of a member that stands in the source, quoted, as a number (`0x10` is "16"), or computed by such a literal. */
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

/** What is left of an expression without parentheses and type assertions. */
export function bare(node: Node): Node {
  return wrappers.has(node.type) ? bare(need(node, "expression")) : node;
}

/** Expressions that only carry a type. */
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

/** The identifiers that a pattern binds. */
export function boundNames(pattern: Node): Node[] {
  switch (pattern.type) {
    case "Identifier":
      return [pattern];
    case "ObjectPattern":
      return list(pattern, "properties").flatMap((one) =>
        boundNames(one.type === "RestElement" ? one : need(one, "value")),
      );
    case "ArrayPattern":
      return list(pattern, "elements").flatMap(boundNames);
    case "AssignmentPattern":
      return boundNames(need(pattern, "left"));
    case "RestElement":
      return boundNames(need(pattern, "argument"));
    case "TSParameterProperty":
      return boundNames(need(pattern, "parameter"));
    default:
      return [];
  }
}

/** The program, of a parse that succeeded. */
export function programOf(parsed: ParsedModule): Node {
  if (!isNode(parsed.program) || parsed.program.type !== "Program")
    throw new TypeError("The parser gave no Program");
  return parsed.program;
}
