// The documents as text, for programs that read them: llms.txt (https://llmstxt.org) lists the pages, llms-full.txt has
// all of them. Made of the pages themselves, so they say the same.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const docs = join(import.meta.dirname, "..");
const textOf = (page: string): string => readFileSync(join(docs, page), "utf8");

/** A row of a table in docs/README.md that leads to a page of the site. */
const row =
  /^\| \[([^\]]+)\]\(((?:guide|reference)\/[^)#]+\.md|[\w-]+\.md)(#[^)]*)?\) \| (.*) \|$/gm;

const summary =
  "Write one TypeScript application and choose where each function runs: in the browser or on any server. Moving it later changes one line of JSON and no code.";

/** Files of the site by their paths: both lists, and the pages as Markdown, to which the first one leads. */
export function llmsFiles(): Readonly<Record<string, string>> {
  const files: Record<string, string> = {};
  const sections: string[] = [];
  for (const part of textOf("README.md").split(/^##+ /m).slice(1)) {
    const heading = part.slice(0, part.indexOf("\n")).trim();
    const lines: string[] = [];
    for (const [, title = "", page = "", anchor = "", about = ""] of part.matchAll(row)) {
      lines.push(`- [${title}](/${page}${anchor}): ${withoutLinks(about)}`);
      files[page] ??= withoutComments(textOf(page));
    }
    if (lines.length > 0) sections.push(`## ${heading}\n\n${lines.join("\n")}\n`);
  }
  const pages = Object.keys(files);
  const lost = readdirSync(join(docs, "guide"))
    .map((name) => `guide/${name}`)
    .filter((page) => page.endsWith(".md") && !pages.includes(page));
  if (lost.length > 0) throw new Error(`docs/README.md has no line for ${lost.join(", ")}`);
  return {
    ...files,
    "llms.txt": `# Seamline\n\n> ${summary}\n\n${sections.join("\n")}`,
    "llms-full.txt": pages
      .filter((page) => page.includes("/"))
      .map((page) => `<!-- ${page} -->\n\n${files[page]}`)
      .join("\n"),
  };
}

function withoutLinks(text: string): string {
  return text.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1");
}

/** Comments hold what would bore a reader. */
function withoutComments(text: string): string {
  return text.replaceAll(/<!--[\s\S]*?-->\n*/g, "");
}
