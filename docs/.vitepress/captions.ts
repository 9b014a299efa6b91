// Sets the line that names a block's file as a caption of the block: `src/shop/quote.ts` directly above its fence.

import type { MarkdownRenderer } from "vitepress";

/** Gives the class `file` to a paragraph that is one piece of code and ends where a fence begins. */
export function captions(md: MarkdownRenderer): void {
  md.core.ruler.push("captions", ({ tokens }) => {
    for (const [at, fence] of tokens.entries()) {
      const [open, content] = [tokens[at - 3], tokens[at - 2]];
      const touches = fence.type === "fence" && open?.map?.[1] === fence.map?.[0];
      const words = content?.children ?? [];
      if (touches && words.length === 1 && words[0]?.type === "code_inline")
        open?.attrJoin("class", "file");
    }
  });
}
