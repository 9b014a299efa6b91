// A bundler that writes more than one output of the pages, and outputs that no page of ours can use.

import { describe, expect, it } from "vitest";

import { anyPort, applicationOf, start } from "../spec/_started.ts";
import { createFixture, type Files, shop } from "./_fixture.ts";
import { checkApplication } from "../../server/report/check.ts";

const configured = (options: string, plugins = "[]"): Files => ({
  ...shop,
  "vite.config.js": `export default { plugins: ${plugins}, build: { rolldownOptions: { output: ${options} } } };\n`,
});

const two = `[
  { entryFileNames: "first/[name]-[hash].js", chunkFileNames: "first/[name]-[hash].js" },
  { entryFileNames: "second/[name]-[hash].js", chunkFileNames: "second/[name]-[hash].js" },
]`;

/** A plugin that does to the configuration what `@vitejs/plugin-legacy` 8 does. */
const legacy = (renders: boolean): string => `[{
  name: "vite:legacy-post-process",
  enforce: "post",
  apply: "build",
  configResolved(config) {
    if (!${renders}) return;
    const { rolldownOptions } = config.build;
    const named = { ...rolldownOptions.output, format: "esm", entryFileNames: "[name]-legacy-[hash].js" };
    rolldownOptions.output = [named, rolldownOptions.output ?? {}];
    config.isOutputOptionsForLegacyChunks = () => true;
  },
}]`;

describe("several outputs of the bundler", () => {
  it("all files of all outputs are public, and pages and manifest name those of the last", async () => {
    const application = applicationOf(configured(two));
    const { warnings } = await application.build();
    expect(warnings).toEqual([]);
    const files = application.list("dist/browser").filter((file) => file.endsWith(".js"));
    expect(files.some((file) => file.startsWith("first/"))).toBe(true);
    const page = application.read("dist/browser/index.html");
    expect(page).toMatch(/src="\/second\/index-/);
    const { modules, files: named } = application.browserManifest();
    for (const { file, body } of Object.values(modules))
      for (const name of [file, ...(body === undefined ? [] : [body])])
        expect(name).toMatch(/^second\//);
    for (const name of Object.keys(named)) expect(files).toContain(name);
    const { url } = await start(application, { mode: "standalone", url: anyPort });
    for (const file of files) expect((await fetch(`${url}/${file}`)).status).toBe(200);
    expect(
      JSON.parse(application.read("dist/server/kept.json")).builds[0].files.toSorted(),
    ).toEqual(files);
  });

  it("an output in another folder is left alone", async () => {
    const application = createFixture(
      configured(
        '[{}, { dir: import.meta.dirname + "/elsewhere", entryFileNames: "other/[name].js" }]',
      ),
    );
    await application.build();
    expect(application.read("dist/browser/index.html")).toMatch(/src="\/assets\/index-/);
    expect(application.list("elsewhere").length).toBeGreaterThan(0);
    for (const name of Object.keys(application.browserManifest().files))
      expect(application.list("dist/browser")).toContain(name);
  });

  it("each output has unminified names of exports, which the manifest needs", async () => {
    const application = createFixture(configured(two));
    await application.build();
    const { modules } = application.browserManifest();
    expect(application.read(`dist/browser/${modules["shop/quote"]?.file}`)).toMatch(/as quote\b/);
  });
});

describe("outputs that aren't modules", () => {
  it.each<[options: string, plugins: string, message: RegExp, hint: RegExp]>([
    ["{}", legacy(true), /@vitejs\/plugin-legacy/, /renderLegacyChunks: false/],
    ['{ format: "iife" }', "[]", /build\.rolldownOptions\.output\.format is "iife"/, /"es"/],
    ['[{}, { format: "cjs" }]', "[]", /build\.rolldownOptions\.output\.format is "cjs"/, /"es"/],
  ])("are refused by build and check: %s %s", async (options, plugins, message, hint) => {
    const application = createFixture(configured(options, plugins));
    const [problem, ...others] = await application.problems();
    expect(problem?.message).toMatch(message);
    expect(problem?.hint).toMatch(hint);
    expect(others).toEqual([]);
    const { problems } = await checkApplication({
      root: application.root,
      env: {},
      log: { info: () => {}, warn: () => {}, error: () => {} },
    });
    expect(problems.map((found) => found.message)).toEqual([problem?.message]);
  });

  it("the same plugin without such an output builds", async () => {
    await createFixture(configured("{}", legacy(false))).build();
  });
});
