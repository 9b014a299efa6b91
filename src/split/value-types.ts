// TypeScript annotations by which the text of a query string is converted (decisions §2).

import type { ValueType } from "../manifest.ts";
import { child, list, nameOf, need, type Node, word } from "./tree.ts";

const single = new Map<string, "number" | "boolean" | "bigint" | "Date" | "string">([
  ["TSNumberKeyword", "number"],
  ["TSBooleanKeyword", "boolean"],
  ["TSBigIntKeyword", "bigint"],
  ["TSStringKeyword", "string"],
]);

/** The types that the module itself declares, by name, so that `({ from }: Period)` is understood. */
export class LocalTypes {
  readonly #declared = new Map<string, Node>();

  constructor(program: Node) {
    for (const statement of list(program, "body")) {
      const node = child(statement, "declaration") ?? statement;
      if (node.type !== "TSTypeAliasDeclaration" && node.type !== "TSInterfaceDeclaration")
        continue;
      this.#declared.set(nameOf(need(node, "id")) ?? "", node);
    }
  }

  /** What text is converted to for a parameter with this annotation; `undefined` leaves it text. */
  valueType(annotation: Node | undefined): ValueType | undefined {
    const type = this.#plain(annotation);
    if (type === undefined) return undefined;
    const own = this.#single(type);
    if (own !== undefined) return own === "string" ? undefined : own;
    const element = this.#element(type);
    const of = element === undefined ? undefined : this.#single(this.#plain(element));
    return of === undefined ? undefined : `${of}[]`;
  }

  /** Annotation of a property, and whether it may be absent: `{ from?: Date }`. */
  property(
    annotation: Node | undefined,
    name: string,
  ): { type: Node | undefined; optional: boolean } {
    const type = this.#plain(annotation);
    const members =
      type === undefined
        ? []
        : list(type, "members").concat(list(child(type, "body") ?? type, "body"));
    const member = members.find(
      (one) => one.type === "TSPropertySignature" && nameOf(child(one, "key")) === name,
    );
    if (member === undefined) return { type: undefined, optional: false };
    return { type: child(member, "typeAnnotation"), optional: member["optional"] === true };
  }

  /** Annotation of an element of a tuple or an array. */
  element(
    annotation: Node | undefined,
    index: number,
  ): { type: Node | undefined; optional: boolean } {
    const type = this.#plain(annotation);
    if (type?.type !== "TSTupleType")
      return { type: type === undefined ? undefined : this.#element(type), optional: false };
    const found = list(type, "elementTypes")[index];
    const inner = found?.type === "TSNamedTupleMember" ? need(found, "elementType") : found;
    const optional = found?.["optional"] === true || inner?.type === "TSOptionalType";
    return {
      type: inner?.type === "TSOptionalType" ? need(inner, "typeAnnotation") : inner,
      optional,
    };
  }

  /**
   * The function type or call signature that a type is: written here, or declared in this module without type parameters. A function that can
   * be called in two ways has no one list of parameters.
   */
  signature(type: Node | undefined, depth = 0): Node | undefined {
    if (type === undefined || depth > 20) return undefined;
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
        ).filter((one) => one.type === "TSCallSignatureDeclaration");
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

  #single(type: Node | undefined): "number" | "boolean" | "bigint" | "Date" | "string" | undefined {
    if (type === undefined) return undefined;
    if (type.type === "TSTypeReference" && nameOf(child(type, "typeName")) === "Date")
      return "Date";
    return single.get(type.type);
  }

  #element(type: Node): Node | undefined {
    if (type.type === "TSArrayType") return need(type, "elementType");
    const name = type.type === "TSTypeReference" ? nameOf(child(type, "typeName")) : undefined;
    if (name !== "Array" && name !== "ReadonlyArray") return undefined;
    return list(child(type, "typeArguments") ?? type, "params")[0];
  }

  /** Without parentheses, `readonly`, `| undefined` and `| null`, and with names of this module looked up. */
  #plain(type: Node | undefined, depth = 0): Node | undefined {
    if (type === undefined || depth > 20) return undefined;
    switch (type.type) {
      case "TSTypeAnnotation":
      case "TSParenthesizedType":
        return this.#plain(child(type, "typeAnnotation"), depth + 1);
      case "TSTypeOperator":
        return word(type, "operator") === "readonly"
          ? this.#plain(child(type, "typeAnnotation"), depth + 1)
          : undefined;
      case "TSUnionType": {
        const [first, ...others] = list(type, "types").filter(
          (one) => one.type !== "TSUndefinedKeyword" && one.type !== "TSNullKeyword",
        );
        return others.length === 0 ? this.#plain(first, depth + 1) : undefined;
      }
      case "TSTypeReference": {
        const declared = this.#declared.get(nameOf(child(type, "typeName")) ?? "");
        if (declared === undefined) return type;
        return declared.type === "TSInterfaceDeclaration"
          ? declared
          : this.#plain(child(declared, "typeAnnotation"), depth + 1);
      }
      default:
        return type;
    }
  }
}
