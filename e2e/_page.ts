// An application with one page, served from a build and in development.

import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, type Page } from "@playwright/test";
import { createApplication } from "../test/process/_application.ts";

const packageRoot = join(import.meta.dirname, "..");

/** The ways in which a page is served. */
export const commands = ["start", "dev"] as const;

/** An application that runs. */
export interface Served {
  readonly url: string;
  remove(): Promise<void>;
}

/** Serves an application with one page and these files. */
export async function served(
  command: (typeof commands)[number],
  files: Readonly<Record<string, string | object>>,
): Promise<Served> {
  const application = await createApplication();
  try {
    await application.put(
      "index.html",
      '<!doctype html><title>Shop</title><output></output><script type="module" src="/src/main.ts"></script>',
    );
    await application.put("seamline.json", { mode: "standalone", url: "http://127.0.0.1:0" });
    for (const [path, content] of Object.entries(files)) await application.put(path, content);
    await symlink(
      join(packageRoot, "node_modules/vite"),
      join(application.root, "node_modules/vite"),
      "junction",
    );
    const service = application.seamline(
      command === "start" ? ["start", "--build"] : ["dev", "--port", "0"],
    );
    const [, url = ""] = await service.says(/(https?:\/\/127\.0\.0\.1:\d+|http:\/\/localhost:\d+)/);
    return { url, remove: async () => await application.remove() };
  } catch (error) {
    await application.remove();
    throw error;
  }
}

/** Waits until the page of the application with these files shows this in its `output`. */
export async function expectShown(
  page: Page,
  command: (typeof commands)[number],
  files: Readonly<Record<string, string | object>>,
  shown: string,
): Promise<void> {
  const { url, remove } = await served(command, files);
  try {
    await page.goto(url);
    await expect(page.locator("output")).toHaveText(shown);
  } finally {
    await remove();
  }
}
