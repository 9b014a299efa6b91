// Procedures that browsers can't call, in a real page: calls reject, and no response reveals more
// than the page's own code names.

import { expect, type Page, test } from "@playwright/test";

import { closed, secretsIn, withMaps } from "../test/_closed.ts";
import { createApplication } from "../test/process/_application.ts";
import { develop } from "./dev-application.ts";

const main = `import { ProcedureNotFound, Unauthorized } from "seamline";
import { startClient } from "seamline/client";
import make, { price, s3cr3tRecount } from "./shop/stock.ts";
import * as all from "./shop/stock.ts";

const client = await startClient("ui");
const outcome = async (call: () => Promise<unknown>): Promise<string> =>
  await call().then(String, (error: Error) => \`\${error instanceof ProcedureNotFound} \${error instanceof Unauthorized} \${error.message}\`);
const loaded = (await client.import("./shop/stock.js")) as unknown as typeof all;
const texts = [
  await outcome(async () => await price("tweed")),
  await outcome(async () => await s3cr3tRecount("a")),
  await outcome(async () => await all.s3cr3tReserve("a", {})),
  await outcome(async () => await loaded["s3cr3tReserve"]("a", {})),
  await outcome(async () => await make("a")),
];
document.querySelector("output")!.textContent = texts.join(" | ");
`;
const shown = [
  "5",
  "false true Unauthorized",
  "true false Procedure 's3cr3tReserve' not found: pages can't call it",
  "true false Procedure 's3cr3tReserve' not found: pages can't call it",
  "true false Procedure not found: pages can't call it",
].join(" | ");

/** Collects the texts of all responses that the page gets. */
function responseTexts(page: Page): () => Promise<string> {
  const texts: Promise<string>[] = [];
  page.on("response", (response) => texts.push(response.text().catch(() => "")));
  return async () => (await Promise.all(texts)).map(withMaps).join("\n");
}

test("a built page's calls of closed procedures reject, and no response has their FQNs or parameters", async ({
  page,
}) => {
  const application = await createApplication();
  try {
    for (const [file, text] of Object.entries({ ...closed, "src/main.ts": main }))
      await application.put(file, text);
    await application.put("seamline.json", { mode: "standalone", url: "http://127.0.0.1:0" });
    const [, url = ""] = await application.seamline(["start"]).says(/standalone at (\S+) /);
    const texts = responseTexts(page);
    await page.goto(url);
    await expect(page.locator("output")).toHaveText(shown);
    expect(secretsIn(await texts())).toEqual(["s3cr3tRecount", "s3cr3tReserve"]);
  } finally {
    await application.remove();
  }
});

test("in development calls of closed procedures reject too, until their access becomes public", async ({
  page,
}) => {
  const run = await develop({ ...closed, "src/main.ts": main });
  try {
    const texts = responseTexts(page);
    await page.goto(run.url);
    await expect(page.locator("output")).toHaveText(shown);
    expect(secretsIn(await texts())).toEqual(["s3cr3tRecount", "s3cr3tReserve"]);
    run.edit(
      "segments/s3cr3t-shop.segment.json",
      '"s3cr3tReserve":{"access":"private"}',
      '"s3cr3tReserve":{"access":"public"}',
    );
    await expect(page.locator("output")).toContainText("Unauthorized | 2 | 2 |");
    run.edit(
      "segments/s3cr3t-shop.segment.json",
      '"s3cr3tReserve":{"access":"public"}',
      '"s3cr3tReserve":{"access":"private"}',
    );
    await expect(page.locator("output")).toHaveText(shown);
  } finally {
    await run.stop();
  }
});
