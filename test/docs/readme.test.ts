// The README's example does what the README says: started as it stands there, opened in a browser.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { freePort } from "../_free-port.ts";
import { root } from "../_sources.ts";
import { createApplication } from "./_application.ts";
import { readmeExample } from "./_readme.ts";

beforeAll(() => expect(inject("missing")).toBe(""));

/** Names of all that a page of the application asks for until `discount` has answered. */
async function requestsOf(files: Record<string, string>): Promise<string[]> {
  const application = await createApplication();
  const browser = await chromium.connect(inject("chromium"));
  try {
    const url = `http://127.0.0.1:${await freePort()}`;
    await application.write("seamline.json", JSON.stringify({ mode: "standalone", url }));
    await application.write(
      "index.html",
      '<!doctype html><script type="module" src="/src/main.ts"></script>',
    );
    for (const [path, text] of Object.entries(files)) await application.write(path, text);
    const service = application.start("npx seamline start --build");
    await expect
      .poll(() => (service.code() === undefined ? service.output() : "ended"), { timeout: 20_000 })
      .toContain(`standalone at ${url}`);
    const page = await browser.newPage();
    await page.goto(url);
    await page.waitForFunction(() => document.title === "5 % off");
    return await page.evaluate(() =>
      performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname),
    );
  } finally {
    await browser.close();
    await application.remove();
  }
}

describe("the README's example", { timeout: 120_000 }, () => {
  it("before the move: the page calls `discount` on the server", async () => {
    expect(await requestsOf(readmeExample.before)).toContain("/rpc/shop/discount");
  });

  it("after the move: `discount` runs in the page, which calls nothing", async () => {
    const requests = await requestsOf(readmeExample.after);
    expect(requests).not.toEqual([]);
    expect(requests.filter((path) => path.startsWith("/rpc/"))).toEqual([]);
  });

  it("has nothing that readers don't see", () => {
    expect(readFileSync(join(root, "README.md"), "utf8")).not.toMatch(/<!--(?! #(?:end)?region )/);
  });
});
