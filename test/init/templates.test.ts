// Each template, from `seamline init` to a page whose function was moved from the server into the browser.

import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright";
import { afterAll, beforeAll, describe, it } from "vitest";
import { requireBrowser } from "../../scripts/browser.mjs";
import { createHome, done, type Home, move, pack, unpack } from "./_made.ts";

const templates = ["vanilla", "react", "vue"] as const;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const patience = 180_000;

let home: Home;
let browser: Browser;

beforeAll(async () => {
  home = await createHome();
  const [seamline, create] = await Promise.all([pack(home.folder), pack(home.folder, "create-seamline")]);
  await unpack(home.folder, { seamline, "create-seamline": create });
  await writeFile(join(home.folder, "package.json"), '{ "private": true, "type": "module" }\n');
  const launched = chromium.launch({ executablePath: requireBrowser().path, args: ["--no-sandbox", "--disable-gpu"] });
  const cli = "node_modules/seamline/dist/cli.js";
  await done(home.start([process.execPath, cli, "init", "vanilla", "--seamline", seamline]));
  await done(home.start([process.execPath, cli, "init", "react", "--template", "react", "--seamline", seamline]));
  // As `npm create seamline vue -- --template vue` runs it.
  await done(home.start([process.execPath, "node_modules/create-seamline/index.js", "vue", "--template", "vue", "--seamline", seamline]));
  const install = ["npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
  await Promise.all(templates.map((template) => done(home.start(install, template))));
  browser = await launched;
}, patience);
afterAll(async () => {
  await browser?.close();
  await home?.remove();
}, 30_000);

describe.concurrent.each(templates)("the template %s", (template) => {
  it("passes its test and its checks, runs on server and page, and moves", { timeout: patience }, async ({ expect }) => {
    const application = join(home.folder, template);
    const script = (name: string): Promise<string> => done(home.start(["npm", "run", name], template));
    expect(await script("test")).toMatch(/Tests +2 passed/);
    await script("check");
    await anyPort(application);
    await script("build");

    const before = await visit(home, template);
    await expect.poll(() => before.placed()).toEqual({ here: ["describe"], away: ["weave server"] });
    expect(await before.words()).toMatch(/^Mostly \w+, with .* threads/);
    const cloth = await before.pixels();
    await before.weave("Grace");
    await expect.poll(() => before.pixels()).not.toBe(cloth);
    await before.weave(" ");
    await before.page.getByText("A tartan needs a name").waitFor();
    // The answer's status, which Chromium writes there itself.
    expect(await before.looks()).toEqual([expect.stringContaining("400 (Bad Request)")]);
    await before.leave();

    await move(application, "./tartan/weave", "server", "browser");
    await script("build");
    const after = await visit(home, template);
    await expect.poll(() => after.placed()).toEqual({ here: ["weave", "describe"], away: [] });
    expect(await after.pixels()).toBe(cloth);
    expect(await after.looks()).toEqual([]);
    await after.leave();
  });
});

/** Ports are free ones, so that applications run beside each other. */
async function anyPort(application: string): Promise<void> {
  const file = join(application, "seamline.json");
  await writeFile(file, (await readFile(file, "utf8")).replace(":3000", ":0"));
}

interface Visit {
  readonly page: Page;
  /** Procedures by where they ran last; with the node's name, if there is one. */
  placed(): Promise<{ readonly here: readonly string[]; readonly away: readonly string[] }>;
  words(): Promise<string>;
  pixels(): Promise<string>;
  weave(name: string): Promise<void>;
  /** What is wrong with the page, in both themes and at the width of a phone. */
  looks(): Promise<readonly string[]>;
  leave(): Promise<void>;
}

/** Starts the application's service, and opens its page. */
async function visit({ start }: Home, template: string): Promise<Visit> {
  // Not by `npm start`: npm would end, and leave the service running.
  const service = start(["seamline", "start"], template);
  const [, url = ""] = await service.says(/standalone at (http:\S+)/);
  const visited = await open(url);
  return {
    ...visited,
    async leave() {
      await visited.page.close();
      await service.ended("SIGTERM");
    },
  };
}

async function open(url: string): Promise<Omit<Visit, "leave">> {
  const page = await browser.newPage();
  const problems: string[] = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto(url);
  const column = async (at: number): Promise<string[]> => {
    const items = await page.locator(".places > div").nth(at).locator("li").allInnerTexts();
    return items.map((text) =>
      text
        .replaceAll(/ · |[\d.]+ ms/g, " ")
        .replaceAll(/\s+/g, " ")
        .trim(),
    );
  };
  return {
    page,
    placed: async () => ({ here: await column(0), away: await column(1) }),
    words: () => page.locator("figcaption").innerText(),
    pixels: () => page.locator("canvas").evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL()),
    async weave(name) {
      await page.getByRole("textbox", { name: "Name" }).fill(name);
      await page.getByRole("button", { name: "Weave" }).click();
    },
    async looks() {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width: colorScheme === "light" ? 1100 : 390, height: 800 });
        problems.push(...(await violations(page)));
        if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) problems.push(`${colorScheme}: scrolls sideways`);
      }
      return problems;
    },
  };
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return await page.evaluate(async () => {
    const { axe: engine } = window as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } };
    return (await engine.run()).violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  });
}
