// The head of a function, or of a function type, as its author wrote it, for people who look for what to call and with what.

import type { Comment, Node } from "./tree.ts";
import { child, list, need, word } from "./tree.ts";

interface Text {
  readonly source: string;
  readonly comments: readonly Comment[];
}

/** `(sku: string, quantity: number = 1): Promise<Money>`: types and defaults as they stand in the source, on one line. */
export function signatureOf(fn: Node, text: Text): string {
  const parameters = list(fn, "params").filter(
    (one) => !(one.type === "Identifier" && word(one, "name") === "this"),
  );
  const returnType = child(fn, "returnType");
  // The colon of a function is the arrow of a function type.
  const result =
    returnType === undefined ? "" : `: ${textOf(need(returnType, "typeAnnotation"), text)}`;
  return `(${parameters.map((one) => textOf(one, text)).join(", ")})${result}`;
}

/** The text of a node without comments, its white space as one blank. */
function textOf({ start, end }: Node, { source, comments }: Text): string {
  let found = "";
  let at = start;
  for (const comment of comments.filter((one) => one.start >= start && one.end <= end)) {
    found += `${source.slice(at, comment.start)} `;
    at = comment.end;
  }
  return (found + source.slice(at, end)).replace(/\s+/g, " ").trim();
}
