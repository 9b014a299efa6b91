// The order of the pages: read from docs/README.md, so that there is one list.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DefaultTheme } from "vitepress";
import { entries } from "../../scripts/docs-api.mjs";
import { roomPage, rooms } from "./rooms.ts";

const docs = join(import.meta.dirname, "..");
const list = readFileSync(join(docs, "README.md"), "utf8");

type Item = DefaultTheme.SidebarItem;

/** Pages of the package's entries are made when the site is: the list can't link to them. */
const api: Item[] = [...entries, { name: "Errors", page: "reference/api/errors.md" }]
  .filter(({ page }) => existsSync(join(docs, page)))
  .map(({ name, page }) => ({ text: name, link: addressOf(page) }));

const ofRooms: Item[] = rooms.map((file) => ({
  text: dirname(file),
  link: `/${roomPage(file)}`,
}));

/** Groups whose pages are written when the site is built, by their headings in the list. */
const written: Readonly<Record<string, Item[]>> = { API: api, Rooms: ofRooms };

/** One item for each link to a document in a table. */
const itemsOf = (section: string): Item[] =>
  [...section.matchAll(/^\|[^\n]*?\[([^\]]+)\]\((?!\.\.)([^)#]+\.md)\)/gm)].map(
    ([, text = "", page = ""]) => ({ text, link: addressOf(page) }),
  );

/** A heading's group: its own pages, then the groups of the headings under it. */
function groupOf(section: string, level: string): Item {
  const [own = "", ...parts] = section.split(new RegExp(`^${level}# `, "m"));
  const text = own.slice(0, own.indexOf("\n")).trim();
  const items = written[text] ?? itemsOf(own);
  if (parts.length === 0) return { text, items };
  const groups = parts.map((part) => ({ ...groupOf(part, `${level}#`), collapsed: true }));
  return { text, items: [...items, ...groups] };
}

export const sidebar: Item[] = list
  .split(/^## /m)
  .slice(1)
  .map((section) => groupOf(section, "##"));

/** Addresses that the site has to have: scripts/docs.mjs looks for each. */
export const pagesOf = (items: readonly Item[] = sidebar): string[] =>
  items.flatMap(({ link, items: inner = [] }) => [
    ...(link === undefined ? [] : [link]),
    ...pagesOf(inner),
  ]);

function addressOf(page: string): string {
  return `/${page.replace(/\.md$/, "").replace(/(^|\/)README$/, "$1")}`;
}
