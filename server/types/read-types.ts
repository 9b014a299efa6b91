// Reads the types of functions' parameters from the compiler, as plain JSON. This file and programs.ts
// know the compiler, and nothing else does.

import { relative, sep } from "node:path";
import type ts from "typescript";
import { pathPart } from "../../src/base/faults.ts";
import type { Problem } from "../../src/base/problem.ts";
import {
  type BinaryType,
  binaryTypes,
  type ClassTypes,
  type ContractFunction,
  type ContractSignature,
  type ContractTypes,
  type IndexRule,
  type Literal,
  type Member,
  type NamedType,
  type ParameterType,
  type Signature,
  type Type,
  type TypeModel,
} from "./model.ts";
import {
  type Compiler,
  isOfPackage,
  type ProgramOptions,
  type Programs,
  programsOf,
} from "./programs.ts";
import { constrain, type Constraint, constraintNames } from "./constrain.ts";
import { maxRepeated, settle, type Slot } from "./definitions.ts";
import { maxTries, triesOf, unionOf, withoutUndefined } from "./union.ts";

/** An exported function whose parameters are read. */
export interface WantedFunction {
  /** Its key in the model. */
  readonly id: string;
  /** Absolute path of its module. */
  readonly file: string;
  readonly export: string;
  /**
   * Offset of the function's own code in the module: `async` in `guarded(async (x) => …)`. It names the
   * parameters, and gives types where those of the export say `any`.
   */
  readonly code?: number;
  /** It answers requests instead of calls: only its comment is read. */
  readonly route?: true;
}

/** An exported class of the application. */
export interface WantedClass {
  /** The key that its instances travel with. */
  readonly key: string;
  /** Absolute path of its module. */
  readonly file: string;
  readonly export: string;
}

export interface ReadOptions extends ProgramOptions {
  /** Whether the contract is read, too. */
  readonly contract?: boolean;
  /** All classes whose instances travel: those that extend a class which a parameter takes are read. */
  readonly classes?: readonly WantedClass[];
  /** The key that instances of a class travel with; `undefined` for a class whose instances can't. */
  readonly classKey: (file: string, name: string) => string | undefined;
  /** Returns the fault of a regular expression: it must match in linear time. */
  readonly judgePattern: (source: string) => string | undefined;
}

export interface ReadTypes {
  /** Without the functions that have problems. */
  readonly model: TypeModel;
  /** Types that can't be checked, or whose values can't arrive. */
  readonly problems: readonly Problem[];
  /** Facts that may surprise the author, though they aren't mistakes. */
  readonly notes: readonly Problem[];
  /** Function → the parameters and members of them that take anything, and why. */
  readonly unchecked: Readonly<Record<string, readonly Unchecked[]>>;
  /** The contract's part of the functions and their results, if it was requested. */
  readonly contract?: ContractTypes;
  /** As of {@link Programs}. */
  readonly files: Programs["files"];
  readonly outlines: Programs["outlines"];
  readonly missing: Programs["missing"];
}

export interface Unchecked {
  readonly path: string;
  readonly reason: "any" | "unknown" | "no JSDoc";
}

/** The name of a type in a contract: `Page_Line`, or `shop_catalog_Page_shop_orders_Line`. */
type LastingName = Required<Pick<Slot["name"], "text" | "qualified">>;

/** A problem with a type, before its place is known. */
interface Finding {
  readonly at: string;
  readonly message: string;
  readonly hint: string;
  readonly note?: true;
  /** About a class whose instances no message can hold: a union keeps its other arms. */
  readonly foreign?: true;
}

/** A parameter of a signature, after a rest parameter with a tuple was expanded. */
interface Position {
  readonly name: string;
  readonly type: ts.Type;
  readonly optional: boolean;
  /** Any number of values: `type` is that of their array, or of each of them. */
  readonly rest?: "array" | "items";
}

const waysOut = {
  unresolved:
    'Install or import what declares it, or write `unknown`, or `"validate": false` in the segment file',
  cannotArrive: "Take what can be sent, and make the value of it inside the function",
};

const unresolved = "its type can't be resolved";

/** The model of some functions' parameters. Its keys are in the order of `wanted`. */
export function readTypes(
  ts: Compiler,
  wanted: readonly WantedFunction[],
  options: ReadOptions,
): ReadTypes {
  const subclasses = options.classes ?? [];
  const modules = [...new Set([...wanted, ...subclasses].map(({ file }) => file))];
  const { byModule, problems: configProblems, loose, ...read } = programsOf(ts, modules, options);
  const classes = new Map<string, ClassTypes>();
  const shared: Shared = { slots: [], classes, options };
  const contractShared: Shared = { slots: [], classes: new Map(), options, forContract: true };
  const readers = new Map<Shared, Map<ts.Program, ReturnType<typeof typeReader>>>();
  const functions = new Map<string, readonly Signature[]>();
  const problems: Problem[] = [...configProblems];
  const notes: Problem[] = loose.map((file) => ({
    file,
    message: "Without `strictNullChecks` every type takes `null`: types are read as if it was on",
    hint: 'Set `"strict": true`, or write `| null` where null may come',
  }));
  const unchecked = new Map<string, readonly Unchecked[]>();
  const readerOf = (file: string, by = shared): ReturnType<typeof typeReader> => {
    const program = byModule.get(file)!;
    const own = readers.get(by) ?? new Map<ts.Program, ReturnType<typeof typeReader>>();
    const reader = own.get(program) ?? typeReader(ts, program, by);
    readers.set(by, own.set(program, reader));
    return reader;
  };
  /** Returns whether there was no problem. */
  const report = (target: Omit<WantedFunction, "id">, findings: readonly Finding[]): boolean => {
    const place = findings.length === 0 ? undefined : readerOf(target.file).placeOf(target);
    for (const { at, message, hint, note } of findings)
      (note ? notes : problems).push({
        file: relative(options.root, target.file).split(sep).join("/"),
        ...place,
        message: `${target.export}: ${at === "" ? "" : `${cut(at)}: `}${message}`,
        hint,
      });
    return findings.every(({ note }) => note);
  };
  for (const target of wanted.filter(({ route }) => !route)) {
    const { signatures, findings, taken } = readerOf(target.file).readFunction(target);
    if (report(target, findings)) functions.set(target.id, signatures);
    if (taken.length > 0) unchecked.set(target.id, taken);
  }
  // A subclass may have members of further classes.
  for (let count = -1; count < classes.size;) {
    count = classes.size;
    for (const target of subclasses)
      if (!classes.has(target.key)) report(target, readerOf(target.file).readSubclass(target));
  }
  const contract = (): ContractTypes => {
    const contractFunctions = wanted.map((target): [string, ContractFunction] => [
      target.id,
      readerOf(target.file, contractShared).readForContract(target),
    ]);
    return settle(
      contractShared.slots,
      contractShared.classes,
      new Map(contractFunctions),
      maxRepeated.contract,
    );
  };
  const { docs: _, ...model } = settle(shared.slots, classes, functions);
  return {
    model,
    ...(options.contract && { contract: contract() }),
    problems,
    notes,
    unchecked: Object.fromEntries(unchecked),
    ...read,
  };
}

interface Shared {
  readonly slots: Slot[];
  readonly classes: Map<string, ClassTypes>;
  readonly options: ReadOptions;
  /**
   * Reads for a contract, not for checks: with results and comments, without names that the application
   * doesn't export, and with `unknown` for types that can't be read.
   */
  readonly forContract?: boolean;
}

