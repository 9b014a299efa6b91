// A deploy as an open page notices it, with real builds and a real service.

import { expect, type Page, test } from "@playwright/test";
import {
  type Application,
  buildPackage,
  type Command,
  createApplication,
} from "../test/process/_application.ts";
import { startService } from "./wire-application.ts";

let application: Application;
let service: { url: string; command: Command };

const publicly = { access: "public" };
const build = async (): Promise<void> => {
  const command = application.seamline(["build"]);
  expect(await command.ended(), command.output()).toBe(0);
};
const start = async (config: object = {}): Promise<void> => {
  const url = service?.url ?? "http://127.0.0.1:0";
  service = await startService(application, "shop", { mode: "standalone", url, ...config });
};
const deploy = async (config: object = {}): Promise<void> => {
  await build();
  expect(await service.command.ended("SIGTERM")).toBe(0);
  await start(config);
};

test.beforeAll(async () => {
  buildPackage();
  application = await createApplication();
  await application.put(
    "index.html",
    '<!doctype html><html><head><meta charset="utf-8"></head><body><script type="module" src="/src/main.ts"></script></body></html>',
  );
  await application.put(
    "src/main.ts",
    `import { startClient } from "seamline/client";
import { quote } from "./shop/quote.ts";
import { gone } from "./shop/gone.ts";
const told: unknown[] = [];
window.addEventListener("seamline:outdated", ({ detail }) => told.push(detail));
const client = await startClient("ui");
Object.assign(window, { quote, gone, told, later: () => import("./later.ts"), tools: () => client.import("./ui/tools.ts") });
document.body.dataset["started"] = "true";
`,
  );
  await application.put("src/later.ts", 'export const word = "old";\n');
  await application.put(
    "src/ui/tools.ts",
    'export const tool = "old";\nexport const use = () => tool;\n',
  );
  await application.put("src/ui/look.ts", 'export async function look() {\n  return "old";\n}\n');
  await application.put("ui.segment.json", { "./ui/look": { look: publicly } });
  await application.publish("shop/quote", 'export async function quote() {\n  return "one";\n}\n', [
    "quote",
  ]);
  await application.publish("shop/gone", 'export async function gone() {\n  return "here";\n}\n', [
    "gone",
  ]);
  await build();
  await start();
});
test.afterAll(() => application?.remove());

const open = async (page: Page): Promise<void> => {
  await page.goto(service.url);
  await expect(page.locator("body")).toHaveAttribute("data-started", "true");
};
const called = async (page: Page, call: string): Promise<unknown> =>
  await page.evaluate(
    `(async () => { try { return await ${call}; } catch (error) { return error.name; } })()`,
  );

test("an open page goes on after a deploy with what is still there, loads its own build's modules, and is told when a call can't go on", async ({
  page,
  context,
}) => {
  await open(page);
  const revision = await page.locator("meta[name=seamline-revision]").getAttribute("content");
  for (const name of ["src/later.ts", "src/ui/tools.ts", "src/ui/look.ts"])
    await application.put(
      name,
      {
        "src/later.ts": 'export const word = "new";\n',
        "src/ui/tools.ts": 'export const tool = "new";\nexport const use = () => tool;\n',
        "src/ui/look.ts": 'export async function look() {\n  return "new";\n}\n',
      }[name] ?? "",
    );
  // The procedure is there in a new version only.
  await application.put("shop/gone.segment.json", {
    "./shop/gone": { gone: { ...publicly, version: "2" } },
  });
  await deploy();

  expect(await called(page, "quote()")).toBe("one");
  expect(await called(page, "later().then(({ word }) => word)")).toBe("old");
  expect(await called(page, "tools().then(({ use }) => use())")).toBe("old");
  expect(await page.evaluate("told")).toEqual([]);
  for (let time = 0; time < 2; time++)
    expect(await called(page, "gone()")).toBe("ProcedureNotFound");
  await expect.poll(() => page.evaluate("told.length")).toBe(1);
  const fresh = await context.newPage();
  await open(fresh);
  const current = await fresh.locator("meta[name=seamline-revision]").getAttribute("content");
  expect(current).not.toBe(revision);
  expect(await page.evaluate("told")).toEqual([{ revision, current }]);
  expect(await called(fresh, "gone()")).toBe("here");
  expect(await called(fresh, "later().then(({ word }) => word)")).toBe("new");
  expect(await fresh.evaluate("told")).toEqual([]);
});
