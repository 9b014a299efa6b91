// Moves one procedure from one segment file to another: no source changes, and neither does the
// page.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Page, test } from "@playwright/test";
import { copyDemo, freePorts, runDemo } from "./demo-application.ts";
import { expect, openCloth, placesOf, search, settled, shopDom } from "./demo-steps.ts";

type Segment = "ui" | "catalogue" | "warehouse";
type Move = readonly [procedure: string, from: Segment, to: Segment];

let copy: ReturnType<typeof copyDemo>;
const git = (...words: readonly string[]): string =>
  execFileSync("git", words, { cwd: copy.folder, encoding: "utf8" });

const before = {
  rank: "This browser",
  basketTotals: "This browser",
  search: "node A",
  quote: "node A",
  swatch: "node A",
  deliveryDay: "node B",
  stockLevels: "node B",
};

test.describe.configure({ mode: "serial", timeout: 180_000 });

test.beforeAll(() => {
  copy = copyDemo();
  writeFileSync(join(copy.folder, ".gitignore"), "node_modules\ndist\n.seamline\n");
  git("init", "--quiet");
  git("add", ".");
  git(
    "-c",
    "user.name=Demo",
    "-c",
    "user.email=demo@example.org",
    "commit",
    "--quiet",
    "-m",
    "The shop",
  );
});

test.afterAll(() => copy?.remove());

let original: readonly string[];

test("with the demo's segments, the browser, node A and node B each run their part", async ({
  page,
}) => {
  const { doms, places } = await visit(page);
  original = doms;
  expect(places).toEqual({ ...before, cloth: "node A" });
});

for (const [procedure, from, to, place] of [
  ["quote", "catalogue", "warehouse", "node B"],
  ["deliveryDay", "warehouse", "ui", "This browser"],
  ["basketTotals", "ui", "catalogue", "node A"],
] as const) {
  test(`${procedure}, moved from ${from} to ${to}, runs in ${place}, and the page is the same`, async ({
    page,
  }) => {
    move([procedure, from, to]);
    try {
      const { doms, places } = await visit(page);
      expect(places).toEqual({ ...before, cloth: "node A", [procedure]: place });
      for (const [at, dom] of doms.entries()) expect(dom).toBe(original[at]);
      const changed = git("diff", "--name-only").trim().split("\n");
      expect(changed.toSorted()).toEqual(
        [`segments/${from}.segment.json`, `segments/${to}.segment.json`].toSorted(),
      );
      expect(git("status", "--porcelain", "--untracked-files=all").trim().split("\n")).toHaveLength(
        2,
      );
    } finally {
      git("checkout", "--quiet", ".");
    }
  });
}

/** Starts the demo, walks through the shop, and stops it. */
async function visit(page: Page): Promise<{ doms: string[]; places: Record<string, string> }> {
  const demo = runDemo(copy.folder, await freePorts());
  try {
    const doms: string[] = [];
    await page.goto(await demo.opened);
    await settled(page);
    await search(page, "tartan moss");
    doms.push(await shopDom(page));
    await openCloth(page, "TA-4873");
    doms.push(await shopDom(page));
    await page.getByLabel("Metres").fill("7");
    await expect(page.locator("#quote")).toContainText("for 7 m");
    await settled(page);
    await page.getByRole("button", { name: "Add to basket" }).click();
    await page.getByRole("link", { name: "Basket 1" }).click();
    await expect(page.locator(".sums")).toContainText("Total");
    await settled(page);
    doms.push(await shopDom(page));
    return { doms, places: await placesOf(page) };
  } finally {
    const code = await demo.interrupt();
    await test
      .info()
      .attach("what the demo said", { body: demo.output(), contentType: "text/plain" });
    expect(code).toBe(0);
  }
}

function move([procedure, from, to]: Move): void {
  const [source, target] = [readSegment(from), readSegment(to)];
  const [module, entries] =
    Object.entries(source).find(([, names]) => typeof names === "object" && procedure in names) ??
    [];
  if (module === undefined || typeof entries !== "object")
    throw new Error(`${from} has no ${procedure}`);
  const { [procedure]: entry, ...rest } = entries;
  if (Object.keys(rest).length === 0) delete source[module];
  else source[module] = rest;
  const there = target[module];
  target[module] = { ...(typeof there === "object" ? there : {}), [procedure]: entry };
  writeSegment(from, source);
  writeSegment(to, target);
}

/** Modules, and `$schema`, which stays. */
type SegmentFile = Record<string, Record<string, unknown> | string>;

const fileOf = (segment: Segment): string =>
  join(copy.folder, "segments", `${segment}.segment.json`);
const readSegment = (segment: Segment): SegmentFile =>
  JSON.parse(readFileSync(fileOf(segment), "utf8")) as SegmentFile;
const writeSegment = (segment: Segment, content: SegmentFile): void =>
  writeFileSync(fileOf(segment), `${JSON.stringify(content, null, 2)}\n`);
