// Syntax that only the compiler sees. A name in it is not used when the program runs.

import { child, list, type Node } from "./tree.ts";

/** Whether a node disappears when types are stripped. */
export function isTypeOnly(node: Node): boolean {
  if (node["declare"] === true && node.type !== "PropertyDefinition") return true;
  switch (node.type) {
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
    case "TSDeclareFunction":
    case "TSNamespaceExportDeclaration":
    case "TSEmptyBodyFunctionExpression":
    case "TSAbstractMethodDefinition":
    case "TSAbstractPropertyDefinition":
    case "TSAbstractAccessorProperty":
    case "TSIndexSignature":
      return true;
    case "TSModuleDeclaration":
      return node["global"] === true || declaresOnlyTypes(child(node, "body"));
    case "TSImportEqualsDeclaration":
      return node["importKind"] === "type";
    default:
      return false;
  }
}

// A namespace in which all declarations are types is not a value either.
function declaresOnlyTypes(body: Node | undefined): boolean {
  return (
    body === undefined ||
    list(body, "body").every((statement) =>
      isTypeOnly(child(statement, "declaration") ?? statement),
    )
  );
}
