// Pages that reach procedures in ways that no reading of their sources can follow. Nothing in them
// calls startClient.

import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { type Application, buildPackage, createApplication } from "../test/process/_application.ts";

const packageRoot = join(import.meta.dirname, "..");

const show = 'document.querySelector("output")!.textContent =';
const pages = {
  "a computed import": `const name = location.hash.slice(1) || "price";
${show} await (await import(\`./shop/\${name}.ts\`)).price(2).catch(String);
export {};
`,
  "a glob": `const modules = import.meta.glob<{ price(metres: number): Promise<number> }>("./shop/*.ts");
${show} String(await (await modules["./shop/price.ts"]!()).price(2).catch(String));
export {};
`,
  "an import that a plugin writes": `// @ts-nocheck
${show} await price(2).catch(String);
export {};
`,
};

/** As `unplugin-auto-import` does: only what is compiled has the import. */
const autoImport = `export default {
  plugins: [{
    name: "auto-import",
    enforce: "post",
    transform: (code, id) =>
      id.endsWith("/src/main.ts") && /(?<!\\.)\\bprice\\(/.test(code)
        ? \`import { price } from "/src/shop/price.ts";\\n\${code}\`
        : undefined,
  }],
};
`;

async function created(main: string): Promise<Application> {
  const application = await createApplication();
  await application.put("segments/shop.segment.json", {
    "./shop/price": { price: { access: "public" }, cost: { access: "private" } },
  });
  await application.put(
    "src/shop/price.ts",
    "export const cost = async (): Promise<number> => 30;\nexport const price = async (metres: number): Promise<number> => metres * (await cost());\n",
  );
  await application.put(
    "index.html",
    '<!doctype html><title>Prices</title><output></output><script type="module" src="/src/main.ts"></script>',
  );
  await application.put("src/main.ts", main);
  await application.put("vite.config.js", autoImport);
  await application.put("seamline.json", { mode: "standalone", url: "http://127.0.0.1:0" });
  await symlink(
    join(packageRoot, "node_modules/vite"),
    join(application.root, "node_modules/vite"),
    "junction",
  );
  return application;
}

test.beforeAll(() => buildPackage());

for (const [way, main] of Object.entries(pages))
  for (const command of ["start", "dev"] as const)
    test(`a page that reaches procedures only by ${way} is started by itself: ${command}`, async ({
      page,
    }) => {
      const application = await created(main);
      try {
        const service = application.seamline(
          command === "start" ? ["start", "--build"] : ["dev", "--port", "0"],
        );
        const [, url = ""] = await service.says(
          /(http:\/\/127\.0\.0\.1:\d+|http:\/\/localhost:\d+)/,
        );
        await page.goto(url);
        await expect(page.locator("output")).toHaveText("60");
      } finally {
        await application.remove();
      }
    });
