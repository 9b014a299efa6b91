// The console's map in development, in a real browser: killing nodes and moving procedures.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { expect, type Locator, type Page, test } from "@playwright/test";
import { develop, type DevRun } from "./dev-application.ts";

const application = {
  "index.html":
    '<!doctype html><title>Shop</title><script type="module" src="/src/main.ts"></script>\n',
  "src/main.ts": [
    'import { startClient } from "seamline/client";',
    'import { quote } from "./shop/quote.ts";',
    'const client = await startClient("ui");',
    "const where = async (): Promise<unknown> => {",
    "  let found: unknown;",
    "  const stop = client.observe((call) => (found = call.where));",
    "  await quote(2);",
    "  stop();",
    "  return found;",
    "};",
    "Object.assign(globalThis, { where });",
    "",
  ].join("\n"),
  "src/shop/quote.ts":
    "export async function quote(metres: number): Promise<number> {\n  return metres * 12;\n}\n",
  "src/shop/stock.ts":
    "export async function left(sku: string): Promise<number> {\n  return sku.length;\n}\n",
  "src/ui/filter.ts":
    "export async function filter(words: string[]): Promise<string[]> {\n  return words.filter(Boolean);\n}\n",
  "segments/office.segment.json": '{ "./shop/quote": { "quote": { "access": "public" } } }\n',
  "segments/store.segment.json": '{ "./shop/stock": { "left": { "access": "public" } } }\n',
  "segments/ui.segment.json": '{ "./ui/filter": { "filter": { "access": "public" } } }\n',
};

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let run: DevRun;

test.beforeEach(async () => {
  run = await develop(application);
});

test.afterEach(async () => {
  await run?.stop();
});

async function open(page: Page): Promise<void> {
  await page.goto(run.console);
  await expect(page.locator("header .connection.live")).toBeVisible();
}

const segmentFile = (name: string): unknown =>
  // It is empty for a moment while it is written.
  JSON.parse(readFileSync(join(run.folder, `segments/${name}.segment.json`), "utf8") || "null");
const box = (page: Page, node: string) => page.locator(".members .box", { hasText: node });
const chip = (page: Page, name: string) =>
  page.locator("#map").getByRole("button", { name, exact: true });
/** Where the page of the application runs `quote` now. */
const where = (page: Page): Promise<unknown> =>
  page.evaluate(() => (globalThis as { where?(): Promise<unknown> }).where?.());
const quoted = async (): Promise<string | null> =>
  (await fetch(`${run.url}/rpc/shop/quote?metres=2`)).headers.get("x-svc-node");
const entry = { "./shop/quote": { quote: { access: "public" } } };

test("dragging a procedure to another node changes the segment files and where it runs", async ({
  page,
}) => {
  await open(page);
  expect(await quoted()).toBe("office");
  await chip(page, "quote").dragTo(box(page, "store").locator("[data-segment]"));
  await expect(page.locator("#map [role=status]")).toHaveText("Moved shop/quote to store.");
  expect(segmentFile("office")).toEqual({});
  expect(segmentFile("store")).toMatchObject(entry);
  await expect(box(page, "store").getByRole("button", { name: "quote" })).toBeVisible();
  await expect.poll(quoted).toBe("store");
});

test("open pages run a procedure themselves once it is dragged to the browsers", async ({
  page,
  context,
}) => {
  const shop = await context.newPage();
  await shop.goto(run.url);
  await expect.poll(() => where(shop)).toBe("remote");
  await open(page);
  await chip(page, "quote").dragTo(page.locator(".callers [data-segment=ui]"));
  await expect.poll(() => segmentFile("ui")).toMatchObject(entry);
  await expect(page.locator(".callers").getByRole("button", { name: "quote" })).toBeVisible();
  await expect.poll(() => where(shop)).toBe("local");
});

test("a procedure can be moved by keyboard, even to a new segment", async ({ page }) => {
  await open(page);
  await chip(page, "quote").focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByLabel("Move to").locator("option")).toHaveText([
    "ui (browser)",
    "store (node store)",
    "a new segment",
  ]);
  await dialog.getByLabel("Move to").focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Tab");
  await page.keyboard.type("archive");
  await page.keyboard.press("Enter");
  await expect(dialog.locator(".move-form [role=status]")).toHaveText(
    "Moved to archive: the segment files have changed.",
  );
  await page.keyboard.press("Escape");
  await expect(box(page, "archive").getByRole("button", { name: "quote" })).toBeVisible();
  expect(segmentFile("archive")).toEqual(entry);
  await expect.poll(quoted).toBe("archive");
});

