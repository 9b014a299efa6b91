// Modules and pages with the same file name in several folders, built by `seamline build` and
// served by `seamline start`.

import { expect, type Page, test } from "@playwright/test";

import { type Application, buildPackage, createApplication } from "../test/process/_application.ts";

const folders = ["cart", "people"];

/** A folder's page shows the results of its procedures, one in the page and one on the server. */
const scriptOf = (folder: string, otherFolder: string): string => `
import { startClient } from "seamline/client";
import { here, there } from "../${folder}/index.ts";
import { Model } from "../${folder}/model.ts";
import { there as elsewhere } from "../${otherFolder}/index.ts";
const client = await startClient("ui");
const { Model: Imported } = await client.import("./${folder}/model.js");
const values = [await here(), await there(), await elsewhere()];
document.querySelector("output")!.textContent = [...values.map((value) => value.text), values[1] instanceof Model, Imported === Model].join(", ");
`;

let application: Application;
let url: string;
test.beforeAll(async () => {
  buildPackage();
  application = await createApplication();
  for (const [folder, otherFolder] of [folders, [...folders].reverse()] as [string, string][]) {
    const html = `<!doctype html><title>${folder}</title><output></output><script type="module" src="/src/pages/${folder}.ts"></script>`;
    await application.put(`${folder}/index.html`, html);
    await application.put(`src/pages/${folder}.ts`, scriptOf(folder, otherFolder));
    await application.put(
      `src/${folder}/model.ts`,
      "export class Model {\n  constructor(readonly text: string) {}\n}\n",
    );
    await application.put(
      `src/${folder}/index.ts`,
      `import { Model } from "./model.ts";\nexport async function here() {\n  return new Model("${folder} in the page");\n}\nexport async function there() {\n  return new Model("${folder} on the server");\n}\n`,
    );
  }
  const entry = (name: string) =>
    Object.fromEntries(
      folders.map((folder) => [`./${folder}/index`, { [name]: { access: "public" } }]),
    );
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

for (const [folder, otherFolder] of [folders, [...folders].reverse()] as [string, string][])
  test(`${folder}/index.html has its own script, procedures and classes`, async ({ page }) => {
    expect(await shown(page, `/${folder}/`)).toBe(
      `${folder} in the page, ${folder} on the server, ${otherFolder} on the server, true, true`,
    );
  });

test("a folder without a page answers 404", async ({ request }) => {
  expect((await request.get(`${url}/`)).status()).toBe(404);
});
