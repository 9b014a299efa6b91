// Other parts of Vite's configuration: an application that uses much of it at once, in a folder of a monorepo.

import { readFile } from "node:fs/promises";

import { type Browser, chromium } from "playwright";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { createCertificates } from "../_certificates.ts";
import { type Application, createApplication } from "../docs/_application.ts";
import { openVite } from "./_vite.ts";

const files = {
  // CommonJS, as older applications are: Vite reads such a configuration by its extension.
  "apps/shop/package.json": '{ "name": "shop", "private": true }\n',
  "apps/shop/vite.shop.config.mts": `import { readFileSync } from "node:fs";
import { seamline } from "seamline/vite";
import { defineConfig } from "vite";

const https = { cert: readFileSync("certificates/cert.pem"), key: readFileSync("certificates/key.pem") };

export default defineConfig(({ mode }) => ({
  base: "/shop/",
  plugins: [seamline()],
  resolve: { alias: { "@": \`\${import.meta.dirname}/src\` } },
  define: { __MODE__: JSON.stringify(mode) },
  server: { https, proxy: { "/api": "http://127.0.0.1:1" } },
  preview: { https },
  build: { outDir: "../../public/shop", emptyOutDir: true },
}));
`,
  "apps/shop/.env": "VITE_TITLE=Shop\nCLOTH=tweed\n",
  "apps/shop/index.html":
    '<!doctype html><link rel="icon" href="data:," /><h1></h1><output>…</output><script type="module" src="/src/main.ts"></script>\n',
  "apps/shop/office.segment.json": '{ "./quote": { "quote": { "access": "public" } } }\n',
  "apps/shop/src/quote.ts":
    'import { price } from "@/prices";\n\nexport async function quote(cloth: string): Promise<string> {\n  return `${__MODE__} ${price(cloth)}`;\n}\n',
  "apps/shop/src/prices.ts": "export const price = (cloth: string): number => cloth.length * 7;\n",
  "apps/shop/src/global.d.ts": "declare const __MODE__: string;\n",
  "apps/shop/src/main.ts": `import { quote } from "@/quote";

document.querySelector("h1")!.textContent = import.meta.env.VITE_TITLE;
document.querySelector("output")!.textContent = await quote("tweed");
`,
  "apps/shop/seamline.json":
    '{ "mode": "standalone", "url": "http://127.0.0.1:3000", "middleware": ["./src/shout.ts"] }\n',
  "apps/shop/src/shout.ts": `export default {
  async handle(_fqn: string, _version: unknown, _args: unknown, _headers: unknown, next: () => Promise<unknown>) {
    return \`\${await next()}!\`;
  },
};
`,
};

describe("base, aliases, env files, a proxy, https, a configuration of another name, CommonJS, a monorepo", () => {
  let app: Application;
  let browser: Browser;

  beforeAll(async () => {
    if (inject("missing") !== "") throw new Error(inject("missing"));
    app = await createApplication();
    for (const [path, text] of Object.entries(files)) await app.write(path, text);
    browser = await chromium.connect(inject("chromium"));
  });

  afterAll(async () => {
    await browser?.close();
    await app?.remove();
  });

  it("stay what they are in a build, a preview and in development", async () => {
    const { cert, key } = createCertificates().sign("localhost", { hosts: "DNS:localhost" });
    await app.write("apps/shop/certificates/cert.pem", await readFile(cert, "utf8"));
    await app.write("apps/shop/certificates/key.pem", await readFile(key, "utf8"));
    const vite = (command: string) =>
      `cd apps/shop && npx vite ${command} --config vite.shop.config.mts`;

    expect(await app.run(`${vite("build")} --logLevel warn`)).toEqual({ code: 0, output: "" });
    for (const [command, mode] of [
      ["preview", "production"],
      ["dev", "development"],
    ] as const) {
      const { service, page, url, faults } = await openVite(
        app,
        browser,
        vite(command),
        "https://localhost",
        "/shop/",
      );
      await page.getByText(`${mode} 35!`).waitFor();
      await page.getByRole("heading", { name: "Shop" }).waitFor();
      expect(faults).toEqual([]);
      expect(
        await page.evaluate(
          async (address) => await (await fetch(address)).text(),
          `${url}/rpc/quote?cloth=silk`,
        ),
      ).toBe(`${mode} 28!`);
      await page.close();
      await service.stop();
    }
  }, 180_000);
});