/** Where something is once it stands still: the map is drawn again when a node starts. */
async function placeOf(target: Locator): Promise<{ readonly x: number; readonly y: number }> {
  for (;;) {
    await target.hover({ trial: true });
    const place = await target.boundingBox();
    if (place !== null) return place;
  }
}

test("neither a drag ended by Escape nor a click with a slight movement moves a procedure", async ({
  page,
}) => {
  await open(page);
  const from = await placeOf(chip(page, "quote"));
  const to = await placeOf(box(page, "store").locator("[data-segment]"));
  await page.mouse.move(from.x + 5, from.y + 5);
  await page.mouse.down();
  await page.mouse.move(to.x + 20, to.y + 10, { steps: 4 });
  await expect(page.locator(".stage.dragging .ghost")).toBeVisible();
  await expect(page.locator(".target")).toHaveAttribute("data-segment", "store");
  await page.keyboard.press("Escape");
  await expect(page.locator(".ghost")).toHaveCount(0);
  await page.mouse.up();
  await page.mouse.move(from.x + 5, from.y + 5);
  await page.mouse.down();
  await page.mouse.move(from.x + 7, from.y + 6);
  await page.mouse.up();
  await expect(page.getByRole("dialog")).toBeVisible();
  expect(segmentFile("office")).toEqual(entry);
});

test("the form of a procedure follows the types of its parameters as they are edited", async ({
  page,
}) => {
  await run.stop();
  run = await develop(application, ["typescript"]);
  await open(page);
  const dialog = page.getByRole("dialog");
  await chip(page, "left").click();
  await expect(dialog.getByLabel("sku string", { exact: true })).toBeVisible();
  await page.keyboard.press("Escape");
  run.edit(
    "src/shop/stock.ts",
    "(sku: string)",
    '({ sku }: { sku: "tweed" | "silk"; box?: { depth: 1 | 2 } })',
  );
  await expect
    .poll(async () => {
      await page.keyboard.press("Escape");
      await chip(page, "left").click();
      await expect(dialog.getByLabel("sku")).toBeVisible();
      return await dialog.locator("label", { hasText: "sku" }).textContent();
    })
    .toBe('sku "silk" | "tweed"');
  await dialog.getByLabel("sku").selectOption("tweed");
  await dialog.getByRole("button", { name: "Call" }).click();
  await expect(dialog.locator(".value.number")).toHaveText("5");
});

test("a node can be killed and started again on the map", async ({ page }) => {
  await open(page);
  await page.getByRole("button", { name: "kill node office" }).click();
  await expect(box(page, "office").locator(".badge")).toHaveText("stopped");
  expect((await fetch(`${run.url}/rpc/shop/quote?metres=2`)).status).toBe(503);
  const start = page.getByRole("button", { name: "start node office" });
  await expect(start).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "kill node office" })).toBeVisible();
  await expect.poll(quoted).toBe("office");
});

test("the map and the move form have no axe violation in light and dark, on a desktop and a phone", async ({
  page,
}) => {
  await open(page);
  await page.getByRole("button", { name: "kill node store" }).click();
  await expect(box(page, "store").locator(".badge")).toHaveText("stopped");
  const check = async (): Promise<void> => {
    await page.evaluate(axe);
    const violations = await page.evaluate(async () => {
      type Axe = { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
      const { axe: checker } = globalThis as unknown as { axe: Axe };
      return (await checker.run()).violations.map(({ id, nodes }) => [id, nodes[0]?.html]);
    });
    expect(violations).toEqual([]);
    const [scrollWidth, clientWidth] = await page.evaluate(() => {
      const { documentElement } = document;
      return [documentElement.scrollWidth, documentElement.clientWidth];
    });
    expect(scrollWidth).toBe(clientWidth);
  };
  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [1280, 390]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      await check();
      await chip(page, "quote").click();
      await check();
      await page.keyboard.press("Escape");
    }
});

test("the map shows why a moved procedure can't run", async ({ page }) => {
  run.write("src/shop/quote.ts", "export async function quote( {\n");
  await open(page);
  await expect(page.locator(".problems li")).toContainText("src/shop/quote.ts");
  run.write("src/shop/quote.ts", application["src/shop/quote.ts"]);
  await expect(page.locator(".problems li")).toHaveCount(0);
});
