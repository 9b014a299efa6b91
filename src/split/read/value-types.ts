// Type annotations, as far as one file tells them: the type that text in a query string is converted to, and
// the function type that a name stands for.

import type { ValueType } from "../../base/manifest.ts";
import { importedName, specifierOf } from "./node-names.ts";
import { child, list, nameOf, need, type Node, word } from "./tree.ts";

type SingleType = "number" | "boolean" | "bigint" | "Date" | "string";

const keywordTypes = new Map<string, SingleType>([
  ["TSNumberKeyword", "number"],
  ["TSBooleanKeyword", "boolean"],
  ["TSBigIntKeyword", "bigint"],
  ["TSStringKeyword", "string"],
]);

/** The type of a property or an element; `undefined` if the text doesn't tell. */
export interface MemberType {
  readonly type: Node | undefined;
  readonly optional: boolean;
}

// Aliases can form a circle.
const maxDepth = 20;

/** A type that another module exports. */
export interface ImportedType {
  readonly specifier: string;
  readonly name: string;
}

const declarations = new Set([
  "TSTypeAliasDeclaration",
  "TSInterfaceDeclaration",
  "TSEnumDeclaration",
]);

/** The types that a module declares itself, by name. They make `({ from }: Period)` readable. */
export class LocalTypes {
  readonly #declared = new Map<string, Node>();
  readonly #imported = new Map<string, ImportedType>();

