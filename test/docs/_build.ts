// Once for all pages: the package as it is published, and one Chromium. What is missing fails the pages, and no other test.

import { spawnSync } from "node:child_process";
import { type BrowserServer, chromium } from "playwright";
import type { TestProject } from "vitest/node";
import { browserArguments, requireBrowser } from "../../scripts/browser.mjs";
import { root } from "../_sources.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Where the Chromium of all pages is reached. */
    readonly chromium: string;
    /** Why no page can be run; empty where they can. */
    readonly missing: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let browser: BrowserServer | undefined;
  let missing = "";
  try {
    buildPackage();
    requireCurl();
    browser = await chromium.launchServer({
      executablePath: requireBrowser().path,
      args: browserArguments,
    });
  } catch (error) {
    missing = String(error);
  }
  project.provide("chromium", browser?.wsEndpoint() ?? "");
  project.provide("missing", missing);
  return async () => await browser?.close();
}

function buildPackage(): void {
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    ["scripts/build.mjs", "--if-needed"],
    { cwd: root, encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`${stdout}${stderr}`);
}

function requireCurl(): void {
  if (spawnSync("curl", ["--version"]).error)
    throw new Error(
      "The examples of the guide call curl, which is not installed here (apt-get install curl)",
    );
}
