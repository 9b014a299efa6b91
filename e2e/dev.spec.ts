// `seamline dev` in a real browser: editing an application while its page is open.

import { join } from "node:path";

import { expect, test } from "@playwright/test";
import { develop, type DevRun } from "./dev-application.ts";
import { application, moved, open, within, write } from "./dev-shop.ts";

let run: DevRun;
test.beforeEach(async () => {
  run = await develop(application);
});
test.afterEach(async () => await run.stop());

test("Vite replaces an edited module of the page without a reload", async ({ page }) => {
  const loaded = await open(page, run);
  await expect(page.locator("h1")).toHaveText("Cloth");
  run.edit("src/title.ts", "Cloth", "Cloth and thread");
  await expect(page.locator("h1")).toHaveText("Cloth and thread");
  expect(await within(page, "page")).toBe(loaded);
});

test("editing a procedure replaces only its body, in the page and on its node, and keeps shared state", async ({
  page,
}) => {
  const loaded = await open(page, run);
  expect(await within(page, 'filter(["a", "", "b"])')).toBe("a,b 1");
  run.edit("src/ui/filter.ts", '!== ""', '=== ""');
  await expect
    .poll(async () => String(await within(page, 'filter(["a", "", "b"])')))
    .toMatch(/^ [12]$/);
  expect(
    await within(page, 'quote("abc").then((money) => [money instanceof Money, money.amount])'),
  ).toEqual([true, 30]);
  run.edit("src/shop/quote.ts", "* 10", "* 11");
  await expect
    .poll(async () => await within(page, 'quote("abc").then((money) => money.amount)'))
    .toBe(33);
  expect(await within(page, 'quote("abc").then((money) => money instanceof Money)')).toBe(true);
  expect(await within(page, "page")).toBe(loaded);
  await expect
    .poll(() => run.lines.filter((line) => line.event === "replaced").map(({ where }) => where))
    .toEqual([["page"], ["office"]]);
});

test("the body of a procedure moved into the page is replaced when edited, and later pages load the current one", async ({
  page,
}) => {
  await open(page, run);
  write(run, moved);
  await expect
    .poll(async () => await within(page, 'at(() => quote("abc"))'))
    .toMatchObject({ where: "local" });
  const shared = (await within(page, "shared.calls")) as number;
  run.edit("src/shop/quote.ts", "* 10", "* 12");
  await expect
    .poll(async () => await within(page, 'quote("abc").then((money) => money.amount)'))
    .toBe(36);
  expect(await within(page, "shared.calls")).toBeGreaterThan(shared);
  const loaded = await open(page, run);
  expect(await within(page, 'at(() => quote("abc"))')).toEqual({
    value: { amount: 36 },
    where: "local",
  });
  run.edit("src/shop/quote.ts", "* 12", "* 13");
  await expect
    .poll(async () => await within(page, 'quote("abc").then((money) => money.amount)'))
    .toBe(39);
  expect(await within(page, "page")).toBe(loaded);
});

test("a mistake shows in an overlay with its source lines, the page keeps working, and fixing it closes the overlay", async ({
  page,
}) => {
  const loaded = await open(page, run);
  const overlay = page.locator("vite-error-overlay");
  run.edit("src/shop/quote.ts", "sku: string", "sku: : string");
  await expect(overlay.locator(".message")).toContainText(/expected|unexpected/i);
  await expect(overlay.locator(".frame")).toContainText(
    "> 6 | export async function quote(sku: : string)",
  );
  expect(await within(page, 'quote("abc").then((money) => money.amount)')).toBe(30);
  // The code frame is aligned, and its link opens the file in an editor.
  const frame = ((await overlay.locator(".frame").textContent()) ?? "").split("\n");
  expect(frame[0]).toMatch(/^4 +\| export const shared/);
  expect(new Set(frame.map((line) => line.indexOf("|"))).size).toBe(1);
  const editorRequest = page.waitForRequest(/__open-in-editor/);
  await page.route(/__open-in-editor/, async (route) => await route.fulfill({ status: 200 }));
  await overlay.locator(".file a").click();
  const file = new URL((await editorRequest).url()).searchParams.get("file");
  expect(file).toBe(`${join(run.folder, "src/shop/quote.ts")}:6:34`);
  run.edit("src/shop/quote.ts", ": :", ":");
  await expect(overlay).toHaveCount(0);
  run.edit("segments/ui.segment.json", '"public"', '"publik"');
  await expect(overlay.locator(".message")).toContainText('Did you mean "public"?');
  run.edit("segments/ui.segment.json", '"publik"', '"public"');
  await expect(overlay).toHaveCount(0);
  expect(await within(page, "page")).toBe(loaded);
});

