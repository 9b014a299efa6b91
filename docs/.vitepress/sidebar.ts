// The order of the pages: read from docs/README.md, so that there is one list.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { DefaultTheme } from "vitepress";
import { entries } from "../../scripts/docs-api.mjs";

const docs = join(import.meta.dirname, "..");
const list = readFileSync(join(docs, "README.md"), "utf8");

interface Group extends DefaultTheme.SidebarItem {
  readonly text: string;
  readonly items: { text: string; link: string }[];
}

/** Pages of the package's entries are made when the site is: the list can't link to them. */
const api: Group = {
  text: "API",
  items: [...entries, { name: "Errors", page: "reference/api/errors.md" }]
    .filter(({ page }) => existsSync(join(docs, page)))
    .map(({ name, page }) => ({ text: name, link: addressOf(page) })),
};

/** One group for each heading of the list, one item for each link to a document in its table. */
export const sidebar: Group[] = list
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    text: section.slice(0, section.indexOf("\n")).trim(),
    items: [...section.matchAll(/^\|[^\n]*?\[([^\]]+)\]\((?!\.\.)([^)#]+\.md)\)/gm)].map(
      ([, text = "", page = ""]) => ({
        text,
        link: addressOf(page),
      }),
    ),
  }))
  .flatMap((group) => (group.text === "Reference" ? [group, api] : [group]));

/** Addresses that the site has to have: scripts/docs.mjs looks for each. */
export const pagesOf = (): string[] =>
  sidebar.flatMap(({ items }) => items.map(({ link }) => link));

function addressOf(page: string): string {
  return `/${page.replace(/\.md$/, "").replace(/(^|\/)README$/, "$1")}`;
}
