// The first cell of a table's head is empty where the first column needs no name. A header cell without text says nothing to screen
// readers, so it becomes a plain cell.

import type { MarkdownRenderer } from "vitepress";

export function emptyHeads(md: MarkdownRenderer): void {
  md.core.ruler.push("empty-heads", ({ tokens }) => {
    for (const [at, token] of tokens.entries()) {
      const [content, end] = [tokens[at + 1], tokens[at + 2]];
      if (token.type === "th_open" && content?.content === "" && end?.type === "th_close")
        token.tag = end.tag = "td";
    }
  });
}
