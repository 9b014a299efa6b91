// The order of the pages: read from docs/README.md, so that there is one list.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DefaultTheme } from "vitepress";

const list = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");

/** One group for each heading of the list, one item for each link to a document in its table. */
export const sidebar: DefaultTheme.SidebarItem[] = list
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    text: section.slice(0, section.indexOf("\n")).trim(),
    items: [...section.matchAll(/^\|[^\n]*?\[([^\]]+)\]\((?!\.\.)([^)#]+)\.md\)/gm)].map(([, text, page]) => ({
      text: text ?? "",
      link: `/${(page ?? "").replace(/(^|\/)README$/, "$1")}`,
    })),
  }));
