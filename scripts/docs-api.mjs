// Generates the API reference: a page for each entry of the package, from the declarations and
// their comments in the sources.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

const root = join(import.meta.dirname, "..");
/** @type {{ exports: Record<string, string | { types?: string }> }} */
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** The package's entries in order: the name to import, the source, and the page's path. */
export const entries = Object.entries(exports).flatMap(([path, target]) => {
  // Only generated code imports the internal entry.
  if (typeof target === "string" || target.types === undefined || path === "./internal") return [];
  const name = path.replace(/^\./, "seamline");
  const source = target.types.replace("./dist/types/", "").replace(/\.d\.ts$/, ".ts");
  return [{ name, source, page: `reference/api/${name.replaceAll("/", "-")}.md` }];
});

/** The pages' texts by their paths in docs/.
 * @param {readonly string[]} errors names of the runtime's error classes, which have their own page
 * @returns {{ pages: Record<string, string>, problems: string[] }}
 */
export function apiPages(errors) {
  /** @type {ts.CompilerOptions} */
  const options = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    allowImportingTsExtensions: true,
    noLib: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  // Only names of foreign types are shown: reading Vite's would take longer than everything else.
  host.resolveModuleNameLiterals = (literals, file) =>
    literals.map(({ text }) =>
      text.startsWith(".")
        ? ts.resolveModuleName(text, file, options, host)
        : { resolvedModule: undefined },
    );
  const program = ts.createProgram(
    entries.map(({ source }) => join(root, source)),
    options,
    host,
  );
  const checker = program.getTypeChecker();
  /** @type {Map<ts.Symbol, string>} The address at which each symbol is described. */
  const described = new Map();
  /** @type {string[]} */
  const problems = [];
  /** @type {Record<string, string>} */
  const pages = {};
  for (const entry of entries) {
    const module = checker.getSymbolAtLocation(
      /** @type {ts.Node} */ (program.getSourceFile(join(root, entry.source))),
    );
    if (module === undefined) throw new Error(`${entry.source} exports nothing`);
    const found = checker.getExportsOfModule(module).map((symbol) => ({
      name: symbol.name,
      symbol: symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
    }));
    const shown = found.filter(({ symbol, name }) => !isInternal(symbol) && !errors.includes(name));
    const page = new Page(entry, checker, described, problems, new Set(errors));
    pages[entry.page] = page.write(
      shown,
      found.some(({ name }) => errors.includes(name)),
    );
  }
  return { pages, problems };
}

const groups = /** @type {const} */ (["Functions", "Classes", "Types"]);

/** @param {ts.Symbol} symbol */
function groupOf(symbol) {
  if (symbol.flags & ts.SymbolFlags.Class) return "Classes";
  return symbol.flags & ts.SymbolFlags.Value ? "Functions" : "Types";
}

/** @param {ts.Symbol} symbol */
const isInternal = (symbol) =>
  symbol.declarations?.some((one) =>
    ts.getJSDocTags(one).some((tag) => tag.tagName.text === "internal"),
  ) === true;

/** @param {string} name */
const anchorOf = (name) => name.toLowerCase();

class Page {
  /** @type {ts.Symbol[]} Types that this page's declarations mention but no entry exports. */
  #mentioned = [];
  /**
   * @param {typeof entries[number]} entry
   * @param {ts.TypeChecker} checker
   * @param {Map<ts.Symbol, string>} described
   * @param {string[]} problems
   * @param {ReadonlySet<string>} errors
   */
  constructor(entry, checker, described, problems, errors) {
    this.entry = entry;
    this.errors = errors;
    this.checker = checker;
    this.described = described;
    this.problems = problems;
  }

