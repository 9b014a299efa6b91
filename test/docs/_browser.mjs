// For the `js test` blocks of a page: `await openPage("http://127.0.0.1:3000/")` gives a page of Playwright in Chromium.
// JavaScript, as these blocks run under Node and not under Vitest.

/** @type {import("playwright").Browser | undefined} */
let browser;

/**
 * An uncaught error in the page is one of the test.
 * @param {string} address
 * @returns {Promise<import("playwright").Page>}
 */
export async function openPage(address) {
  // Here, as many blocks open no page, and Playwright takes a second to load.
  const { chromium } = await import("playwright");
  browser ??= await chromium.connect(process.env["DOCS_CHROMIUM"] ?? "");
  const page = await browser.newPage();
  page.setDefaultTimeout(20_000);
  page.on("pageerror", (error) => {
    throw error;
  });
  await page.goto(address);
  return page;
}

/** Closes what `openPage` has opened. */
export async function closePages() {
  await browser?.close();
}
