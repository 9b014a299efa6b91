// Pages that reach procedures in ways that no reading of their sources can follow. Nothing in them
// calls startClient.

import { test } from "@playwright/test";
import { buildPackage } from "../test/process/_application.ts";
import { commands, expectShown } from "./_page.ts";

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

const files = {
  "segments/shop.segment.json": {
    "./shop/price": { price: { access: "public" }, cost: { access: "private" } },
  },
  "src/shop/price.ts":
    "export const cost = async (): Promise<number> => 30;\nexport const price = async (metres: number): Promise<number> => metres * (await cost());\n",
  "vite.config.js": autoImport,
};

test.beforeAll(() => buildPackage());

for (const [way, main] of Object.entries(pages))
  for (const command of commands)
    test(`a page that reaches procedures only by ${way} is started by itself: ${command}`, async ({
      page,
    }) => {
      await expectShown(page, command, { ...files, "src/main.ts": main }, "60");
    });