/** After this many instantiations, a generic type is taken to unfold without end. */
const maxInstantiations = 500;

/**
 * The most findings about one function. A library's object has hundreds, and the first ones are enough to
 * recognize it.
 */
const maxFindings = 5;
const maxUnchecked = 20;

function typeReader(
  ts: Compiler,
  program: ts.Program,
  { slots, classes, options, forContract = false }: Shared,
) {
  const checker = program.getTypeChecker();
  const { TypeFlags, SymbolFlags, ObjectFlags } = ts;
  const structured = TypeFlags.Object | TypeFlags.Intersection | TypeFlags.Instantiable;
  const namedPrimitives =
    TypeFlags.String | TypeFlags.Number | TypeFlags.Boolean | TypeFlags.BigInt | TypeFlags.Unknown;
  const slotOf = new Map<ts.Type, Slot & { findings: Finding[]; taken: Unchecked[] }>();
  const resolvedSymbols = new Set<ts.Symbol>();
  const exportsOf = new Map<ts.SourceFile, ReadonlySet<ts.Symbol>>();
  let open = new Map<ts.Symbol, number>();
  let findings: Finding[] = [];
  let taken: Unchecked[] = [];

  return { readFunction, readForContract, readSubclass, placeOf };

  function placeOf({ file, code, ...target }: Omit<WantedFunction, "id">): {
    line: number;
    column: number;
  } {
    const source = program.getSourceFile(file);
    if (source === undefined) return { line: 1, column: 1 };
    const declaration = exportOf(source, target.export)?.declarations?.[0];
    const start =
      code ?? (declaration?.getSourceFile() === source ? declaration.getStart() : undefined) ?? 0;
    const { line, character } = source.getLineAndCharacterOfPosition(start);
    return { line: line + 1, column: character + 1 };
  }

  function readFunction(target: WantedFunction): {
    signatures: readonly Signature[];
    findings: readonly Finding[];
    taken: readonly Unchecked[];
  } {
    findings = [];
    taken = [];
    open = new Map();
    const source = program.getSourceFile(target.file);
    if (source === undefined) {
      refuse("", "its module is gone", "Take it out of the segment file");
      return { signatures: [], findings, taken };
    }
    const { all, own, inner } = signaturesOf(source, target);
    if (all.length === 0)
      refuse(
        "",
        "its type isn't that of a function",
        'Declare it as a function, or write `"validate": false` in the segment file',
      );
    const signatures = all
      .flatMap(positionsOf)
      .map((positions) => readSignature(positions, own, inner));
    return {
      signatures,
      findings: firstOf(findings),
      taken: distinct(taken).slice(0, maxUnchecked),
    };
  }

  /** The signatures of an export, and that of the function's own code. */
  function signaturesOf(
    source: ts.SourceFile,
    target: WantedFunction,
  ): {
    all: readonly ts.Signature[];
    own: ts.SignatureDeclaration | undefined;
    inner: ts.Signature | undefined;
  } {
    const symbol = exportOf(source, target.export);
    const type = symbol && checker.getTypeOfSymbol(symbol);
    const own = ownCode(source, symbol, target.code);
    const outer =
      type === undefined ? [] : checker.getSignaturesOfType(type, ts.SignatureKind.Call);
    const inner = own && checker.getSignatureFromDeclaration(own);
    return { all: outer.length > 0 ? outer : inner === undefined ? [] : [inner], own, inner };
  }

  /** The types and the comment of a function, for those who call it. */
  function readForContract(target: WantedFunction): ContractFunction {
    open = new Map();
    const source = program.getSourceFile(target.file);
    if (source === undefined) return { signatures: [] };
    const symbol = exportOf(source, target.export);
    const { doc, deprecated } = commentOf(symbol);
    const signatures = (): ContractFunction["signatures"] => {
      const { all, own, inner } = signaturesOf(source, target);
      return all.flatMap((signature) =>
        positionsOf(signature).map((positions) => ({
          ...readSignature(positions, own, inner),
          ...readResult(signature, inner),
        })),
      );
    };
    return {
      signatures: target.route ? [] : signatures(),
      ...(doc !== undefined && { doc }),
      ...(deprecated && { deprecated: true as const }),
    };
  }

  /** The type of a function's answer, or of the items that it streams. */
  function readResult(
    signature: ts.Signature,
    inner: ts.Signature | undefined,
  ): Pick<ContractSignature, "result" | "streams" | "returns"> {
    const own = checker.getReturnTypeOfSignature(signature);
    const returned =
      own.flags & TypeFlags.Any && inner !== undefined
        ? checker.getReturnTypeOfSignature(inner)
        : own;
    const value = checker.getAwaitedType(returned) ?? returned;
    const streams = checker
      .getPropertiesOfType(value)
      .some(({ name }) => name.startsWith("__@asyncIterator"));
    if (!streams) return { result: read(value, "") };
    const [item, end] = isOfPlatform(value)
      ? checker.getTypeArguments(value as ts.TypeReference)
      : [];
    const readAwaited = (type: ts.Type): Type => read(checker.getAwaitedType(type) ?? type, "");
    const returns = end && readAwaited(end);
    return {
      result: item === undefined ? { kind: "unknown" } : readAwaited(item),
      streams: true,
      ...(returns && !["undefined", "unknown", "never"].includes(returns.kind) && { returns }),
    };
  }

  /** The comment of an export or a member, unless it is marked as internal. */
  function commentOf(symbol: ts.Symbol | undefined): {
    readonly doc?: string | undefined;
    readonly deprecated?: true;
  } {
    if (!hasComment(symbol)) return {};
    const tags = new Set(symbol?.getJsDocTags(checker).map(({ name }) => name));
    const text = ts.displayPartsToString(symbol?.getDocumentationComment(checker)).trim();
    return {
      ...(text !== "" && !tags.has("internal") && { doc: text }),
      ...(tags.has("deprecated") && { deprecated: true }),
    };
  }

  /** Asking for a comment that isn't there costs as much as reading one. */
  function hasComment(symbol: ts.Symbol | undefined): boolean {
    return (symbol?.declarations ?? []).some(
      (declaration) => ts.getJSDocCommentsAndTags(declaration).length > 0,
    );
  }

  /** Whether a module of the application exports a type, and doesn't call it internal. */
  function isExported(symbol: ts.Symbol): boolean {
    const source = symbol.declarations?.[0]?.getSourceFile();
    if (source === undefined || isOfPackage(source.fileName)) return false;
    let exported = exportsOf.get(source);
    if (exported === undefined) {
      const module = checker.getSymbolAtLocation(source);
      const all = module === undefined ? [] : checker.getExportsOfModule(module);
      exportsOf.set(source, (exported = new Set(all.map(aliased))));
    }
    return (
      exported.has(symbol) && !symbol.getJsDocTags(checker).some(({ name }) => name === "internal")
    );
  }

  function exportOf(source: ts.SourceFile, name: string): ts.Symbol | undefined {
    const module = checker.getSymbolAtLocation(source);
    const found =
      module && checker.getExportsOfModule(module).find((symbol) => symbol.name === name);
    return found && aliased(found);
  }

  /** The symbol behind an import or export. */
  function aliased(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  }

  /** The function's own code, which has its names and patterns. */
  function ownCode(
    source: ts.SourceFile,
    symbol: ts.Symbol | undefined,
    offset: number | undefined,
  ): ts.SignatureDeclaration | undefined {
    if (offset !== undefined) {
      let found: ts.SignatureDeclaration | undefined;
      const seek = (node: ts.Node): void => {
        if (found !== undefined || node.end < offset || node.pos > offset) return;
        if (ts.isFunctionLike(node) && node.getStart() === offset) found = node;
        else ts.forEachChild(node, seek);
      };
      seek(source);
      if (found !== undefined) return found;
    }
    for (const declaration of symbol?.declarations?.toReversed() ?? []) {
      const node =
        ts.isVariableDeclaration(declaration) && declaration.initializer
          ? declaration.initializer
          : ts.isExportAssignment(declaration)
            ? declaration.expression
            : declaration;
      if (ts.isFunctionLike(node)) return node;
    }
    return undefined;
  }

  /** The positions of a signature; several lists if its rest parameter is a union of tuples. */
  function positionsOf(signature: ts.Signature): Position[][] {
    let lists: Position[][] = [[]];
    for (const parameter of signature.getParameters()) {
      const declaration = parameter.valueDeclaration;
      const isParameter = declaration !== undefined && ts.isParameter(declaration);
      const rest = isParameter && declaration.dotDotDotToken !== undefined;
      const type = checker.getTypeOfSymbol(parameter);
      const { name } = parameter;
      if (!rest) {
        const optional =
          declaration !== undefined &&
          (isParameter || ts.isJSDocParameterTag(declaration)) &&
          checker.isOptionalParameter(declaration as ts.ParameterDeclaration);
        lists = lists.map((list) => [...list, { name, type, optional }]);
        continue;
      }
      const constraint = type.isTypeParameter()
        ? (checker.getBaseConstraintOfType(type) ?? type)
        : type;
      const arms = constraint.isUnion() ? constraint.types : [constraint];
      lists = lists.flatMap((list) => arms.map((arm) => [...list, ...restPositions(arm, name)]));
    }
    return lists;
  }

  function restPositions(type: ts.Type, name: string): Position[] {
    const whole: Position = { name, type, optional: false, rest: "array" };
    if (!checker.isTupleType(type)) return [whole];
    const { elementFlags: flags, labeledElementDeclarations: labels } = (
      type as ts.TupleTypeReference
    ).target;
    const variable = flags.findIndex((flag) => flag & ts.ElementFlags.Variable);
    // Items after a rest have no position of their own.
    if (variable >= 0 && variable < flags.length - 1) return [whole];
    return checker.getTypeArguments(type as ts.TypeReference).map((item, index) => {
      const label = labels?.[index];
      return {
        name: label === undefined ? `${name}_${index}` : label.name.getText(),
        type: item,
        optional: (flags[index]! & ts.ElementFlags.Optional) !== 0,
        ...(index === variable && {
          rest: flags[index]! & ts.ElementFlags.Variadic ? ("array" as const) : ("items" as const),
        }),
      };
    });
  }

  function readSignature(
    positions: readonly Position[],
    own: ts.SignatureDeclaration | undefined,
    inner: ts.Signature | undefined,
  ): Signature {
    const declared =
      own?.parameters.filter(
        (parameter): parameter is ts.ParameterDeclaration =>
          ts.isParameter(parameter) && parameter.name.getText() !== "this",
      ) ?? [];
    // A wrapper that adds or drops parameters has its own list, and its own names.
    const fits =
      positions.length <= declared.length || declared.at(-1)?.dotDotDotToken !== undefined;
    const ownPositions = inner === undefined ? [] : (positionsOf(inner)[0] ?? []);
    if (!fits || declared.length === 0)
      return { parameters: positions.map((position) => plainParameter(position)) };
    return {
      parameters: declared.map((parameter, index) => {
        const outer = positionAt(positions, index);
        const optional =
          parameter.questionToken !== undefined ||
          parameter.initializer !== undefined ||
          outer === undefined ||
          outer.optional;
        if (parameter.dotDotDotToken !== undefined) {
          const name = parameter.name.getText();
          return { kind: "rest", name, type: restType(positions.slice(index), name) };
        }
        const position = chosen(outer, ownPositions[index], parameter);
        if (ts.isIdentifier(parameter.name))
          return plainParameter(
            { type: undefined, ...position, name: parameter.name.text, optional },
            parameter,
          );
        return patternParameter(parameter, parameter.name, position?.type, optional);
      }),
    };
  }

  /** The position at an index, which may be one of those that a rest parameter stands for. */
  function positionAt(positions: readonly Position[], index: number): Position | undefined {
    const position = positions[Math.min(index, positions.length - 1)];
    if (position?.rest === undefined) return positions[index];
    const { name, type, rest } = position;
    const item = rest === "items" ? type : checker.getIndexTypeOfType(type, ts.IndexKind.Number);
    return { name, type: item ?? type, optional: false };
  }

  /** The outer type of a position, or that of the function's own code where the outer one is `any`. */
  function chosen(
    outer: Position | undefined,
    inner: Position | undefined,
    { type }: ts.ParameterDeclaration,
  ): { type: ts.Type | undefined } | undefined {
    if (outer === undefined) return undefined;
    const isAny = (outer.type.flags & TypeFlags.Any) !== 0 && !isError(outer.type);
    return isAny && inner !== undefined && type !== undefined ? inner : outer;
  }

  function plainParameter(
    {
      name,
      type,
      optional,
      rest,
    }: Omit<Position, "type"> & { readonly type?: ts.Type | undefined },
    declaration?: ts.ParameterDeclaration,
  ): ParameterType {
    // An overload without this position takes nothing at it.
    if (type === undefined)
      return { kind: "plain", name, type: { kind: "undefined" }, optional: true };
    if (rest !== undefined) return { kind: "rest", name, type: arrayOf(type, rest, name) };
    if (
      declaration !== undefined &&
      type.flags & TypeFlags.Any &&
      !isError(type) &&
      declaration.type === undefined &&
      declaration.initializer === undefined &&
      ts.getJSDocType(declaration) === undefined
    ) {
      const { type: anything } = noType(declaration, name);
      return { kind: "plain", name, type: anything, ...(optional && { optional: true }) };
    }
    if (declaration !== undefined) noteTags(declaration, name);
    const count = findings.length;
    const value = member(type, name, optional, declaration?.type);
    refuseUnresolved(declaration, name, count);
    return { kind: "plain", name, ...value, ...defaultOf(declaration) };
  }

  /** The default of a parameter or a name in a pattern, if a contract is read and it is a literal. */
  function defaultOf(
    declaration: ts.ParameterDeclaration | ts.BindingElement | undefined,
  ): Pick<NamedType, "default"> {
    const initializer = forContract ? declaration?.initializer : undefined;
    const value = initializer && literalOf(checker.getTypeAtLocation(initializer));
    const isWritten =
      initializer !== undefined &&
      (ts.isLiteralExpression(initializer) ||
        ts.isPrefixUnaryExpression(initializer) ||
        initializer.kind === ts.SyntaxKind.TrueKeyword ||
        initializer.kind === ts.SyntaxKind.FalseKeyword);
    return isWritten && value !== undefined ? { default: value } : {};
  }

  /**
   * Refuses a declared type with an unresolved name, even if the compiler made a type of it. Otherwise,
   * findings since `start` get the name.
   */
  function refuseUnresolved(
    declaration: ts.ParameterDeclaration | undefined,
    at: string,
    start: number,
  ): void {
    const own = findings.slice(start);
    const isNameless = ({ message }: Finding): boolean => message === unresolved;
    if (own.length > 0 && !own.some(isNameless)) return;
    const node = declaration && (declaration.type ?? ts.getJSDocType(declaration));
    const name = node && unresolvedIn(node);
    if (name === undefined) return;
    if (own.length === 0) refuseName(name, at);
    for (const nameless of own.filter(isNameless)) {
      findings.splice(findings.indexOf(nameless), 1);
      refuseName(name, nameless.at);
    }
  }

  function refuseName(node: ts.Node, at: string): Type {
    const file = unreadFile(node);
    return refuse(
      at,
      `${unresolved}: '${node.getText()}'`,
      file === undefined
        ? waysOut.unresolved
        : `The compiler doesn't read ${file}: declare the type in a .ts file, or write \`unknown\`, or \`"validate": false\` in the segment file`,
    );
  }

  /** The file of another language, such as `./Panel.vue`, that a type's name is imported from. */
  function unreadFile(node: ts.Node): string | undefined {
    let name = ts.isTypeReferenceNode(node) ? node.typeName : undefined;
    while (name !== undefined && ts.isQualifiedName(name)) name = name.left;
    const imported = name && checker.getSymbolAtLocation(name)?.declarations?.[0];
    const statement = imported && ts.findAncestor(imported, ts.isImportDeclaration);
    const specifier = statement && ts.isStringLiteral(statement.moduleSpecifier);
    const file = specifier ? statement.moduleSpecifier.text : "";
    return /^\.{1,2}\/.*\.(?:vue|svelte|astro|mdx?)$/.test(file) ? file : undefined;
  }

  /** A name in a type that can't be resolved. Follows aliases and `extends`. */
  function unresolvedIn(node: ts.Node): ts.Node | undefined {
    if (ts.isTypeReferenceNode(node) || ts.isImportTypeNode(node) || ts.isTypeQueryNode(node)) {
      if (isError(checker.getTypeFromTypeNode(node))) return node;
      const name = ts.isTypeReferenceNode(node)
        ? node.typeName
        : ts.isTypeQueryNode(node)
          ? node.exprName
          : undefined;
      const inside = name && unresolvedBehind(checker.getSymbolAtLocation(name));
      if (inside !== undefined) return inside;
    }
    return ts.forEachChild(node, unresolvedIn);
  }

  function unresolvedBehind(symbol: ts.Symbol | undefined): ts.Node | undefined {
    const target = symbol && aliased(symbol);
    if (target === undefined || resolvedSymbols.has(target)) return undefined;
    resolvedSymbols.add(target);
    for (const declaration of target.declarations ?? []) {
      // A package's own types are its publisher's to check.
      if (/\/node_modules\//.test(declaration.getSourceFile().fileName)) continue;
      const found = ts.isTypeAliasDeclaration(declaration)
        ? unresolvedIn(declaration.type)
        : unresolvedBase(declaration);
      if (found === undefined) continue;
      // Each use of it, direct or through other types, is a problem.
      resolvedSymbols.clear();
      return found;
    }
    return undefined;
  }

  /** The parent of an interface or class, if it can't be resolved: its members are missing. */
  function unresolvedBase(declaration: ts.Declaration): ts.Node | undefined {
    if (!ts.isInterfaceDeclaration(declaration) && !ts.isClassLike(declaration)) return undefined;
    for (const clause of declaration.heritageClauses ?? []) {
      if (clause.token !== ts.SyntaxKind.ExtendsKeyword) continue;
      for (const base of clause.types) {
        if (isError(checker.getTypeAtLocation(base))) return base;
        const found =
          unresolvedBehind(checker.getSymbolAtLocation(base.expression)) ??
          base.typeArguments?.map(unresolvedIn).find((node) => node !== undefined);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  }

  /** A parameter that takes anything, as it has no type. */
  function noType(declaration: ts.Node, name: string): NamedType {
    if (declaration.flags & ts.NodeFlags.JavaScriptFile)
      taken.push({ path: name, reason: "no JSDoc" });
    else refuse(name, "it has no type", "Declare one, or write `unknown`");
    return { name, type: { kind: "unknown" } };
  }

  function patternParameter(
    declaration: ts.ParameterDeclaration,
    pattern: ts.BindingPattern,
    type: ts.Type | undefined,
    optional: boolean,
  ): ParameterType {
    const whole = type && checker.getNonNullableType(type);
    const nameOf = (element: ts.BindingElement, index: number | undefined): NamedType | null => {
      const isArray = index !== undefined;
      const key = isArray ? String(index) : (element.propertyName ?? element.name).getText();
      const name = isArray ? element.name.getText() : key.replace(/^(["'])(.*)\1$/, "$2");
      const found = whole === undefined ? undefined : memberOf(whole, isArray ? key : name);
      if (found?.isImplied && element.initializer === undefined) return noType(element, name);
      const mayMiss = element.initializer !== undefined || found?.optional === true;
      if (found === undefined) {
        const isAny = whole === undefined || (whole.flags & TypeFlags.Any && !isError(whole));
        const value = isAny ? unknown(name, "any") : refuse(name, unresolved, waysOut.unresolved);
        return { name, type: value, optional: true };
      }
      return mayMiss
        ? { name, type: readPresent(found.type, name), optional: true, ...defaultOf(element) }
        : { name, type: read(found.type, name) };
    };
    const count = findings.length;
    const kind = ts.isObjectBindingPattern(pattern) ? "object" : "array";
    const names = pattern.elements.map((element, index) =>
      ts.isOmittedExpression(element)
        ? null
        : nameOf(element, kind === "array" ? index : undefined),
    );
    refuseUnresolved(declaration, "", count);
    return { kind, names, ...(optional && { optional: true }) } as ParameterType;
  }

  function memberOf(
    type: ts.Type,
    name: string,
  ): { type: ts.Type; optional: boolean; isImplied?: boolean } | undefined {
    const property = checker.getPropertyOfType(type, name);
    if (property !== undefined) {
      const memberType = checker.getTypeOfSymbol(property);
      return {
        type: memberType,
        optional: (property.flags & SymbolFlags.Optional) !== 0,
        // A pattern without a type declares no type for its names.
        isImplied:
          (memberType.flags & TypeFlags.Any) !== 0 && (property.declarations ?? []).length === 0,
      };
    }
    const isItem = /^\d+$/.test(name);
    const index =
      (isItem ? checker.getIndexTypeOfType(type, ts.IndexKind.Number) : undefined) ??
      checker.getIndexTypeOfType(type, ts.IndexKind.String);
    return index && { type: index, optional: true };
  }

  function restType(positions: readonly Position[], name: string): Type {
    const [first] = positions;
    if (first === undefined) return { kind: "tuple", first: [] };
    if (first.rest !== undefined) return arrayOf(first.type, first.rest, name);
    const last = positions.at(-1)!;
    const firm = last.rest === undefined ? positions : positions.slice(0, -1);
    const rest = last.rest === undefined ? undefined : arrayOf(last.type, last.rest, name);
    return {
      kind: "tuple",
      first: firm.map(({ type, optional }, index) => member(type, `${name}[${index}]`, optional)),
      ...(rest?.kind === "array" && { rest: rest.items }),
    };
  }

  function arrayOf(type: ts.Type, rest: "array" | "items", at: string): Type {
    return rest === "items"
      ? { kind: "array", items: read(type, `${at}[]`) }
      : resolved(read(type, at));
  }

  function member(type: ts.Type, at: string, optional: boolean, node?: ts.TypeNode): Member {
    // An alias of a primitive leaves no trace in the type.
    const alias =
      node !== undefined && ts.isTypeReferenceNode(node)
        ? checker.getSymbolAtLocation(node.typeName)
        : undefined;
    for (const declaration of (alias && aliased(alias).declarations) ?? [])
      noteTags(declaration, at);
    return optional
      ? { type: readPresent(type, at, node), optional: true }
      : { type: read(type, at, node) };
  }

  /** The type of an optional value when it is present. */
  function readPresent(type: ts.Type, at: string, node?: ts.TypeNode): Type {
    const arms = type.isUnion()
      ? type.types.filter((arm) => !(arm.flags & TypeFlags.Undefined))
      : [];
    return arms.length === 1
      ? read(arms[0]!, at, node)
      : withoutUndefined(resolved(read(type, at, node)));
  }

  function refuse(at: string, message: string, hint: string): Type {
    findings.push({ at, message, hint });
    return { kind: forContract ? "unknown" : "never" };
  }

  function note(at: string, message: string, hint: string): void {
    findings.push({ at, message, hint, note: true });
  }

  function unknown(at: string, reason: Unchecked["reason"] = "unknown"): Type {
    taken.push({ path: at, reason });
    return { kind: "unknown" };
  }

  /** The type of an unresolved name. In messages, the compiler calls it `any`. */
  function isError(type: ts.Type): boolean {
    return (type as { intrinsicName?: string }).intrinsicName === "error";
  }

  function shown(type: ts.Type): string {
    return checker.typeToString(type);
  }

  function cannotArrive(type: ts.Type, at: string, what = "a value of this type"): Type {
    return refuse(at, `${what} can't arrive: '${shown(type)}'`, waysOut.cannotArrive);
  }

  function foreignInstance(at: string, message: string): Type {
    findings.push({ at, message, hint: waysOut.cannotArrive, foreign: true });
    return { kind: forContract ? "unknown" : "never" };
  }

  /**
   * The types of a union. Instances that can't arrive, and lists of them, are left out if something else
   * can: `Decimal | number | string`.
   */
  function readArms({ types }: ts.UnionType, at: string): Type[] {
    const outer = findings;
    const arms = types.map((type) => {
      findings = [];
      const arm = read(type, at);
      const isLost = findings.every(
        (one) => one.foreign && /^(?:\[\])*$/.test(one.at.slice(at.length)),
      );
      return { arm, own: findings, isLost: findings.length > 0 && isLost };
    });
    findings = outer;
    const left = arms.filter(({ isLost }) => !isLost);
    const isEnough = left.some(({ arm: { kind } }) => kind !== "null" && kind !== "undefined");
    for (const { own, isLost } of arms)
      if (isLost && isEnough)
        note(
          own[0]!.at,
          `${own[0]!.message}; calls give another type of the union`,
          "Take it out of the type",
        );
      else findings.push(...own);
    return (isEnough ? left : arms).map(({ arm }) => arm);
  }

  function read(type: ts.Type, at: string, node?: ts.TypeNode): Type {
    const { flags } = type;
    if (flags & TypeFlags.Any)
      return isError(type)
        ? node === undefined
          ? refuse(at, unresolved, waysOut.unresolved)
          : refuseName(node, at)
        : unknown(at, "any");
    if (flags & TypeFlags.Unknown) return unknown(at);
    if (flags & TypeFlags.Never) return { kind: "never" };
    if (flags & (TypeFlags.Undefined | TypeFlags.Void)) return { kind: "undefined" };
    if (flags & TypeFlags.Null) return { kind: "null" };
    if (flags & TypeFlags.Boolean) return { kind: "boolean" };
    const literal = literalOf(type);
    if (literal !== undefined) return { kind: "literals", values: [literal] };
    if (flags & TypeFlags.String) return { kind: "string" };
    // An enum with a computed member has no literals.
    if (flags & (TypeFlags.Number | TypeFlags.Enum) && !type.isUnion()) return { kind: "number" };
    if (flags & TypeFlags.BigInt) return { kind: "bigint" };
    if (flags & TypeFlags.ESSymbolLike) return cannotArrive(type, at, "a symbol");
    if (flags & TypeFlags.TemplateLiteral) return readTemplate(type as ts.TemplateLiteralType, at);
    if (flags & TypeFlags.StringMapping) return readMapping(type as ts.StringMappingType, at);
    if (flags & TypeFlags.NonPrimitive) {
      taken.push({ path: at, reason: "unknown" });
      return { kind: "nonprimitive" };
    }
    if (flags & TypeFlags.Instantiable || isOpenIntersection(type)) {
      const constraint = checker.getBaseConstraintOfType(type);
      return constraint === undefined || constraint === type ? unknown(at) : read(constraint, at);
    }
    if (type.isUnion() && type.types.every((arm) => !(arm.flags & structured)))
      return unionOf(readArms(type, at));
    const platform = flags & TypeFlags.Object ? platformType(type, at) : undefined;
    if (platform !== undefined) return platform;
    return inSlot(type, at);
  }

  function isOpenIntersection(type: ts.Type): boolean {
    return (
      type.isIntersection() &&
      type.types.some(
        (part) =>
          part.flags & TypeFlags.Instantiable &&
          !(part.flags & (TypeFlags.TemplateLiteral | TypeFlags.StringMapping)),
      )
    );
  }

  function literalOf(type: ts.Type): Literal | undefined {
    const { flags } = type;
    if (flags & TypeFlags.BooleanLiteral)
      return (type as { intrinsicName?: string }).intrinsicName === "true";
    if (flags & TypeFlags.BigIntLiteral) {
      const { negative, base10Value } = (type as ts.BigIntLiteralType).value;
      return { bigint: `${negative ? "-" : ""}${base10Value}` };
    }
    return type.isStringLiteral() || type.isNumberLiteral() ? type.value : undefined;
  }

  function readTemplate(type: ts.TemplateLiteralType, at: string): Type {
    const parts = type.texts.flatMap((text, index): (string | Type)[] => {
      const hole = type.types[index];
      return hole === undefined ? [text] : [text, read(hole, at)];
    });
    return { kind: "template", parts };
  }

  function readMapping(type: ts.StringMappingType, at: string): Type {
    const names = {
      Uppercase: "upper",
      Lowercase: "lower",
      Capitalize: "capitalized",
      Uncapitalize: "uncapitalized",
    } as const;
    const name = names[type.symbol.name as keyof typeof names];
    const inner = read(type.type, at);
    if (inner.kind !== "string" && inner.kind !== "template")
      return cannotArrive(type, at, "a text of this case");
    return { ...inner, case: name };
  }

  /** Reads a type with parts once, and refers to it from then on. Its findings are repeated at each use. */
  function inSlot(type: ts.Type, at: string): Type {
    const previous = slotOf.get(type);
    if (previous !== undefined) {
      if (previous.type === undefined) previous.recursive = true;
      else adopt(previous, at);
      return { kind: "ref", to: previous.id };
    }
    const symbol = type.aliasSymbol ?? (type as ts.TypeReference).target?.symbol ?? type.symbol;
    const depth = symbol === undefined ? 0 : (open.get(symbol) ?? 0) + 1;
    if (symbol !== undefined && depth > 1 && depth > maxInstantiations)
      return refuse(
        at,
        `its type unfolds without end: ${symbol.name} contains ${maxInstantiations} different instantiations of itself`,
        "Write a type that contains itself with the same arguments",
      );
    if (symbol !== undefined) open.set(symbol, depth);
    const outerFindings = findings;
    const outerTaken = taken;
    const slot = {
      id: String(slots.length),
      name: definitionName(type),
      recursive: false,
      type: undefined as Type | undefined,
      findings: [] as Finding[],
      taken: [] as Unchecked[],
    };
    slots.push(slot);
    slotOf.set(type, slot);
    findings = slot.findings;
    taken = slot.taken;
    slot.type = readParts(type);
    findings = outerFindings;
    taken = outerTaken;
    // Types that often use each other would multiply the findings.
    slot.findings = firstOf(slot.findings);
    slot.taken = slot.taken.slice(0, maxUnchecked);
    if (symbol !== undefined) open.set(symbol, depth - 1);
    adopt(slot, at);
    return { kind: "ref", to: slot.id };
  }

  /** Findings inside a type, at one of its uses. */
  function adopt(
    inside: { findings: readonly Finding[]; taken: readonly Unchecked[] },
    at: string,
  ): void {
    findings.push(...inside.findings.map((finding) => ({ ...finding, at: at + finding.at })));
    taken.push(...inside.taken.map((place) => ({ ...place, path: at + place.path })));
  }

  /** The name of an object type; other types have one only if they contain themselves. */
  function definitionName(type: ts.Type): Slot["name"] {
    const symbol = type.aliasSymbol ?? type.symbol;
    const isAnonymous =
      symbol === undefined ||
      symbol.name.startsWith("__") ||
      // The names `Partial` and `Pick` don't name the type that they are applied to.
      (type.aliasSymbol?.declarations ?? []).some(isPlatformCode) ||
      (forContract && !isExported(symbol));
    const isTold = forContract && !isAnonymous;
    const { doc } = isTold ? commentOf(symbol) : {};
    return {
      text: isAnonymous ? "Type" : symbol.name,
      ...(isTold && lastingName(type, symbol)),
      ...(doc !== undefined && { doc }),
      ofObject:
        !isAnonymous &&
        (type.flags & (TypeFlags.Object | TypeFlags.Intersection)) !== 0 &&
        !isList(type),
    };
  }

  /** A name that doesn't depend on other types: with its type arguments, if all of them have a name. */
  function lastingName(type: ts.Type, symbol: ts.Symbol): LastingName {
    return (
      withArguments(type, symbol.name, moduleOf(symbol)) ?? {
        text: symbol.name,
        qualified: moduleOf(symbol) + symbol.name,
      }
    );
  }

  function argumentName(type: ts.Type): LastingName | undefined {
    if (type.isLiteral() || type.flags & namedPrimitives) {
      const text = checker.typeToString(type).replaceAll(/\W/g, "");
      return { text, qualified: text };
    }
    const symbol = type.aliasSymbol ?? type.symbol;
    if (symbol === undefined || symbol.name.startsWith("__")) return undefined;
    const isPlatform = (symbol.declarations ?? []).some(isPlatformCode);
    if (!isPlatform && !isExported(symbol)) return undefined;
    return withArguments(type, symbol.name, isPlatform ? "" : moduleOf(symbol));
  }

  function withArguments(type: ts.Type, name: string, module: string): LastingName | undefined {
    const names = typeArgumentsOf(type).map(argumentName);
    const known = names.filter((one) => one !== undefined);
    if (known.length < names.length) return undefined;
    return {
      text: [name, ...known.map(({ text }) => text)].join("_"),
      qualified: [module + name, ...known.map(({ qualified }) => qualified)].join("_"),
    };
  }

  function typeArgumentsOf(type: ts.Type): readonly ts.Type[] {
    if (type.aliasSymbol !== undefined) return type.aliasTypeArguments ?? [];
    const { target } = type as ts.TypeReference;
    // The last one may be the type of `this`.
    return target === undefined
      ? []
      : checker
          .getTypeArguments(type as ts.TypeReference)
          .slice(0, target.typeParameters?.length ?? 0);
  }

  /** `shop_orders_` for a type of `src/shop/orders.ts`. */
  function moduleOf({ declarations = [] }: ts.Symbol): string {
    const file = declarations[0]?.getSourceFile().fileName ?? "";
    const path = relative(options.root, file)
      .split(sep)
      .join("/")
      .replace(/^src\//, "");
    return (
      path
        .replace(/\.\w+$/, "")
        .replaceAll(/\W+/g, "_")
        .replace(/^_/, "") + "_"
    );
  }

  function isList(type: ts.Type): boolean {
    return checker.isArrayType(type) || checker.isTupleType(type);
  }

  function readParts(type: ts.Type): Type {
    if (type.isUnion()) return readUnion(type);
    if (type.isIntersection()) return readIntersection(type);
    if (checker.isArrayType(type)) {
      const [items] = checker.getTypeArguments(type as ts.TypeReference);
      return { kind: "array", items: read(items!, "[]") };
    }
    if (checker.isTupleType(type)) return readTuple(type as ts.TupleTypeReference);
    const missing = unresolvedBehind(type.symbol);
    if (missing !== undefined) return refuseName(missing, "");
    if (isClass(type)) return readInstance(type, "");
    const base = baseArray(type);
    if (base !== undefined) return { kind: "array", items: read(base, "[]") };
    return readObject(type);
  }

  function readUnion(type: ts.UnionType): Type {
    const union = unionOf(readArms(type, ""));
    const tries = union.kind === "union" ? triesOf(union.arms.map(resolved)) : 0;
    return tries > maxTries
      ? refuse(
          "",
          `a union of ${tries} types that only trying tells apart can't be checked: at most ${maxTries}`,
          "Give each a member with a literal of its own, such as `kind`",
        )
      : union;
  }

  function readTuple(type: ts.TupleTypeReference): Type {
    const items = checker.getTypeArguments(type);
    const flags = type.target.elementFlags;
    const at = flags.findIndex((flag) => flag & ts.ElementFlags.Variable);
    const first = items
      .slice(0, at < 0 ? items.length : at)
      .map((item, index) =>
        member(item, `[${index}]`, (flags[index]! & ts.ElementFlags.Optional) !== 0),
      );
    if (at < 0) return { kind: "tuple", first };
    const last = items.slice(at + 1).map((item) => read(item, "[]"));
    // `...T` of a type parameter stands for the items of its constraint.
    const whole = (flags[at]! & ts.ElementFlags.Variadic) !== 0;
    const rest = whole
      ? (checker.getIndexTypeOfType(
          checker.getBaseConstraintOfType(items[at]!) ?? items[at]!,
          ts.IndexKind.Number,
        ) ?? items[at]!)
      : items[at]!;
    return { kind: "tuple", first, rest: read(rest, "[]"), ...(last.length > 0 && { last }) };
  }

  function readIntersection(type: ts.IntersectionType): Type {
    const constraints: Constraint[] = [];
    const firm: ts.Type[] = [];
    let objects = 0;
    for (const part of type.types) {
      const constraint = constraintOf(part);
      if (constraint === "unread")
        return refuse(
          "",
          `the argument of a constraint has to be a literal: '${shown(part)}'`,
          "Write the number or text itself",
        );
      if (constraint !== undefined) constraints.push(constraint);
      else if (isFirm(part)) firm.push(part);
      else if (!(part.flags & TypeFlags.NonPrimitive)) objects++;
    }
    if (firm.length > 1)
      return refuse(
        "",
        `what has several types at once can't be checked: '${shown(type)}'`,
        "Take one of them",
      );
    // The rest beside a primitive or a built-in is a brand: no value that arrives can have it.
    const [base] = firm;
    const value =
      base !== undefined
        ? read(base, "")
        : objects === 0
          ? ({ kind: "nonprimitive" } as const)
          : readObject(type);
    return constrained(value, constraints);
  }

  /** Types that can't be merged with other members. */
  function isFirm(part: ts.Type): boolean {
    return (
      !(part.flags & (TypeFlags.Object | TypeFlags.NonPrimitive)) ||
      isList(part) ||
      isClass(part) ||
      isFunction(part) ||
      (isOfPlatform(part) && platformKinds.has(part.symbol.name))
    );
  }

  function constrained(value: Type, constraints: readonly Constraint[]): Type {
    let result = value;
    for (const constraint of constraints) {
      // The type of a slot may be used without this constraint elsewhere.
      const next = constrain(resolved(result), constraint);
      if (typeof next === "string")
        return refuse("", next, "Remove the constraint, or constrain what it is for");
      result = next;
    }
    if (result.kind === "string" && result.pattern !== undefined) {
      const problem =
        (result.maxLength ?? Infinity) > maxMatched
          ? `a Pattern needs a MaxLength of at most ${maxMatched}`
          : (syntaxProblem(result.pattern) ?? options.judgePattern(result.pattern));
      if (problem !== undefined)
        return refuse("", problem, "Write a pattern that matches in linear time, and say a length");
    }
    return result;
  }

  function resolved(type: Type): Type {
    return type.kind === "ref" ? (slots[Number(type.to)]?.type ?? type) : type;
  }

  /**
   * A type of `seamline/types`. Its member identifies it, since several copies of the package may declare it.
   */
  function constraintOf(part: ts.Type): Constraint | "unread" | undefined {
    const name = part.symbol?.name as Constraint["name"] | undefined;
    if (name === undefined || !constraintNames.has(name)) return undefined;
    const key = `~${name[0]!.toLowerCase()}${name.slice(1)}`;
    if (checker.getPropertyOfType(part, key) === undefined) return undefined;
    if (name === "Int") return { name };
    const [argument] = checker.getTypeArguments(part as ts.TypeReference);
    const value = argument && literalOf(argument);
    return typeof value === "number" || typeof value === "string" ? { name, value } : "unread";
  }

  function isFunction(type: ts.Type): boolean {
    return (
      checker.getSignaturesOfType(type, ts.SignatureKind.Call).length > 0 ||
      checker.getSignaturesOfType(type, ts.SignatureKind.Construct).length > 0
    );
  }

  function isClass(type: ts.Type): boolean {
    return (
      type.symbol !== undefined &&
      (type.symbol.flags & SymbolFlags.Class) !== 0 &&
      ((type as ts.ObjectType).objectFlags &
        (ObjectFlags.ClassOrInterface | ObjectFlags.Reference)) !==
        0
    );
  }

  /** Whether only the language, the browser or the runtime declares it. */
  function isOfPlatform(type: ts.Type): boolean {
    const declarations = type.symbol?.declarations ?? [];
    const isNamed =
      ((type as ts.ObjectType).objectFlags &
        (ObjectFlags.ClassOrInterface | ObjectFlags.Reference)) !==
      0;
    return isNamed && declarations.some(isPlatformCode);
  }

  function isPlatformCode(declaration: ts.Declaration): boolean {
    const file = declaration.getSourceFile();
    return program.isSourceFileDefaultLibrary(file) || platformFiles.test(file.fileName);
  }

  /** A type of the platform; `undefined` for any other type, and for its objects of data. */
  function platformType(type: ts.Type, at: string): Type | undefined {
    if (isFunction(type)) return cannotArrive(type, at, "a function");
    if (!isOfPlatform(type) || isList(type)) return undefined;
    const { name } = type.symbol;
    const [first, second] = checker.getTypeArguments(type as ts.TypeReference);
    if (name === "Map" || name === "ReadonlyMap")
      return {
        kind: "map",
        keys: read(first!, `${at}.keys()`),
        values: read(second!, `${at}.values()`),
      };
    if (name === "Set" || name === "ReadonlySet")
      return { kind: "set", items: read(first!, `${at}.values()`) };
    if (name === "Buffer") {
      note(at, "a Buffer arrives as a Uint8Array", "Write `Uint8Array`");
      return { kind: "binary", type: "Uint8Array" };
    }
    if ((binaryTypes as readonly string[]).includes(name))
      return { kind: "binary", type: name as BinaryType };
    const leaf = platformLeaves[name];
    if (leaf !== undefined) return { kind: leaf };
    // A global value of the same name makes it a class.
    const isData =
      !(type.symbol.flags & (SymbolFlags.Value | SymbolFlags.Class)) && name !== "ArrayLike";
    return isData ? undefined : cannotArrive(type, at);
  }

  /** The items of an interface that extends an array. */
  function baseArray(type: ts.Type): ts.Type | undefined {
    const target = (type as ts.TypeReference).target ?? type;
    const bases = target.isClassOrInterface() ? checker.getBaseTypes(target) : [];
    return bases.some((base) => isList(base) || baseArray(base) !== undefined)
      ? checker.getIndexTypeOfType(type, ts.IndexKind.Number)
      : undefined;
  }

  function readInstance(type: ts.Type, at: string): Type {
    const { symbol } = type;
    const key = keyOf(symbol);
    if (key === undefined)
      return foreignInstance(
        at,
        `an instance of '${shown(type)}' can't arrive: no module of the application exports this class`,
      );
    if (!classes.has(key)) {
      classes.set(key, { parameters: [], fields: {} });
      classes.set(key, readClass(type, symbol));
    }
    return { kind: "instance", key };
  }

  /** Reads a class if it extends one that was read before. */
  function readSubclass(target: WantedClass): readonly Finding[] {
    const source = program.getSourceFile(target.file);
    const symbol = source && exportOf(source, target.export);
    if (symbol === undefined || !(symbol.flags & SymbolFlags.Class)) return [];
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    if (!ancestors(type).some((key) => classes.has(key))) return [];
    findings = [];
    open = new Map();
    classes.set(target.key, { parameters: [], fields: {} });
    classes.set(target.key, readClass(type, symbol));
    return firstOf(findings.map((finding) => ({ ...finding, at: finding.at.replace(/^\./, "") })));
  }

  /** Keys of the classes that a class extends. */
  function ancestors(type: ts.Type): string[] {
    const target = (type as ts.TypeReference).target ?? type;
    const bases = target.isClassOrInterface() ? checker.getBaseTypes(target) : [];
    return bases.flatMap((base) => {
      const key = keyOf(base.symbol);
      return [...(key === undefined ? [] : [key]), ...ancestors(base)];
    });
  }

  function keyOf(symbol: ts.Symbol | undefined): string | undefined {
    const declaration = symbol?.declarations?.find((part) => ts.isClassLike(part));
    const file = declaration?.getSourceFile().fileName;
    return file === undefined ? undefined : options.classKey(file, symbol!.name);
  }

  function readClass(type: ts.Type, symbol: ts.Symbol): ClassTypes {
    const [constructor] = checker.getSignaturesOfType(
      checker.getTypeOfSymbol(symbol),
      ts.SignatureKind.Construct,
    );
    const positions = constructor === undefined ? [] : (positionsOf(constructor)[0] ?? []);
    return {
      parameters: positions.map((position) => plainParameter(position)),
      // A field that holds a function counts as a method. A private member travels like any other.
      fields: membersOf(
        type,
        ({ type: memberType, property }) =>
          !isFunction(memberType) && !(forContract && isOnlyRead(property, positions)),
      ),
    };
  }

  /**
   * A getter without a setter is code of the class: it doesn't travel, unless it holds an argument of the
   * constructor.
   */
  function isOnlyRead({ flags, name }: ts.Symbol, positions: readonly Position[]): boolean {
    const isGetter = (flags & SymbolFlags.GetAccessor) !== 0;
    const isSetter = (flags & SymbolFlags.SetAccessor) !== 0;
    return isGetter && !isSetter && !positions.some((position) => position.name === name);
  }

  function readObject(type: ts.Type): Type {
    const members = membersOf(type);
    const index = checker
      .getIndexInfosOfType(type)
      .filter(({ keyType }) => !(keyType.flags & TypeFlags.ESSymbolLike))
      .map(({ keyType, type: values }): IndexRule => ({
        keys: read(keyType, "[]"),
        values: read(values, "[]"),
      }));
    if (Object.keys(members).length > 0 || index.length > 0)
      return { kind: "object", members, ...(index.length > 0 && { index }) };
    const all = checker.getPropertiesOfType(type);
    return all.some(isMethod)
      ? foreignInstance("", `what has only methods can't arrive: '${shown(type)}'`)
      : { kind: "defined" };
  }

  function membersOf(
    type: ts.Type,
    isMember: (found: { readonly type: ts.Type; readonly property: ts.Symbol }) => boolean = ({
      property,
    }) => !isHidden(property),
  ): Record<string, Member> {
    const members = checker.getPropertiesOfType(type).flatMap((property): [string, Member][] => {
      const name = ts.unescapeLeadingUnderscores(property.escapedName);
      // The compiler writes symbols and private names so.
      if (/^__[@#]/.test(name) || isMethod(property)) return [];
      const memberType = checker.getTypeOfSymbol(property);
      if (!isMember({ type: memberType, property })) return [];
      const at = pathPart(name);
      if (forbiddenMembers.has(name)) {
        refuse(at, `a member can't be called '${name}': no data may have such a key`, "Rename it");
        return [];
      }
      const optional = (property.flags & SymbolFlags.Optional) !== 0;
      const declaration = property.valueDeclaration;
      if (declaration !== undefined) noteTags(declaration, at);
      const node =
        declaration !== undefined && ts.isPropertySignature(declaration)
          ? declaration.type
          : undefined;
      const doc = forContract ? docOf(property) : undefined;
      const found = member(memberType, at, optional, node);
      return [[name, doc === undefined ? found : { ...found, doc }]];
    });
    return Object.fromEntries(members);
  }

  /** The comment of a member, if its type is exported. */
  function docOf(property: ts.Symbol): string | undefined {
    if (!hasComment(property)) return undefined;
    const owner =
      property.valueDeclaration &&
      ts.findAncestor(
        property.valueDeclaration,
        (node): node is ts.InterfaceDeclaration | ts.TypeAliasDeclaration | ts.ClassDeclaration =>
          ts.isInterfaceDeclaration(node) ||
          ts.isTypeAliasDeclaration(node) ||
          ts.isClassDeclaration(node),
      );
    const symbol = owner?.name && checker.getSymbolAtLocation(owner.name);
    return symbol !== undefined && isExported(symbol) ? commentOf(property).doc : undefined;
  }

  /** JSDoc tags that look like JSON Schema keywords, so an author may expect them to be checked. */
  function noteTags(declaration: ts.Declaration, at: string): void {
    for (const { tagName } of ts.getJSDocTags(declaration))
      if (constraintTags.has(tagName.text))
        note(
          at,
          `the tag @${tagName.text} isn't read`,
          "Write the constraint as a type of `seamline/types`",
        );
  }

  /** A method, also if `Partial` or `Pick` has made a property of it. */
  function isMethod({ flags, declarations = [] }: ts.Symbol): boolean {
    return (
      (flags & SymbolFlags.Method) !== 0 ||
      (declarations.length > 0 &&
        declarations.every((one) => ts.isMethodSignature(one) || ts.isMethodDeclaration(one)))
    );
  }

  function isHidden({ declarations = [] }: ts.Symbol): boolean {
    return declarations.some(
      (one) =>
        (ts.getCombinedModifierFlags(one) &
          (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) !==
        0,
    );
  }
}

/** Types from packages that declare what the runtime has, besides the compiler's own libraries. */
const platformFiles =
  /\/node_modules\/(?:@types\/(?:node|bun|deno|web)|undici-types|bun-types|@cloudflare\/workers-types)\//;

const platformLeaves: Readonly<
  Record<string, "date" | "url" | "regexp" | "file" | "blob" | "form" | "defined">
> = {
  Date: "date",
  URL: "url",
  RegExp: "regexp",
  File: "file",
  Blob: "blob",
  FormData: "form",
  Object: "defined",
};

const platformKinds: ReadonlySet<string> = new Set([
  ...Object.keys(platformLeaves),
  ...binaryTypes,
  "Buffer",
  "Map",
  "ReadonlyMap",
  "ReadonlySet",
  "Set",
]);

const forbiddenMembers: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

const constraintTags: ReadonlySet<string> = new Set([
  "exclusiveMaximum",
  "exclusiveMinimum",
  "format",
  "maximum",
  "maxItems",
  "maxLength",
  "minimum",
  "minItems",
  "minLength",
  "multipleOf",
  "pattern",
  "uniqueItems",
]);

/** The longest text that a `Pattern` may be matched against. */
const maxMatched = 4_096;

function syntaxProblem(pattern: string): string | undefined {
  try {
    void new RegExp(pattern, "u");
    return undefined;
  } catch {
    // The engine's own message differs by version.
    return `'${pattern}' is not a regular expression`;
  }
}

/** Types that unfold without end have long paths. */
function cut(path: string): string {
  return path.length > 80 ? `${path.slice(0, 80)}…` : path;
}

/** Each kind has a share, so that notes never take the place of a problem. */
function firstOf(findings: readonly Finding[]): Finding[] {
  const all = distinct(findings);
  return [
    ...all.filter(({ note }) => !note).slice(0, maxFindings),
    ...all.filter(({ note }) => note).slice(0, maxFindings),
  ];
}

function distinct<T extends object>(all: readonly T[]): T[] {
  return [...new Map(all.map((item) => [JSON.stringify(item), item])).values()];
}
