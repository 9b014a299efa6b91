// The documents as text for programs: llms.txt and llms-full.txt of the site.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

import { llmsFiles } from "../../docs/.vitepress/llms.ts";

const files = llmsFiles();
const list = files["llms.txt"]!;
const links = [...list.matchAll(/^- \[([^\]]+)\]\(\/([^)#]+)(?:#[^)]*)?\): (.+)$/gm)];

it("llms.txt has a title, a summary, and sections of links with a line about each", () => {
  expect(list).toMatch(/^# Seamline\n\n> Write one TypeScript application .*\n\n## Guide\n\n- \[/);
  const others = list
    .split("\n")
    .filter((line) => !/^(?:|#{1,2} .+|> .+|- \[.+\]\(\/.+\): .+)$/.test(line));
  expect(others).toEqual([]);
  for (const heading of ["Guide", "Calls", "Pages", "Services", "Tools"])
    expect(list).toContain(`\n## ${heading}\n\n- [`);
});

it("llms.txt leads to each page of the guide, and to nothing that isn't there", () => {
  const pages = readdirSync(join(import.meta.dirname, "../../docs/guide")).filter((name) =>
    name.endsWith(".md"),
  );
  const linked = links.map(([, , page]) => page);
  expect(linked).toEqual(expect.arrayContaining(pages.map((name) => `guide/${name}`)));
  expect(linked.filter((page) => files[page!] === undefined)).toEqual([]);
  expect(list.match(/^- /gm)).toHaveLength(links.length);
});

it("llms-full.txt has the text of each page of guide and reference once", () => {
  const full = files["llms-full.txt"]!;
  for (const [page, text] of Object.entries(files))
    if (page.startsWith("guide/") || page.startsWith("reference/")) {
      expect(full.split(`<!-- ${page} -->\n`)).toHaveLength(2);
      expect(full).toContain(text);
    }
  expect(full).toContain("## By QUERY");
});
