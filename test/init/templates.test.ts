// Each template, from `seamline init` to a page whose procedure has moved into the browser and back.

import { readFileSync } from "node:fs";
import { cp, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright";
import { afterAll, beforeAll, describe, it, vi } from "vitest";
import { browserArguments, requireBrowser } from "../../scripts/browser.mjs";
import { createHome, done, type Home, move, pack, unpack } from "./_made.ts";

const templates = ["vanilla", "react", "vue"] as const;
/** The same application in other libraries: what is theirs is tried, not all that the first ones show. */
const others = ["svelte", "solid", "preact"] as const;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
// Builds, compilers and browsers: more at once than cores only make each of them late, and what else runs.
vi.setConfig({ maxConcurrency: 2 });
const testTimeoutMs = 400_000;
const soon = { timeout: 60_000 };

let home: Home;
let browser: Browser;

beforeAll(async () => {
  home = await createHome();
  const [seamline, create] = await Promise.all([
    pack(home.folder),
    pack(home.folder, "create-seamline"),
  ]);
  await unpack(home.folder, { seamline, "create-seamline": create });
  await writeFile(join(home.folder, "package.json"), '{ "private": true, "type": "module" }\n');
  const launched = chromium.launch({
    executablePath: requireBrowser().path,
    args: browserArguments,
  });
  const cli = "node_modules/seamline/dist/cli.js";
  await done(home.start([process.execPath, cli, "init", "vanilla", "--seamline", seamline]));
  await done(
    home.start([
      process.execPath,
      cli,
      "init",
      "react",
      "--template",
      "react",
      "--seamline",
      seamline,
    ]),
  );
  // As `npm create seamline vue -- --template vue` runs it.
  await done(
    home.start([
      process.execPath,
      "node_modules/create-seamline/index.js",
      "vue",
      "--template",
      "vue",
      "--seamline",
      seamline,
    ]),
  );
  for (const template of others) {
    const words = ["init", template, "--template", template, "--seamline", seamline];
    await done(home.start([process.execPath, cli, ...words]));
  }
  const install = [
    "npm",
    "install",
    "--prefer-offline",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ];
  // Most packages are the same, so npm installs them once, and what is missing in the others.
  const [first, ...rest] = [...templates, ...others];
  await done(home.start(install, first));
  await Promise.all(
    rest.map(async (template) => {
      const folder = (name: string): string => join(home.folder, name, "node_modules");
      await cp(folder(first), folder(template), { recursive: true, verbatimSymlinks: true });
      await done(home.start(install, template));
    }),
  );
  browser = await launched;
}, testTimeoutMs);
afterAll(async () => {
  await browser?.close();
  await home?.remove();
}, 30_000);

describe.concurrent.each(templates)("an application from the template %s", (template) => {
  it(
    "can be developed, tested, checked, built and started, and its procedure moves to the page and back",
    async ({ expect }) => {
      const application = join(home.folder, template);
      const script = (name: string): Promise<string> =>
        done(home.start(["npm", "run", name], template));
      const onServer = { here: ["describe"], away: ["weave server"] };
      const inPage = { here: ["describe", "weave"], away: [] };

      // The open page follows the move without a reload.
      const dev = home.start(["seamline", "dev", "--port", "0"], template);
      const [, url = ""] = await dev.says(/Page +(http:\S+)/);
      const open = await visit(url);
      await expect.poll(open.placed, soon).toEqual(onServer);
      const call = home.start(["seamline", "call", "tartan/weave", "--arg", "name=Ada"], template);
      expect(await done(call)).toMatch(/^tartan\/Tartan\('Ada', \[.*\bserver · [\d.]+ ms\n$/s);
      const cloth = await open.pixels();
      await open.page.evaluate(() => Reflect.set(window, "opened", "once"));
      await move(application, "./tartan/weave", "server", "browser");
      await expect
        .poll(async () => [await open.weave("Ada"), await open.placed()].at(-1), soon)
        .toEqual(inPage);
      expect(await open.pixels()).toBe(cloth);
      expect(await open.page.evaluate(() => Reflect.get(window, "opened") as unknown)).toBe("once");
      expect(await open.problems()).toEqual([]);
      await open.page.close();
      await dev.ended("SIGTERM");

      expect(await script("test")).toMatch(/Tests +2 passed/);
      await script("check");
      await anyPort(application);
      for (const placed of [inPage, onServer]) {
        await script("build");
        // Not with `npm start`: on a signal, npm would exit and leave the service running.
        const service = home.start(["seamline", "start"], template);
        const [, at = ""] = await service.says(/standalone at (http:\S+)/);
        const built = await visit(at);
        await expect.poll(built.placed, soon).toEqual(placed);
        expect(await built.pixels()).toBe(cloth);
        expect(await built.words()).toMatch(/^Mostly \w+, with .* threads/);
        await built.weave("Grace");
        await expect.poll(built.pixels, soon).not.toBe(cloth);
        expect(await built.problems()).toEqual([]);
        await built.weave(" ");
        await built.page.getByText("A tartan needs a name").waitFor();
        // Chromium itself logs the answer's status.
        expect(await built.problems()).toEqual(
          placed === onServer ? [expect.stringContaining("400 (Bad Request)")] : [],
        );
        await built.page.close();
        await service.ended("SIGTERM");
        if (placed === inPage) await move(application, "./tartan/weave", "browser", "server");
      }
    },
    testTimeoutMs,
  );
});

describe.concurrent.each(others)("an application from the template %s", (template) => {
  it(
    "can be developed, tested, checked, built and started",
    async ({ expect }) => {
      const onServer = { here: ["describe"], away: ["weave server"] };
      const dev = home.start(["seamline", "dev", "--port", "0"], template);
      const [, url = ""] = await dev.says(/Page +(http:\S+)/);
      const open = await visit(url);
      await expect.poll(open.placed, soon).toEqual(onServer);
      const cloth = await open.pixels();
      expect(await open.problems()).toEqual([]);
      await open.page.close();
      await dev.ended("SIGTERM");

      expect(await done(home.start(["npm", "run", "test"], template))).toMatch(/Tests +2 passed/);
      await done(home.start(["npm", "run", "check"], template));
      await anyPort(join(home.folder, template));
      await done(home.start(["npm", "run", "build"], template));
      const service = home.start(["seamline", "start"], template);
      const [, at = ""] = await service.says(/standalone at (http:\S+?)[ "]/);
      const built = await visit(at);
      await expect.poll(built.placed, soon).toEqual(onServer);
      expect(await built.pixels()).toBe(cloth);
      await built.weave("Grace");
      await expect.poll(built.pixels, soon).not.toBe(cloth);
      expect(await built.problems()).toEqual([]);
      await built.page.close();
      await service.ended("SIGTERM");
    },
    testTimeoutMs,
  );
});

/** Sets port 0, so that the applications can run concurrently. */
async function anyPort(application: string): Promise<void> {
  const file = join(application, "seamline.json");
  await writeFile(file, (await readFile(file, "utf8")).replace(":3000", ":0"));
}

interface Visit {
  readonly page: Page;
  /** The procedures by where they last ran, with the name of the node. */
  placed(): Promise<{ readonly here: readonly string[]; readonly away: readonly string[] }>;
  words(): Promise<string>;
  pixels(): Promise<string>;
  weave(name: string): Promise<void>;
  /**
   * Problems of the page so far: console errors, accessibility violations and overflow, in a wide
   * light window and in a dark one as narrow as a phone.
   */
  problems(): Promise<readonly string[]>;
}

async function visit(url: string): Promise<Visit> {
  const page = await browser.newPage();
  const problems: string[] = [];
  page.on(
    "console",
    (message) => ["error", "warning"].includes(message.type()) && problems.push(message.text()),
  );
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
    placed: async () => ({ here: (await column(0)).toSorted(), away: await column(1) }),
    words: () => page.locator("figcaption").innerText(),
    pixels: () =>
      page.locator("canvas").evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL()),
    async weave(name) {
      await page.getByRole("textbox", { name: "Name" }).fill(name);
      await page.getByRole("button", { name: "Weave" }).click();
    },
    async problems() {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width: colorScheme === "light" ? 1280 : 390, height: 800 });
        problems.push(...(await violations(page)));
        if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth))
          problems.push(`${colorScheme}: scrolls sideways`);
        const end = await page.locator("h2:has-text('Move it') + p").boundingBox();
        if (colorScheme === "light" && (end === null || end.y + end.height > 800))
          problems.push("where it ran and how to move it take more than a screen");
      }
      return problems;
    },
  };
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return await page.evaluate(async () => {
    const { axe: engine } = window as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    return (await engine.run()).violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`,
    );
  });
}
