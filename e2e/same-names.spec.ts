// Modules and pages of one file name in several folders, as a browser has them: built by `seamline build`, served by `seamline start`.

import { expect, type Page, test } from "@playwright/test";

import { type Application, buildPackage, createApplication } from "../test/process/_application.ts";

const folders = ["cart", "people"];

/** What a page of a folder shows: what its own procedures gave, the one of the page and the one of the server. */
const scriptOf = (one: string, other: string): string => `
import { startClient } from "seamline/client";
import { here, there } from "../${one}/index.ts";
import { Model } from "../${one}/model.ts";
import { there as elsewhere } from "../${other}/index.ts";
const client = await startClient("ui");
const { Model: Imported } = await client.import("./${one}/model.js");
const values = [await here(), await there(), await elsewhere()];
document.querySelector("output")!.textContent = [...values.map((one) => one.text), values[1] instanceof Model, Imported === Model].join(", ");
`;

let application: Application;
let url: string;
test.beforeAll(async () => {
  buildPackage();
  application = await createApplication();
  for (const [one, other] of [folders, [...folders].reverse()] as [string, string][]) {
    const html = `<!doctype html><title>${one}</title><output></output><script type="module" src="/src/pages/${one}.ts"></script>`;
    await application.put(`${one}/index.html`, html);
    await application.put(`src/pages/${one}.ts`, scriptOf(one, other));
    await application.put(
      `src/${one}/model.ts`,
      "export class Model {\n  constructor(readonly text: string) {}\n}\n",
    );
    await application.put(
      `src/${one}/index.ts`,
      `import { Model } from "./model.ts";\nexport async function here() {\n  return new Model("${one} in the page");\n}\nexport async function there() {\n  return new Model("${one} on the server");\n}\n`,
    );
  }
  const entry = (name: string) =>
    Object.fromEntries(folders.map((one) => [`./${one}/index`, { [name]: { access: "public" } }]));
  await application.put("ui.segment.json", entry("here"));
  await application.put("server.segment.json", entry("there"));
  await application.put(
    "vite.config.js",
    `export default { build: { rolldownOptions: { input: ["cart/index.html", "people/index.html"] } } };\n`,
  );
  await application.put("seamline.json", { mode: "standalone", url: "http://127.0.0.1:0" });
  const built = application.seamline(["build"]);
  expect(await built.ended(), built.output()).toBe(0);
  [, url = ""] = await application
    .seamline(["start", "--no-build"])
    .says(/standalone at (http:\S+)/);
});
test.afterAll(async () => await application.remove());

async function shown(page: Page, path: string): Promise<string | null> {
  await page.goto(url + path);
  await expect(page.locator("output")).not.toBeEmpty();
  return await page.locator("output").textContent();
}

for (const [one, other] of [folders, [...folders].reverse()] as [string, string][])
  test(`${one}/index.html has its own script, procedures and classes`, async ({ page }) => {
    expect(await shown(page, `/${one}/`)).toBe(
      `${one} in the page, ${one} on the server, ${other} on the server, true, true`,
    );
  });

test("a folder without a page of its own has none", async ({ request }) => {
  expect((await request.get(`${url}/`)).status()).toBe(404);
});
