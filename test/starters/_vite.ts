// An application in front of Vite's own command line, and a page of it in Chromium.

import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { Browser, Page } from "playwright";

import type { Application, Service } from "../docs/_application.ts";
import { freePort } from "../_free-port.ts";

/** A text of a file, and what a person types in its place. */
export type Change = readonly [before: string, after: string];

export interface Opened {
  readonly service: Service;
  readonly page: Page;
  /** Without a slash at the end. */
  readonly url: string;
  /** Errors of the page and of its console. */
  readonly faults: readonly string[];
}

export async function editFile(
  app: Application,
  path: string,
  changes: readonly Change[],
): Promise<void> {
  let text = await readFile(join(app.root, path), "utf8");
  for (const [before, after] of changes) {
    if (!text.includes(before)) throw new Error(`${path} has no ${JSON.stringify(before)}`);
    text = text.replace(before, () => after);
  }
  // Saves by rename, as many editors do: Vite may see a file that is truncated and not written yet,
  // and an empty component makes it reload the page.
  const unsaved = join(app.root, `${path}.unsaved`);
  await writeFile(unsaved, text);
  await rename(unsaved, join(app.root, path));
}

/** Starts a server of Vite's by a command that takes options, and opens its page at `path`. */
export async function openVite(
  app: Application,
  browser: Browser,
  command: string,
  origin: string,
  path = "/",
): Promise<Opened> {
  const port = await freePort();
  const service = app.start(`${command} --port ${port} --strictPort`);
  const url = `${origin}:${port}`;
  const page = await browser.newPage({ ignoreHTTPSErrors: true });
  page.setDefaultTimeout(20_000);
  const opens = async (): Promise<boolean> => {
    if (service.code() !== undefined) throw new Error(service.output());
    return await page.goto(url + path).then(
      (answer) => answer?.ok() === true,
      () => false,
    );
  };
  await until(opens);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  // Vite may just be reloading the page, as it has found more packages.
  await until(opens);
  return { service, page, url, faults };
}

/** Bounds a failure. */
const patience = 30_000;

export async function until(done: () => Promise<boolean>): Promise<void> {
  for (
    const end = Date.now() + patience;
    !(await done());
    await new Promise((resolve) => setTimeout(resolve, 50))
  )
    if (Date.now() > end) throw new Error(`not within ${patience / 1_000} s`);
}
