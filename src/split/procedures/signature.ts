// The head of a function or function type as its author wrote it, for people who look it up.

import { child, type Comment, list, need, type Node, word } from "../read/tree.ts";

interface CommentedText {
  readonly source: string;
  readonly comments: readonly Comment[];
}

/** `(sku: string, quantity: number = 1): Promise<Money>`, with types and defaults, on one line. */
export function signatureOf(fn: Node, text: CommentedText): string {
  const parameters = list(fn, "params").filter(
    (parameter) => !(parameter.type === "Identifier" && word(parameter, "name") === "this"),
  );
  const returnType = child(fn, "returnType");
  // The annotation begins with a colon in a function, and with an arrow in a function type.
  const result =
    returnType === undefined ? "" : `: ${textOf(need(returnType, "typeAnnotation"), text)}`;
  return `(${parameters.map((parameter) => textOf(parameter, text)).join(", ")})${result}`;
}

/** The text of a node without comments and line breaks. */
function textOf({ start, end }: Node, { source, comments }: CommentedText): string {
  let text = "";
  let from = start;
  for (const comment of comments) {
    if (comment.start < start || comment.end > end) continue;
    text += `${source.slice(from, comment.start)} `;
    from = comment.end;
  }
  return (text + source.slice(from, end)).replace(/\s+/g, " ").trim();
}
