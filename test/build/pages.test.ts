// Pages: the index and those in Vite's configuration, in any form that it allows. Each is built, and
// none is served as its source.

import { createBuilder, type InlineConfig, preview } from "vite";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";

import { buildApplication } from "../../server/vite/build.ts";
import { seamline } from "../../server/vite/vite-plugin.ts";
import { anyPort, applicationOf, start } from "../spec/_started.ts";
import { TestLog } from "../_cluster.ts";
import type { Files } from "./_fixture.ts";

beforeEach(() => void vi.stubEnv("VITEST", undefined));
afterEach(() => void vi.unstubAllEnvs());

const page = (name: string): string =>
  `<!doctype html><title>${name}</title><script type="module" src="/src/${name}.ts"></script>\n`;
const script = (name: string): string => `document.title = "script of ${name}";\n`;
const folders = ["admin", "shop"];
const pages: Files = {
  ...Object.fromEntries(
    folders.flatMap((one) => [
      [`${one}/index.html`, page(one)],
      [`src/${one}.ts`, script(one)],
    ]),
  ),
  "src/greet.ts": "export async function greet(name: string) { return `Hello, ${name}`; }\n",
  "greet.segment.json": '{ "./greet": { "greet": { "access": "public" } } }',
};
const root: Files = { "index.html": page("root"), "src/root.ts": script("root") };
const standalone = { mode: "standalone", url: anyPort };

/**
 * By path: the script of a page that is served in its built form, anything else that is served
 * there, or `undefined`.
 */
async function served(
  url: string,
  paths: readonly string[],
): Promise<Record<string, string | undefined>> {
  const found: Record<string, string | undefined> = {};
  for (const path of paths) {
    const answer = await fetch(url + path);
    const text = await answer.text();
    const [, source] = /<script[^>]*src="([^"]+)"/.exec(text) ?? [];
    const code =
      source === undefined ? text : await (await fetch(new URL(source, url + path))).text();
    found[path] =
      answer.status === 404
        ? undefined
        : (/script of (\w+)/.exec(source?.startsWith("/src/") ? "" : code)?.[1] ?? text);
  }
  return found;
}

const config = (text: string): Files => ({ "vite.config.js": `export default ${text};\n` });
const at = (key: string, input: unknown): Files =>
  config(`{ build: { ${key}: { input: ${JSON.stringify(input)} } } }`);
const both = ["admin/index.html", "shop/index.html"];

describe("entries of Vite's configuration", () => {
  const all = { "/admin/index.html": "admin", "/admin/": "admin", "/shop/index.html": "shop" };
  it.each<[string, Files, Record<string, string | undefined>]>([
    ["a list of files with one base name", at("rolldownOptions", both), all],
    ["a list under the older name", at("rollupOptions", both), all],
    [
      "a list in the environment",
      config(
        `{ environments: { client: { build: { rolldownOptions: { input: ${JSON.stringify(both)} } } } } }`,
      ),
      all,
    ],
    ["a list at the top level", config(`{ input: ${JSON.stringify(both)} }`), all],
    ["a list with a file twice", at("rolldownOptions", [...both, "./shop/index.html"]), all],
    [
      "addresses below Vite's root",
      at("rolldownOptions", ["/admin/index.html", "/shop/index.html"]),
      all,
    ],
    [
      "a single file with the index's name",
      at("rolldownOptions", "admin/index.html"),
      { "/admin/index.html": "admin", "/admin/": "admin" },
    ],
    [
      "an entry with the index's name",
      at("rolldownOptions", { index: "admin/index.html", _index: "shop/index.html" }),
      all,
    ],
    [
      "names with folders",
      at("rolldownOptions", { "admin/index": "admin/index.html", "shop/index": "shop/index.html" }),
      all,
    ],
    [
      "names that differ in characters that file names can't have",
      at("rolldownOptions", { "a:b": "admin/index.html", "a?b": "shop/index.html" }),
      all,
    ],
    [
      "names that differ in case",
      at("rolldownOptions", { Page: "admin/index.html", page: "shop/index.html" }),
      all,
    ],
    [
      "files that a plugin names",
      config(
        `{ plugins: [{ name: "pages", config: () => ({ build: { rolldownOptions: { input: ${JSON.stringify(both)} } } }) }] }`,
      ),
      all,
    ],
  ])(
    "entries of Vite's configuration are all built and served, with and without a page at /: %s",
    async (_, files, expected) => {
      for (const index of [root, {}]) {
        const application = applicationOf({ ...pages, ...index, ...files });
        await application.build();
        const server = await start(application, standalone);
        const found = await served(server.url, [...Object.keys(expected), "/", "/index.html"]);
        const name = "index.html" in index ? "root" : undefined;
        expect(found, `with ${Object.keys(index).join()}`).toEqual({
          ...expected,
          "/": name,
          "/index.html": name,
        });
      }
    },
  );

  it("entries that are modules keep their names next to pages", async () => {
    const files = at("rolldownOptions", { index: "src/admin.ts", "deep/shop": "src/shop.ts" });
    const application = applicationOf({ ...pages, ...root, ...files });
    await application.build();
    const names = application
      .list("dist/browser")
      .map((file) => file.replace(/-[\w-]{8}\.js$/, ".js"));
    expect(names).toEqual([
      "assets/_index.js",
      "assets/deep/shop.js",
      "assets/index.js",
      "index.html",
    ]);
  });

  it("entries that aren't files are left to the plugin that knows them", async () => {
    const plugin = `{ name: "made", resolveId: (id) => (id === "virtual:made" ? id : undefined), load: (id) => (id === "virtual:made" ? "console.log('made')" : undefined) }`;
    const application = applicationOf({
      ...pages,
      ...root,
      ...config(
        `{ plugins: [${plugin}], build: { rolldownOptions: { input: ["virtual:made", "admin/index.html"] } } }`,
      ),
    });
    await application.build();
    expect(application.list("dist/browser").filter((file) => file.endsWith(".html"))).toEqual([
      "admin/index.html",
      "index.html",
    ]);
    expect(
      application
        .list("dist/browser")
        .some((file) => application.read(`dist/browser/${file}`).includes("made")),
    ).toBe(true);
  });

  it("entries that don't exist fail the build, which names them", async () => {
    const application = applicationOf({
      ...pages,
      ...root,
      ...at("rolldownOptions", ["admin/index.html", "shopp/index.html"]),
    });
    await expect(buildApplication({ root: application.root, log: new TestLog() })).rejects.toThrow(
      /shopp\/index\.html/,
    );
  });

  it("entries in the source folder and outside it are built together", async () => {
    const application = applicationOf({
      ...pages,
      "src/index.html": page("root").replace("/src/", "./"),
      "src/root.ts": script("root"),
      ...at("rolldownOptions", ["admin/index.html", "src/index.html"]),
    });
    await application.build();
    const server = await start(application, standalone);
    expect(await served(server.url, ["/", "/admin/"])).toEqual({ "/": "root", "/admin/": "admin" });
  });
});

