// Once for all pages: the package as it is published, and one Chromium.

import { spawnSync } from "node:child_process";
import { chromium } from "playwright";
import type { TestProject } from "vitest/node";
import { requireBrowser } from "../../scripts/browser.mjs";
import { root } from "../_sources.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Where the Chromium of all pages is reached. */
    readonly chromium: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { status, stderr, stdout } = spawnSync(process.execPath, ["scripts/build.mjs", "--if-needed"], { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`${stdout}${stderr}`);
  const browser = await chromium.launchServer({ executablePath: requireBrowser().path, args: ["--no-sandbox"] });
  project.provide("chromium", browser.wsEndpoint());
  return async () => await browser.close();
}