  constructor(program: Node) {
    for (const statement of list(program, "body")) {
      if (statement.type === "ImportDeclaration") {
        const specifier = specifierOf(statement);
        for (const each of list(statement, "specifiers"))
          this.#imported.set(nameOf(child(each, "local")) ?? "", {
            specifier,
            name: importedName(each),
          });
      }
      const node = child(statement, "declaration") ?? statement;
      if (declarations.has(node.type)) this.#declared.set(nameOf(need(node, "id")) ?? "", node);
    }
  }

  /** A type that the module declares, by its name. */
  declared(name: string): Node | undefined {
    const found = this.#declared.get(name);
    return found?.type === "TSTypeAliasDeclaration" ? need(found, "typeAnnotation") : found;
  }

  /** The type that the module imports under a name. */
  importedAs(name: string): ImportedType | undefined {
    return this.#imported.get(name);
  }

  /** The type that text for such a parameter is converted to; `undefined` if it stays text. */
  valueType(annotation: Node | undefined): ValueType | undefined {
    const type = this.#resolve(annotation);
    if (type === undefined) return undefined;
    const single = singleType(type);
    if (single !== undefined) return single === "string" ? undefined : single;
    const element = elementType(type);
    const resolved = element === undefined ? undefined : this.#resolve(element);
    const of = singleType(resolved) ?? (isFile(resolved) ? "File" : undefined);
    return of === undefined ? undefined : `${of}[]`;
  }

  /** Whether the module itself says which type an annotation means. */
  isKnown(annotation: Node | undefined): boolean {
    return annotation !== undefined && this.#resolve(annotation)?.type !== "TSTypeReference";
  }

  /**
   * The members of a union, with names of the module looked up, each once; a single type has itself.
   */
  members(type: Node | undefined, seen: Set<string> = new Set()): Node[] {
    if (type === undefined) return [];
    switch (type.type) {
      case "TSTypeAnnotation":
      case "TSParenthesizedType":
        return this.members(child(type, "typeAnnotation"), seen);
      case "TSTypeOperator":
        return word(type, "operator") === "readonly"
          ? this.members(child(type, "typeAnnotation"), seen)
          : [type];
      case "TSUnionType":
        return list(type, "types").flatMap((member) => this.members(member, seen));
      case "TSTypeReference": {
        const name = nameOf(child(type, "typeName")) ?? "";
        const declared = this.#declared.get(name);
        if (declared === undefined) return [type];
        if (declared.type !== "TSTypeAliasDeclaration") return [declared];
        if (seen.has(name)) return [];
        return this.members(child(declared, "typeAnnotation"), seen.add(name));
      }
      default:
        return [type];
    }
  }

  /** The type of a property: of `from` in `{ from?: Date }`. */
  property(annotation: Node | undefined, name: string): MemberType {
    const type = this.#resolve(annotation);
    const members =
      type === undefined
        ? []
        : list(type, "members").concat(list(child(type, "body") ?? type, "body"));
    const member = members.find(
      (node) => node.type === "TSPropertySignature" && nameOf(child(node, "key")) === name,
    );
    if (member === undefined) return { type: undefined, optional: false };
    return { type: child(member, "typeAnnotation"), optional: member["optional"] === true };
  }

  /** The type of an element of a tuple or an array. */
  element(annotation: Node | undefined, index: number): MemberType {
    const type = this.#resolve(annotation);
    if (type?.type !== "TSTupleType")
      return { type: type === undefined ? undefined : elementType(type), optional: false };
    const member = list(type, "elementTypes")[index];
    const inner = member?.type === "TSNamedTupleMember" ? need(member, "elementType") : member;
    const optional = member?.["optional"] === true || inner?.type === "TSOptionalType";
    return {
      type: inner?.type === "TSOptionalType" ? need(inner, "typeAnnotation") : inner,
      optional,
    };
  }

  /**
   * The function type or call signature that a type stands for, written out or declared in this
   * module without type parameters. `undefined` for overloads, as these have no single list of
   * parameters.
   */
  signature(type: Node | undefined, depth = 0): Node | undefined {
    if (type === undefined || depth > maxDepth) return undefined;
    switch (type.type) {
      case "TSFunctionType":
        return type;
      case "TSParenthesizedType":
      case "TSTypeAnnotation":
        return this.signature(child(type, "typeAnnotation"), depth + 1);
      case "TSTypeLiteral":
      case "TSInterfaceDeclaration": {
        const inherits = list(type, "extends").length > 0;
        const [first, ...others] = list(
          child(type, "body") ?? type,
          type.type === "TSTypeLiteral" ? "members" : "body",
        ).filter((member) => member.type === "TSCallSignatureDeclaration");
        return inherits || others.length > 0 ? undefined : first;
      }
      case "TSTypeReference": {
        const declared = this.#declared.get(nameOf(child(type, "typeName")) ?? "");
        if (declared === undefined || child(declared, "typeParameters") !== undefined)
          return undefined;
        return this.signature(
          declared.type === "TSInterfaceDeclaration" ? declared : child(declared, "typeAnnotation"),
          depth + 1,
        );
      }
      default:
        return undefined;
    }
  }

  /**
   * Removes parentheses, `readonly`, `| undefined` and `| null`, and looks up names of the module.
   */
  #resolve(type: Node | undefined, depth = 0): Node | undefined {
    if (type === undefined || depth > maxDepth) return undefined;
    switch (type.type) {
      case "TSTypeAnnotation":
      case "TSParenthesizedType":
        return this.#resolve(child(type, "typeAnnotation"), depth + 1);
      case "TSTypeOperator":
        return word(type, "operator") === "readonly"
          ? this.#resolve(child(type, "typeAnnotation"), depth + 1)
          : undefined;
      case "TSUnionType": {
        const [first, ...others] = list(type, "types").filter(
          (member) => member.type !== "TSUndefinedKeyword" && member.type !== "TSNullKeyword",
        );
        return others.length === 0 ? this.#resolve(first, depth + 1) : undefined;
      }
      case "TSTypeReference": {
        const declared = this.#declared.get(nameOf(child(type, "typeName")) ?? "");
        if (declared === undefined) return type;
        return declared.type !== "TSTypeAliasDeclaration"
          ? declared
          : this.#resolve(child(declared, "typeAnnotation"), depth + 1);
      }
      default:
        return type;
    }
  }
}

function singleType(type: Node | undefined): SingleType | undefined {
  if (type === undefined) return undefined;
  if (type.type === "TSTypeReference" && nameOf(child(type, "typeName")) === "Date") return "Date";
  return keywordTypes.get(type.type);
}

/** Files arrive as files by themselves; only a list of them has to be known. */
function isFile(type: Node | undefined): boolean {
  const name = type?.type === "TSTypeReference" ? nameOf(child(type, "typeName")) : undefined;
  return name === "File" || name === "Blob";
}

function elementType(type: Node): Node | undefined {
  if (type.type === "TSArrayType") return need(type, "elementType");
  const name = type.type === "TSTypeReference" ? nameOf(child(type, "typeName")) : undefined;
  if (name !== "Array" && name !== "ReadonlyArray") return undefined;
  return list(child(type, "typeArguments") ?? type, "params")[0];
}
