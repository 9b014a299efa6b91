// The application of the tests of `seamline dev` in a browser, and what they do with its page.

import { expect, type Page } from "@playwright/test";

import type { DevRun } from "./dev-application.ts";

const main = [
  'import { runProcedure } from "seamline";',
  'import { startClient } from "seamline/client";',
  'import { Money } from "./shop/money.ts";',
  'import { counts, quote, shared } from "./shop/quote.ts";',
  'import { filter } from "./ui/filter.ts";',
  'import { title } from "./title.ts";',
  'const client = await startClient("ui");',
  "const at = async (call: () => Promise<unknown>): Promise<unknown> => {",
  "  let where: unknown;",
  "  const stop = client.observe((one) => (where = one.where));",
  "  const value = await call();",
  "  stop();",
  "  return { value, where };",
  "};",
  "Object.assign(globalThis, { Money, counts, quote, shared, filter, runProcedure, at, page: Math.random() });",
  "title();",
  "",
].join("\n");

/** A shop: `office` has `shop/quote`, and the page runs `ui/filter`. */
export const application = {
  "index.html":
    '<!doctype html><html><head><title>Shop</title></head><body><h1></h1><script type="module" src="/src/main.ts"></script></body></html>\n',
  "src/main.ts": main,
  "src/title.ts":
    'export function title(): void {\n  document.querySelector("h1")!.textContent = "Cloth";\n}\nif (import.meta.hot) import.meta.hot.accept((next) => next?.["title"]());\n',
  "src/shop/money.ts":
    "export class Money {\n  readonly amount: number;\n  constructor(amount: number) {\n    this.amount = amount;\n  }\n}\n",
  "src/shop/quote.ts": [
    'import { Money } from "./money.ts";',
    "",
    "let calls = 0;",
    "export const shared = { calls: 0 };",
    "",
    "export async function quote(sku: string): Promise<Money> {",
    "  calls++;",
    "  shared.calls++;",
    '  if (sku === "moth") {',
    '    throw new RangeError("nobody sells moths");',
    "  }",
    "  return new Money(sku.length * 10);",
    "}",
    "",
    "export async function counts(): Promise<number> {",
    "  return calls;",
    "}",
    "",
  ].join("\n"),
  "src/ui/filter.ts":
    'let calls = 0;\nexport async function filter(words: string[]): Promise<string> {\n  calls++;\n  return `${words.filter((word) => word !== "").join()} ${calls}`;\n}\n',
  "segments/office.segment.json":
    '{ "./shop/quote": { "quote": { "access": "public" }, "counts": { "access": "public" } } }\n',
  "segments/ui.segment.json": '{ "./ui/filter": { "filter": { "access": "public" } } }\n',
};
/** The edit that moves `shop/quote` into the page. */
export const moved = {
  "segments/ui.segment.json":
    '{ "./ui/filter": { "filter": { "access": "public" } }, "./shop/quote": { "quote": { "access": "public" } } }\n',
  "segments/office.segment.json": '{ "./shop/quote": { "counts": { "access": "public" } } }\n',
};

/** The edit that moves it back. */
export const movedBack = {
  "segments/ui.segment.json": application["segments/ui.segment.json"],
  "segments/office.segment.json": application["segments/office.segment.json"],
};

/** Runs code in the page, where the application's functions are globals. */
export const within = async (page: Page, code: string): Promise<unknown> =>
  await page.evaluate(code);

/** Opens the page, and resolves to a number that a reload would change. */
export async function open(page: Page, run: DevRun): Promise<unknown> {
  await page.goto(run.url);
  await expect.poll(async () => await within(page, "globalThis.page ?? null")).not.toBeNull();
  return await within(page, "page");
}

export function write(run: DevRun, files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files)) run.write(file, text);
}
