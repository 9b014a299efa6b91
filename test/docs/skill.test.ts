// The skill for coding agents, as the package has it: agents read it where no other document is.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

import { filesIn, root } from "../_sources.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const files = filesIn("skills");
const main = "skills/seamline/SKILL.md";
const linksOf = (path: string): string[] =>
  [...read(path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);

describe("the skill for coding agents", () => {
  // The bounds are those of agentskills.io/specification.
  it("says in its front matter what it is called and when to use it", () => {
    const [, matter = ""] = /^---\n([\s\S]*?)\n---\n\n# /.exec(read(main)) ?? [];
    const { name, description, ...others } = parse(matter) as Record<string, unknown>;
    expect(others).toEqual({});
    expect(name).toBe(basename(dirname(main)));
    expect(description).toMatch(/\bUse when\b/);
    expect(String(description).length).toBeLessThanOrEqual(1_024);
  });

  it("leads to each page beside it, and no page leads out of the folder", () => {
    const pages = files.filter((path) => path !== main).map((path) => basename(path));
    expect(pages.length).toBeGreaterThan(0);
    expect(linksOf(main).toSorted()).toEqual(pages);
    const besides = new Set([...pages, basename(main)]);
    expect(files.flatMap(linksOf).filter((target) => !besides.has(target))).toEqual([]);
  });

  it.each(files)("has at most 120 lines in %s, as an agent has much else to read", (path) => {
    expect(read(path).trimEnd().split("\n").length).toBeLessThanOrEqual(120);
  });

  it("is in the package that npm publishes, as are the folders that it names", () => {
    const words = ["pack", "--dry-run", "--json", "--ignore-scripts"];
    const output = execFileSync("npm", words, { cwd: root, encoding: "utf8" });
    const [packed] = JSON.parse(output) as [{ files: { path: string }[] }];
    const paths = packed.files.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(files));
    const named = [...read(main).matchAll(/node_modules\/seamline\/([\w/]+)/g)];
    expect(named.map(([, folder = ""]) => folder)).toEqual(["schema", "dist/types"]);
    for (const [, folder = ""] of named)
      expect(paths.some((path) => path.startsWith(`${folder}/`))).toBe(true);
  });
});
