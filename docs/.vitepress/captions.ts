// Says above a block of code what it is: the file that it stands in, as the guide's fences name it.

import type { MarkdownRenderer } from "vitepress";

/** ```` ```ts src/shop/quote.ts ````: the words behind the language, if they are a path. */
export function captions(md: MarkdownRenderer): void {
  const { fence } = md.renderer.rules;
  if (fence === undefined)
    throw new Error("VitePress renders fences no more: see where its highlighter went");
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index];
    const [, ...words] = token?.info.split(/\s+/) ?? [];
    const path = words.find((word) => /[./]/.test(word));
    const code = fence(tokens, index, options, env, self);
    return path === undefined ? code : `<p class="file">${md.utils.escapeHtml(path)}</p>${code}`;
  };
}
