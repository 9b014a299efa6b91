// An application whose modules, exports, parameters, segments and classes are named like inherited
// properties (`constructor`, `toString`), in a real page.

import { expect, test } from "@playwright/test";

import { prototypeNames, shown } from "../test/_prototype-names.ts";
import { createApplication } from "../test/process/_application.ts";
import { develop } from "./dev-application.ts";

test("a built page finds modules and classes named like inherited properties", async ({ page }) => {
  const application = await createApplication();
  try {
    for (const [file, text] of Object.entries(prototypeNames)) await application.put(file, text);
    await application.put("seamline.json", { mode: "standalone", url: "http://127.0.0.1:0" });
    const [, url = ""] = await application.seamline(["start"]).says(/standalone at (\S+) /);
    await page.goto(url);
    await expect(page.locator("output")).toHaveText(shown);
    // With the manifest that the first visit cached.
    await page.reload();
    await expect(page.locator("output")).toHaveText(shown);
  } finally {
    await application.remove();
  }
});

test("a page in development finds modules and classes named like inherited properties", async ({
  page,
}) => {
  const run = await develop(prototypeNames);
  try {
    await page.goto(run.url);
    await expect(page.locator("output")).toHaveText(shown);
  } finally {
    await run.stop();
  }
});
