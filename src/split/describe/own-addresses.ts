// Addresses of files beside a module: `new URL("./hello.txt", import.meta.url)`, what
// `createRequire` makes, and uses of the module's folder. A built module is elsewhere, so the build
// has to know which files it needs.

import {
  bare,
  child,
  children,
  list,
  nameOf,
  need,
  type Node,
  stringOf,
  word,
} from "../read/tree.ts";

/** An address that is written out. Offsets are those of the literal. */
export interface LiteralAddress {
  readonly kind: "url" | "require";
  readonly path: string;
  readonly start: number;
  readonly end: number;
  /** It starts a thread or a process. */
  readonly isStart: boolean;
}

/** An address that a build can't read. */
export interface UnreadAddress {
  readonly kind: "computed" | "folder";
  readonly start: number;
}

export interface OwnAddresses {
  readonly literal: readonly LiteralAddress[];
  readonly unread: readonly UnreadAddress[];
}

/** Matches every text with such an address, but for CommonJS. */
export const ownAddressHint: RegExp = /import\.meta\.(?:url|dirname|filename|resolve)\b/;

/** Finds the addresses in a module; in CommonJS, its relative `require` calls. */
export function ownAddresses(
  program: Node,
  { isCommonJs = false }: { readonly isCommonJs?: boolean } = {},
): OwnAddresses {
  const literal: LiteralAddress[] = [];
  const unread: UnreadAddress[] = [];
  /** Constants that hold the module's own address or path. */
  const own = new Set<string>();
  const requires = new Set(isCommonJs ? ["require"] : []);

  const isOwn = (node: Node | undefined): boolean => {
    if (node === undefined) return false;
    const value = bare(node);
    if (value.type === "Identifier") return own.has(word(value, "name"));
    const [first, ...others] = list(value, "arguments");
    if (value.type === "CallExpression")
      return calledName(value) === "fileURLToPath" && isOwn(first);
    // `new URL(import.meta.url).pathname`
    if (value.type === "NewExpression")
      return calledName(value) === "URL" && others.length === 0 && isOwn(first);
    if (["pathname", "href"].includes(nameOf(child(value, "property")) ?? ""))
      return isOwn(child(value, "object"));
    return ["url", "filename"].includes(metaProperty(value) ?? "");
  };
  const makesRequire = (node: Node | undefined): boolean =>
    node?.type === "CallExpression" &&
    calledName(node) === "createRequire" &&
    isOwn(list(node, "arguments")[0]);
  const isRequire = (node: Node): boolean =>
    node.type === "Identifier" ? requires.has(word(node, "name")) : makesRequire(node);

  const take = (kind: LiteralAddress["kind"], node: Node | undefined, isStart: boolean): void => {
    if (node === undefined) return;
    const value = bare(node);
    const path = stringOf(value);
    if (path === undefined) {
      // A computed name of `require` may be a package's.
      if (kind === "url" || /^\.{1,2}\//.test(startOf(value)))
        unread.push({ kind: "computed", start: node.start });
    } else if (
      kind === "url" ? !/^(?:[a-z][a-z\d+.-]*:|\/|#|\?)/i.test(path) : path.startsWith(".")
    )
      literal.push({ kind, path, start: value.start, end: value.end, isStart });
  };

  const visit = (node: Node, isStart: boolean): void => {
    const args = list(node, "arguments");
    let starts = false;
    switch (node.type) {
      case "VariableDeclarator": {
        const init = child(node, "init");
        const name = nameOf(child(node, "id"));
        if (name === undefined || init === undefined) break;
        if (isOwn(init)) own.add(name);
        if (makesRequire(bare(init))) requires.add(name);
        break;
      }
      case "NewExpression": {
        const name = calledName(node);
        if (name === "URL" && args.length === 2 && isOwn(args[1])) take("url", args[0], isStart);
        starts = name === "Worker";
        break;
      }
      case "CallExpression": {
        const callee = bare(need(node, "callee"));
        const name = calledName(node);
        if (isRequire(callee)) take("require", args[0], false);
        else if (
          callee.type === "MemberExpression" &&
          nameOf(child(callee, "property")) === "resolve"
        ) {
          if (isRequire(need(callee, "object"))) take("require", args[0], false);
        }
        if (metaProperty(callee) === "resolve" && /^\.{1,2}\//.test(startOf(bare(args[0] ?? node))))
          take("url", args[0], isStart);
        if (name === "dirname" && isOwn(args[0]))
          unread.push({ kind: "folder", start: node.start });
        starts = name === "fork" || (isStart && name === "fileURLToPath");
        break;
      }
      case "MemberExpression":
        if (metaProperty(node) === "dirname") unread.push({ kind: "folder", start: node.start });
        // `new URL(…).href`
        starts = isStart;
        break;
      default:
        break;
    }
    for (const below of children(node)) visit(below, starts);
  };
  visit(program, false);
  return { literal, unread };
}

/** The name of the called function or class, without the object that it's a member of. */
function calledName(node: Node): string | undefined {
  const callee = bare(need(node, "callee"));
  return nameOf(callee.type === "MemberExpression" ? child(callee, "property") : callee);
}

/** `url` of `import.meta.url`. */
function metaProperty(node: Node): string | undefined {
  if (node.type !== "MemberExpression" || child(node, "object")?.type !== "MetaProperty")
    return undefined;
  return nameOf(child(node, "property"));
}

/** The text with which a string begins, as far as it's written out. */
function startOf(node: Node): string {
  const text = stringOf(node);
  if (text !== undefined) return text;
  if (node.type === "BinaryExpression") return startOf(bare(need(node, "left")));
  const [first] = list(node, "quasis");
  return (first?.["value"] as { cooked?: string } | undefined)?.cooked ?? "";
}