test("an import that pages can't have shows in every page's overlay and in the terminal until it is fixed", async ({
  page,
}) => {
  await open(page, run);
  const overlay = page.locator("vite-error-overlay");
  run.edit(
    "src/shop/money.ts",
    "export class Money {",
    'import { readFileSync } from "node:fs";\nexport const read = readFileSync;\nexport class Money {',
  );
  await expect(overlay.locator(".message")).toContainText('"node:fs" exists on Node only');
  await expect(overlay.locator(".message")).toContainText(
    "index.html → src/main.ts → src/shop/money.ts → node:fs",
  );
  await expect(overlay.locator(".file a")).toHaveText(
    `${join(run.folder, "src/shop/money.ts")}:1:30`,
  );
  await expect.poll(() => run.lines.filter(({ event }) => event === "problems")).toHaveLength(1);
  expect(run.lines.find(({ event }) => event === "problems")).toMatchObject({
    problems: [{ file: "src/shop/money.ts", line: 1 }],
    isLive: true,
  });
  const late = await page.context().newPage();
  await late.goto(run.url);
  await expect(late.locator("vite-error-overlay .message")).toContainText(
    '"node:fs" exists on Node only',
  );
  run.edit(
    "src/shop/money.ts",
    'import { readFileSync } from "node:fs";\nexport const read = readFileSync;\n',
    "",
  );
  await expect(overlay).toHaveCount(0);
  await expect(late.locator("vite-error-overlay")).toHaveCount(0);

  run.edit(
    "src/title.ts",
    "export function title",
    'import { Mony } from "./shop/money.ts";\nvoid Mony;\nexport function title',
  );
  await expect(overlay.locator(".message")).toContainText(
    '"./shop/money.ts" doesn\'t export "Mony"',
  );
  run.edit("src/title.ts", 'import { Mony } from "./shop/money.ts";\nvoid Mony;\n', "");
  await expect(overlay).toHaveCount(0);
});

test("the page's console has a procedure's error with TypeScript lines and trace, as the terminal has, and one warning of options in procedure.call", async ({
  page,
}) => {
  await open(page, run);
  const errors: string[] = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await page.evaluate('quote("moth").catch((error) => console.error(error, String(error.trace)))');
  await expect
    .poll(() => errors.join("\n"))
    .toMatch(/RangeError: nobody sells moths\n\s+at \S*quote \(\S+\/src\/shop\/quote\.ts:10:11\)/);
  expect(errors.join("\n")).toContain("[shop/quote | v0.0.0]");
  const failed = run.lines.find((line) => line.event === "failed");
  expect(failed).toMatchObject({
    fqn: "shop/quote",
    node: "office",
    error: { name: "RangeError", stack: expect.stringContaining("/src/shop/quote.ts:10:11") },
  });
  const warnings: string[] = [];
  page.on("console", (message) => message.type() === "warning" && warnings.push(message.text()));
  await within(page, '({ timeoutMs: 5, quote }).quote("abc")');
  for (let call = 0; call < 2; call++)
    await within(page, 'quote.call({ timeoutMs: 5, headers: {} }, "abc")');
  expect(warnings).toEqual([
    "Seamline: procedure.call({ timeoutMs, headers }, …) of 'shop/quote' ignores its options, as it takes a context: use withOptions(procedure, { timeoutMs, headers })(…)",
  ]);
});

test("no response to a page contains the source of a procedure that pages may not load", async ({
  request,
}) => {
  const queries = [
    "",
    "?import",
    "?v=1",
    "?t=1",
    "?seamline=body",
    "?seamline=code",
    "?seamline=shared",
    "?raw",
    "?url",
    "?inline",
    "?import&raw",
    "?x&seamline=code",
  ];
  for (const query of queries)
    for (const path of [
      "/src/shop/quote.ts",
      `/@fs${run.folder}/src/shop/quote.ts`,
      "/src/shop/../shop/quote.ts",
      "/src//shop/quote.ts",
    ]) {
      const text = await (await request.get(`${run.url}${path}${query}`)).text();
      expect(text, `${path}${query}`).not.toContain("nobody sells");
      expect(
        Buffer.from(/base64,([\w+/=]+)/.exec(text)?.[1] ?? "", "base64").toString(),
        `${path}${query}`,
      ).not.toContain("nobody sells");
    }
  expect((await request.get(`${run.url}/.seamline/key`)).status()).toBe(403);
});
