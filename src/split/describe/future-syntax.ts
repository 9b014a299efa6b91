// Decorators and `accessor` fields, which no engine runs yet: a build has to see if any are left.

import { type Comment, list, type Node, walk } from "../read/tree.ts";
import { isTypeOnly } from "../read/type-only.ts";

/**
 * Matches texts that may hold such syntax. It often does so in comments only, but most texts
 * needn't be parsed to know.
 */
export const futureSyntaxHint: RegExp = /@[\w$(]|\baccessor\b/;

const hints = new RegExp(futureSyntaxHint, "g");

/** The decorators and `accessor` fields of a module, in source order. */
export function futureSyntax(
  program: Node,
  source: string,
  comments: readonly Comment[],
): readonly Node[] {
  // Most modules have these characters in comments, if at all, and needn't be walked.
  const inComment = (offset: number): boolean =>
    comments.some(({ start, end }) => start <= offset && offset < end);
  if (![...source.matchAll(hints)].some((match) => !inComment(match.index))) return [];
  const nodes: Node[] = [];
  walk(program, (node) => {
    if (isTypeOnly(node)) return false;
    nodes.push(...list(node, "decorators"));
    if (node.type === "AccessorProperty") nodes.push(node);
    return true;
  });
  return nodes.sort((a, b) => a.start - b.start);
}
