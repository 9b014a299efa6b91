// The examples run the package as it is published: built once, before any of them. Some open a page.

import { spawnSync } from "node:child_process";
import type { TestProject } from "vitest/node";
import { requireBrowser } from "../../scripts/browser.mjs";
import { root } from "../_sources.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Where Chromium is. */
    readonly chromium: string;
  }
}

export function setup(project: TestProject): void {
  const { status, stderr, stdout } = spawnSync(process.execPath, ["scripts/build.mjs", "--if-needed"], { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`${stdout}${stderr}`);
  project.provide("chromium", requireBrowser().path);
}