describe("the index", () => {
  it("the index is found in a source folder below Vite's own root", async () => {
    const application = applicationOf({
      "web/src/index.html": page("root").replace("/src/", "./"),
      "web/src/root.ts": script("root"),
      ...config(`{ root: "web" }`),
    });
    await application.build({ source: "web/src" });
    const server = await start(application, { ...standalone, source: "web/src" });
    expect(await served(server.url, ["/"])).toEqual({ "/": "root" });
  });

  it("an index that isn't in the build isn't served from its source, and the start warns of it", async () => {
    const application = applicationOf({ ...pages, "src/late.html": page("late") });
    await application.build();
    const told = (lines: readonly string[]) => lines.filter((line) => line.includes("'index'"));
    const named = await start(application, {
      ...standalone,
      index: "late.html",
      assets: ["*.txt"],
    });
    expect((await fetch(named.url)).status).toBe(404);
    const message = (name: string) =>
      `warning: 'index': the build has no page "${name}", so / answers 404. Run 'seamline build', or start with --build`;
    expect(told(named.lines)).toEqual([message("late.html")]);
    application.write({ "index.html": page("root") });
    const usual = await start(application, standalone);
    expect((await fetch(usual.url)).status).toBe(404);
    expect(told(usual.lines)).toEqual([message("index.html")]);
  });
});

describe("pages of the build and globs of 'assets'", () => {
  const files: Files = {
    ...pages,
    ...root,
    "src/admin/index.html": page("admin"),
    "src/plain.html": "<p>as it is",
    "seamline.json": JSON.stringify({ ...standalone, assets: ["**/*.html"] }),
    ...at("rolldownOptions", ["index.html", "src/admin/index.html"]),
  };
  const paths = ["/", "/src/admin/", "/admin/", "/admin/index.html", "/plain.html"];
  const expected = {
    "/": "root",
    "/src/admin/": "admin",
    "/admin/": undefined,
    "/admin/index.html": undefined,
    "/plain.html": "<p>as it is",
  };

  it("a service doesn't publish the source of a page, whatever 'assets' says", async () => {
    const application = applicationOf(files);
    await application.build();
    const { url } = await start(application, undefined);
    expect(await served(url, paths)).toEqual(expected);
  });

  it("vite preview doesn't publish the source of a page, whatever 'assets' says", async () => {
    const application = applicationOf(files);
    const options: InlineConfig = {
      root: application.root,
      logLevel: "silent",
      appType: "mpa",
      plugins: [seamline()],
    };
    await (await createBuilder(options, null)).buildApp();
    const server = await preview({
      ...options,
      preview: { port: 0, host: "127.0.0.1" },
    });
    onTestFinished(async () => await server.close());
    expect(await served(server.resolvedUrls?.local[0]?.replace(/\/$/, "") ?? "", paths)).toEqual(
      expected,
    );
  });
});
