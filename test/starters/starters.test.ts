// Vite's own React and Vue starters, as `npm create vite` lays them out: one plugin and one segment file are all that is added, besides
// the call of a procedure in a component. Their own commands then do what they did.

import { readdirSync } from "node:fs";
import { cp, readFile } from "node:fs/promises";
import { join, relative } from "node:path";

import { type Browser, chromium } from "playwright";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { type Application, createApplication } from "../docs/_application.ts";
import { root } from "../_sources.ts";
import { type Change, editFile, type Opened, openVite, until } from "./_vite.ts";

interface Starter {
  readonly name: "react" | "vue";
  /** Its `build` command. */
  readonly build: string;
  /** The edits that a user types: file → the text that is replaced, and the new one. */
  readonly edits: Readonly<Record<string, readonly Change[]>>;
  readonly component: string;
}

const plugin = [
  [
    "import { defineConfig } from 'vite'\n",
    "import { seamline } from 'seamline/vite'\nimport { defineConfig } from 'vite'\n",
  ],
] as const;

const starters: readonly Starter[] = [
  {
    name: "react",
    build: "tsc -b && vite build --logLevel warn",
    component: "src/App.tsx",
    edits: {
      "vite.config.ts": [...plugin, ["[react()]", "[react(), seamline()]"]],
      "src/App.tsx": [
        ["import './App.css'\n", "import './App.css'\nimport { quote } from './shop/quote.ts'\n"],
        ["useState(0)\n", "useState(0)\n  const [price, setPrice] = useState<number>()\n"],
        [
          "    </>\n",
          "      <button type=\"button\" onClick={async () => setPrice(await quote('tweed', 2))}>\n        Quote\n      </button>\n      <output>{price}</output>\n    </>\n",
        ],
      ],
    },
  },
  {
    name: "vue",
    build: "vue-tsc -b && vite build --logLevel warn",
    component: "src/components/HelloWorld.vue",
    edits: {
      "vite.config.ts": [...plugin, ["[vue()]", "[vue(), seamline()]"]],
      "src/components/HelloWorld.vue": [
        [
          "import logo from '../assets/logo.svg'\n",
          "import logo from '../assets/logo.svg'\nimport { quote } from '../shop/quote.ts'\n",
        ],
        ["ref(0)\n", "ref(0)\nconst price = ref<number>()\n"],
        [
          "</button>\n",
          '</button>\n  <button type="button" @click="async () => (price = await quote(\'tweed\', 2))">Quote</button>\n  <output>{{ price }}</output>\n',
        ],
      ],
    },
  },
];

const added = {
  "office.segment.json": '{ "./shop/quote": { "quote": { "access": "public" } } }\n',
  "src/shop/quote.ts": `import { margin } from './margin.ts'

const cost = new Map([['tweed', 31.5]])

export async function quote(cloth: string, metres = 1): Promise<number> {
  return (cost.get(cloth) ?? 0) * margin * metres
}
`,
  "src/shop/margin.ts": "export const margin = 1.25\n",
};

describe.each(starters)("the $name starter of Vite", ({ name, build, edits, component }) => {
  let app: Application;
  let browser: Browser;

  beforeAll(async () => {
    if (inject("missing") !== "") throw new Error(inject("missing"));
    app = await createApplication();
    await cp(join(root, "test/starters/fixtures", name), app.root, { recursive: true });
    for (const [path, text] of Object.entries(added)) await app.write(path, text);
    for (const [path, changes] of Object.entries(edits)) await edit(path, ...changes);
    browser = await chromium.connect(inject("chromium"));
  });

  afterAll(async () => {
    await browser?.close();
    await app?.remove();
  });

  const read = async (path: string): Promise<string> =>
    await readFile(join(app.root, path), "utf8");
  const edit = async (path: string, ...changes: readonly Change[]): Promise<void> =>
    await editFile(app, path, changes);
  const open = async (command: string): Promise<Opened> =>
    await openVite(app, browser, `npx vite ${command} --host 127.0.0.1`, "http://127.0.0.1");

  it("builds with its own command, and its pages hold nothing of the server's", async () => {
    const { code, output } = await app.run(build);
    expect(output).toBe("");
    expect(code).toBe(0);
    const built = filesOf(join(app.root, "dist"));
    expect(built).toContain("index.html");
    expect(built).toContain("favicon.svg");
    for (const file of built)
      expect(await read(join("dist", file)), file).not.toMatch(/31\.5|1\.25/);
    expect(await read(".seamline/server/modules/shop/quote~body.js")).toContain("31.5");
  }, 180_000);

  it("is previewed with its calls answered", async () => {
    const { service, page, url, faults } = await open("preview");
    await page.getByRole("button", { name: "Count" }).click();
    await page.getByText("Count is 1").waitFor();
    await page.getByRole("button", { name: "Quote" }).click();
    await page.getByText("78.75").waitFor();
    expect(await (await fetch(`${url}/rpc/shop/quote?cloth=tweed`)).text()).toBe("39.375");
    expect(await (await fetch(`${url}/health`)).json()).toEqual({});
    // Addresses of pages stay Vite's: a single page takes whatever no file has.
    expect(
      await (await fetch(`${url}/anything`, { headers: { accept: "text/html" } })).text(),
    ).toContain('<div id="');
    expect(faults).toEqual([]);
    await page.close();
    await service.stop();
  }, 180_000);

  it("is developed with its own command: components keep their state, procedures are replaced", async () => {
    const { service, page, faults } = await open("");
    await page.getByRole("button", { name: "Count" }).click();
    await page.getByRole("button", { name: "Count" }).click();
    await page.getByText("Count is 2").waitFor();
    await page.getByRole("button", { name: "Quote" }).click();
    await page.getByText("78.75").waitFor();
    await page.evaluate(() => Object.assign(globalThis, { sameDocument: true }));

    await edit(component, ["Welcome", "Welcome back"]);
    await page.getByText("Welcome back").waitFor();
    await page.getByText("Count is 2").waitFor();

    await edit("src/shop/quote.ts", ["31.5", "40"]);
    await until(async () => {
      await page.getByRole("button", { name: "Quote" }).click();
      return (await page.locator("output").textContent()) === "100";
    });
    await page.getByText("Count is 2").waitFor();
    expect(await page.evaluate(() => "sameDocument" in globalThis)).toBe(true);
    expect(faults).toEqual([]);
    await page.close();
    await service.stop();
  }, 180_000);
});

function filesOf(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}