  /**
   * @param {{ name: string, symbol: ts.Symbol }[]} shown
   * @param {boolean} hasErrors
   */
  write(shown, hasErrors) {
    const { name, source, page } = this.entry;
    const text = readFileSync(join(root, source), "utf8");
    const head =
      /^(?:\/\/ .*\n)+/
        .exec(text)?.[0]
        .replaceAll(/^\/\/ /gm, "")
        .trim() ?? "";
    const elsewhere = shown.filter(({ symbol }) => this.described.has(symbol));
    const described = shown.filter(({ symbol }) => !this.described.has(symbol));
    for (const item of described)
      this.described.set(item.symbol, `/${page.replace(/\.md$/, "")}#${anchorOf(item.name)}`);
    const lines = [`# ${name}`, "", sentence(head.replace(/^`[^`]+`(?:[^:]*): /, "")), ""];
    for (const group of groups) {
      const members = described.filter(({ symbol }) => groupOf(symbol) === group);
      if (members.length === 0) continue;
      lines.push(`## ${group}`, "");
      for (const member of members) lines.push(...this.#section(member.name, member.symbol));
    }
    // Mentioned types may mention more types.
    for (let index = 0; index < this.#mentioned.length; index++) {
      if (index === 0)
        lines.push(
          "## Not exported",
          "",
          "Types that the declarations above mention. They can't be imported by name.",
          "",
        );
      const symbol = /** @type {ts.Symbol} */ (this.#mentioned[index]);
      lines.push(...this.#section(symbol.name, symbol));
    }
    const links = elsewhere.map((one) => `[\`${one.name}\`](${this.described.get(one.symbol)})`);
    if (links.length > 0) lines.push("## As in other entries", "", `${links.join(", ")}.`, "");
    if (hasErrors)
      lines.push("## Errors", "", "All classes of [the errors' table](errors.md).", "");
    return lines.join("\n");
  }

  /**
   * @param {string} name
   * @param {ts.Symbol} symbol
   */
  #section(name, symbol) {
    const declarations = (symbol.declarations ?? []).filter((one) => !ts.isModuleDeclaration(one));
    const words = ts.displayPartsToString(symbol.getDocumentationComment(this.checker));
    if (words === "")
      this.problems.push(
        `${this.entry.name}: '${name}' has no words (${declarations[0]?.getSourceFile().fileName})`,
      );
    const code = declarations.map((one) => declarationText(one)).join("\n");
    const links = this.#links(symbol, declarations);
    return [
      `### ${name}`,
      "",
      "```ts",
      code,
      "```",
      "",
      ...(words === "" ? [] : [sentence(words), ""]),
      ...(links.length === 0 ? [] : [`See ${links.join(", ")}.`, ""]),
    ];
  }

  /**
   * @param {ts.Symbol} self
   * @param {ts.Declaration[]} declarations
   */
  #links(self, declarations) {
    /** @type {Map<string, string>} */
    const links = new Map();
    /** @param {ts.Node} node */
    const visit = (node) => {
      if (ts.isBlock(node) || isHidden(node)) return;
      const name = ts.isTypeReferenceNode(node)
        ? node.typeName
        : ts.isExpressionWithTypeArguments(node) || ts.isTypeQueryNode(node)
          ? ts.isTypeQueryNode(node)
            ? node.exprName
            : node.expression
          : undefined;
      let symbol = name === undefined ? undefined : this.checker.getSymbolAtLocation(name);
      if (symbol !== undefined && symbol.flags & ts.SymbolFlags.Alias)
        symbol = this.checker.getAliasedSymbol(symbol);
      if (symbol !== undefined && symbol !== self && isOurs(symbol) && !isInternal(symbol)) {
        // Configurations have their own page.
        if (!this.described.has(symbol) && isConfiguration(symbol))
          this.described.set(symbol, "/reference/configuration");
        if (this.errors.has(symbol.name)) this.described.set(symbol, "/reference/api/errors");
        if (!this.described.has(symbol)) {
          this.described.set(
            symbol,
            `/${this.entry.page.replace(/\.md$/, "")}#${anchorOf(symbol.name)}`,
          );
          this.#mentioned.push(symbol);
        }
        const address = this.described.get(symbol) ?? "";
        links.set(
          address,
          `[${isConfiguration(symbol) ? "the configuration" : `\`${symbol.name}\``}](${address})`,
        );
      }
      // A constant's value isn't part of its declaration.
      if (!ts.isVariableDeclaration(node)) ts.forEachChild(node, visit);
      else if (node.type !== undefined) visit(node.type);
    };
    for (const one of declarations) visit(one);
    return [...links.values()];
  }
}

/** A type of this project, and no parameter of one.
 * @param {ts.Symbol} symbol
 */
function isOurs(symbol) {
  const [first] = symbol.declarations ?? [];
  if (first === undefined || ts.isTypeParameterDeclaration(first)) return false;
  const file = first.getSourceFile().fileName;
  return file.startsWith(`${root}/`) && !file.includes("/node_modules/");
}

/** @param {ts.Symbol} symbol */
const isConfiguration = (symbol) =>
  symbol.declarations?.[0]?.getSourceFile().fileName ===
  join(root, "server/config/config-types.ts");

/** Members that aren't documented: private ones, and those marked as internal.
 * @param {ts.Node} node
 */
function isHidden(node) {
  if (ts.isClassStaticBlockDeclaration(node)) return true;
  if (ts.getJSDocTags(node).some((tag) => tag.tagName.text === "internal")) return true;
  const name = /** @type {ts.NamedDeclaration} */ (node).name;
  return name !== undefined && ts.isPrivateIdentifier(name);
}

/** A declaration without bodies and values, but with its members' comments.
 * @param {ts.Declaration} node
 */
function declarationText(node) {
  const file = node.getSourceFile();
  /** @type {(start: number, end: number) => string} */
  const slice = (start, end) => file.text.slice(start, end);
  const bare = (/** @type {string} */ text) => {
    const own = text.replace(/^export (?:default )?/, "").replaceAll(/^ *\/\/ .*\n/gm, "");
    return namesOf(own.trim());
  };
  if (ts.isFunctionDeclaration(node)) {
    const text = bare(
      `${slice(node.getStart(), node.body?.pos ?? node.end).replace(/^(?:export )?async /, "")};`,
    );
    if (text.includes("\n") || text.length < 80) return text;
    const parameters = node.parameters.map((one) => `  ${one.getText()},\n`);
    return bare(
      `${slice(node.getStart(), node.parameters.pos).replace(/^(?:export )?async /, "")}\n${parameters.join("")}): ${node.type?.getText()};`,
    );
  }
  if (ts.isVariableDeclaration(node))
    return `const ${slice(node.getStart(), node.type?.end ?? node.end)};`;
  if (!ts.isClassDeclaration(node)) return bare(readable(node.getText()));
  const [first] = node.members;
  const members = node.members
    .filter((one) => !isHidden(one))
    .map((one) => `  ${memberText(one, slice)}`);
  const head = bare(slice(node.getStart(), first?.pos ?? node.end - 1));
  return `${head}\n${members.join("\n")}\n}`;
}

/**
 * @param {ts.ClassElement} member
 * @param {(start: number, end: number) => string} slice
 */
function memberText(member, slice) {
  const [comment] = ts.getJSDocCommentsAndTags(member).filter(ts.isJSDoc);
  const words = comment === undefined ? "" : `${readable(comment.getText())}\n  `;
  const body = /** @type {ts.MethodDeclaration} */ (member).body;
  const value = ts.isPropertyDeclaration(member) ? member.initializer : undefined;
  const end =
    body?.pos ??
    (value === undefined
      ? member.end
      : (/** @type {ts.PropertyDeclaration} */ (member).type?.end ?? member.end));
  const text = slice(member.getStart(), end)
    .replaceAll(/\b(?:override|async) /g, "")
    .trim();
  return `${words}${namesOf(text.replace(/;$/, ""))};`;
}

/** Unused parameters begin with `_`, which the reference hides.
 * @param {string} text
 */
const namesOf = (text) => text.replaceAll(/([(,] ?(?:\.\.\.)?)_(\w)/g, "$1$2");

/** Omits linter directives, and shows links as plain names.
 * @param {string} text
 */
const readable = (text) =>
  text.replaceAll(/^ *\/\/ oxlint-.*\n/gm, "").replaceAll(/\{@link ([\w.]+)[^}]*\}/g, "$1");

/** @param {string} text */
function sentence(text) {
  const words = readable(text.replaceAll(/\{@link ([\w.]+)[^}]*\}/g, "`$1`"));
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.:!?)]$/.test(words) ? "" : "."}`;
}

/** The page of the runtime's errors.
 * @param {typeof import("../src/base/errors.ts")} module
 */
export function errorsPage({ frameworkErrors, statusOf }) {
  const file = join(root, "src/base/errors.ts");
  const source = ts.createSourceFile(
    file,
    readFileSync(file, "utf8"),
    ts.ScriptTarget.ES2023,
    true,
  );
  const words = new Map(
    source.statements.filter(ts.isClassDeclaration).map((one) => {
      const [comment] = ts.getJSDocCommentsAndTags(one).filter(ts.isJSDoc);
      return [one.name?.text, ts.getTextOfJSDocComment(comment?.comment) ?? ""];
    }),
  );
  const rows = [...frameworkErrors].map(([name, Class]) => {
    const error = new Class();
    /** @type {{ name: string }} */
    const parent = Object.getPrototypeOf(Class);
    const message = error.message === "" ? "" : `\`${error.message}\``;
    const when = sentence(readable(words.get(name) ?? "").replace(/^\d{3}: /, ""));
    return `| ${statusOf(error)} | \`${name}\` | \`${parent.name}\` | ${message} | ${when} |`;
  });
  return [
    "# Errors",
    "",
    "Exported by `seamline`. Each is built from a message and options, `new NotFound(message, { cause })`; `Teapot` from",
    "nothing. A class of yours that extends one of them has its status. [The guide](../../guide/errors.md) says what callers get.",
    "",
    "| status | class | extends | default message | when |",
    "|---|---|---|---|---|",
    ...rows.toSorted(),
    "",
  ].join("\n");
}
