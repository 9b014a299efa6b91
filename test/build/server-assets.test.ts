import { pathToFileURL } from "node:url";

import { describe, expect, it } from "vitest";

import { createFixture, type Files, type Fixture, shop } from "./_fixture.ts";

/** Imports a built module as a server does: works if the build is complete. */
async function load(app: Fixture, file: string): Promise<Record<string, unknown>> {
  return (await import(pathToFileURL(app.path(`dist/server/modules/${file}`)).href)) as Record<
    string,
    unknown
  >;
}

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNg".repeat(200);

const styles: Files = {
  "src/shop/style.css": 'body { background: url("./big.png") }\n',
  "src/shop/style.module.css": ".box { color: red }\n",
  "src/shop/big.png": png,
};

describe("style sheets and other assets of modules that servers load", () => {
  it.each<[string, string]>([
    ["a style sheet", 'import "./style.css";'],
    ["a css module", 'import styles from "./style.module.css";\nconsole.assert(styles.box);'],
    ["an image by its address", 'import image from "./big.png";\nconsole.assert(image);'],
    ["a font by its address", 'import font from "./font.woff2?url";\nconsole.assert(font);'],
    [
      "a style sheet by its address",
      'import address from "./style.css?url";\nconsole.assert(address);',
    ],
    [
      "a file beside the module",
      'export const image = new URL("./big.png", import.meta.url).href;',
    ],
    ["a worker", 'import Worker from "./worker.ts?worker";\nconsole.assert(Worker);'],
    [
      "a worker by its address",
      'import worker from "./worker.ts?worker&url";\nconsole.assert(worker);',
    ],
    ["a style sheet later", 'export const later = async () => await import("./style.css");'],
    ["the text of a file", 'import text from "./style.css?raw";\nconsole.assert(text);'],
    ["the text of a style sheet", 'import text from "./style.css?inline";\nconsole.assert(text);'],
  ])("a server's module loads without the file that it imports for pages: %s", async (_, code) => {
    const app = createFixture({
      ...shop,
      "src/shop/stock.ts": `${code}\nexport async function stock(sku: string): Promise<number> {\n  return sku.length;\n}\n`,
      ...styles,
      "src/shop/font.woff2": png,
      "src/shop/worker.ts": "postMessage(1);\n",
    });
    await app.build();
    const { files } = app.manifest();
    const there = app.list("dist/server/modules");
    for (const [file, { imports }] of Object.entries(files)) {
      expect(there).toContain(file);
      for (const one of imports) expect(Object.keys(files)).toContain(one);
    }
    expect(await load(app, "shop/stock~body.js")).toBeDefined();
  });

  it("a page gets the style sheet of a module that it shares with servers", async () => {
    const app = createFixture({
      ...shop,
      ...styles,
      "src/main.ts":
        'import { box } from "./shop/look.ts";\nimport { stock } from "./shop/stock.ts";\nconsole.log(box, await stock("a"));\n',
      "src/shop/look.ts":
        'import styles from "./style.module.css";\nimport "./style.css";\nexport const box = styles["box"];\n',
      "src/shop/stock.ts":
        'import { box } from "./look.ts";\nexport async function stock(sku: string): Promise<string> {\n  return sku + box;\n}\n',
    });
    await app.build();
    const sheets = app.list("dist/browser").filter((file) => file.endsWith(".css"));
    expect(sheets).toHaveLength(1);
    expect(app.read(`dist/browser/${sheets[0]}`)).toMatch(/red/);
    expect(app.read("dist/browser/index.html")).toContain(sheets[0]);
    // The class has the same name on both sides, so the style sheet applies to rendered markup.
    const { box } = (await load(app, "shop/look.js")) as { box: string };
    expect(app.read(`dist/browser/${sheets[0]}`)).toContain(`.${box}`);
  });
});
