// Links from a document into the repository (sources, tests, the README) lead nowhere on a site: their text stays, the link goes.
// Those to pages of rooms lead to their copies.

import { dirname, join } from "node:path/posix";
import type { MarkdownRenderer } from "vitepress";
import { roomPage } from "./rooms.ts";

/** Keeps links between documents, to anchors and to other sites. */
export function outsideLinks(md: MarkdownRenderer): void {
  md.core.ruler.push("outside-links", (state) => {
    const { relativePath: page = "" } = state.env as { relativePath?: string };
    for (const token of state.tokens) {
      let dropped = 0;
      token.children = (token.children ?? []).filter((child) => {
        if (child.type === "link_open") {
          const href = child.attrGet("href") ?? "";
          const copy = copyOf(page, href);
          if (copy !== undefined) child.attrSet("href", copy);
          else if (leavesDocs(page, href)) {
            dropped++;
            return false;
          }
        }
        // Links don't nest: the next end belongs to the link that was dropped.
        if (child.type !== "link_close" || dropped === 0) return true;
        dropped--;
        return false;
      });
    }
  });
}

/** The address of a room's page, if the link leads to one. */
function copyOf(page: string, href: string): string | undefined {
  const [path = "", anchor] = href.split("#");
  const file = join("docs", dirname(page), path);
  const copy = roomPage(file);
  return copy === undefined ? undefined : `/${copy}${anchor === undefined ? "" : `#${anchor}`}`;
}

function leavesDocs(page: string, href: string): boolean {
  return !/^(?:[a-z]+:|[/#])/i.test(href) && join(dirname(page), href).startsWith("..");
}
