// A user's steps in the shop, and where the page says its calls ran.

import { expect as expectation, type Page } from "@playwright/test";

/** With a longer timeout, as a test run keeps a small machine busy. */
export const expect: typeof expectation = expectation.configure({ timeout: 20_000 });

/** Procedure (`search`) → place (`node A`, `This browser`), as the page's strip shows them. */
export async function placesOf(page: Page): Promise<Record<string, string>> {
  return await page.evaluate(() => {
    const places: Record<string, string> = {};
    for (const lane of document.querySelectorAll<HTMLElement>(".lane"))
      for (const code of lane.querySelectorAll("li code"))
        places[code.lastChild?.textContent ?? ""] = lane.dataset["place"] ?? "";
    return places;
  });
}

/** Waits until nothing is busy and every visible swatch is woven. */
export async function settled(page: Page): Promise<void> {
  await expect(page.locator("main")).not.toBeEmpty();
  await expect(page.locator('main [aria-busy="true"]')).toHaveCount(0);
  await page.waitForFunction(() =>
    [...document.querySelectorAll("main .swatch")].every((swatch) => {
      const { top } = swatch.getBoundingClientRect();
      return swatch.classList.contains("woven") || top > innerHeight + 300;
    }),
  );
  await page.waitForFunction(() =>
    [...document.querySelectorAll("main .stock")].every((stock) => stock.textContent.trim() !== ""),
  );
}

export async function search(page: Page, text: string): Promise<void> {
  await page.getByRole("searchbox").fill(text);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(`“${text}”`);
  await settled(page);
}

/** Opens a cloth and waits for its quote. */
export async function openCloth(page: Page, sku: string): Promise<void> {
  await page.goto(`${new URL(page.url()).origin}/#/cloth/${sku}`);
  await expect(page.locator("#quote .sum")).toBeVisible();
  await settled(page);
}

/** The page without what may differ between runs: the strip of places and the pictures' URLs. */
export async function shopDom(page: Page): Promise<string> {
  return await page.evaluate(() => {
    const copy = document.body.cloneNode(true) as HTMLElement;
    copy.querySelector("#places")?.remove();
    for (const script of copy.querySelectorAll("script, link")) script.remove();
    for (const image of copy.querySelectorAll("img")) image.removeAttribute("src");
    return copy.outerHTML;
  });
}
