// Decorators and `accessor` fields: syntax that no engine runs yet. Somebody has to compile it, and a build has to notice when nobody did.

import type { Comment, Node } from "./tree.ts";
import { list, walk } from "./tree.ts";
import { isTypeOnly } from "./scopes.ts";

const hint = /@[\w$(]|\baccessor\b/g;

/** Whether a text has the characters of such syntax, if only in a comment: most have not, and needn't be parsed to know it. */
export function mayHoldFutureSyntax(source: string): boolean {
  return source.search(hint) >= 0;
}

/** The decorators and `accessor` fields of a module, in source order. */
export function futureSyntax(
  program: Node,
  source: string,
  comments: readonly Comment[],
): readonly Node[] {
  // Most modules have these characters in comments, if anywhere: they needn't be walked.
  const inComment = (at: number): boolean =>
    comments.some((one) => one.start <= at && at < one.end);
  if (![...source.matchAll(hint)].some((match) => !inComment(match.index))) return [];
  const found: Node[] = [];
  walk(program, (node) => {
    if (isTypeOnly(node)) return false;
    found.push(...list(node, "decorators"));
    if (node.type === "AccessorProperty") found.push(node);
    return true;
  });
  return found.sort((one, other) => one.start - other.start);
}
