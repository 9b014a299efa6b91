import { existsSync } from "node:fs";
import { join } from "node:path";

import { createServer } from "vite";
import { afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";

import { seamline } from "../../server/vite/vite-plugin.ts";
import { createFixture, shop } from "../build/_fixture.ts";
import { buildPackage, createApplication } from "../process/_application.ts";
import { anyPort, applicationOf, start } from "./_started.ts";

beforeAll(() => buildPackage());
afterEach(() => void vi.unstubAllEnvs());

const greet = {
  "src/greet.ts": "export async function greet(name: string) { return `Hello, ${name}`; }\n",
  "greet.segment.json": '{ "./greet": { "greet": { "access": "public" } } }',
};
const standalone = { mode: "standalone", url: anyPort };
const get = async (url: string) => {
  const answer = await fetch(url);
  return {
    status: answer.status,
    headers: Object.fromEntries(answer.headers),
    text: await answer.text(),
  };
};

describe("the application folder", () => {
  const gateway = { mode: "gateway", url: anyPort };

  it("a missing 'index' is reported at start (folders-7)", async () => {
    const application = applicationOf({ ...greet, "src/page.html": "<p>here" });
    await application.build();
    const without = await start(application, { ...standalone, index: "no-page.html" });
    await application.build({ index: "page.html" });
    const server = await start(application, { ...standalone, index: "page.html" });
    const indexWarnings = (lines: readonly string[]): readonly string[] =>
      lines.filter((line) => line.includes("'index'"));
    expect(indexWarnings(without.lines)).toEqual([
      `warning: 'index': there is no "no-page.html", in ./src or in the application folder: / answers 404`,
    ]);
    expect((await get(`${without.url}/`)).status).toBe(404);
    expect([indexWarnings(server.lines), (await get(`${server.url}/`)).text]).toEqual([
      [],
      expect.stringContaining("<p>here"),
    ]);
  });

  it("folders-1: the application folder is the working directory", async () => {
    const application = await createApplication();
    onTestFinished(() => application.remove());
    await application.put("seamline.json", gateway);
    await application.seamline(["start"]).says(/gateway at http/);
    expect(existsSync(join(application.root, ".seamline/key"))).toBe(true);
  });

  it("folders-2: --root names another application folder, for start and for build", async () => {
    const application = await createApplication();
    onTestFinished(() => application.remove());
    await application.put("inner/seamline.json", gateway);
    for (const [path, text] of Object.entries(greet)) await application.put(`inner/${path}`, text);
    await application.seamline(["start", "--root", "inner"]).says(/gateway at http/);
    expect(
      [".seamline/key", "inner/.seamline/key"].map((path) =>
        existsSync(join(application.root, path)),
      ),
    ).toEqual([false, true]);
    const build = application.seamline(["build", "--root", "inner"]);
    expect(await build.ended(), build.output()).toBe(0);
    expect(existsSync(join(application.root, "inner/dist/server/manifest.json"))).toBe(true);
  });

  it("folders-3: every path of the command line and of the configuration is relative to the application folder", async () => {
    const application = await createApplication();
    onTestFinished(() => application.remove());
    // The configuration is in another folder, and its paths aren't relative to that.
    await application.put("inner/config/one.json", {
      ...standalone,
      source: "./code",
      output: "./built",
      cache: "./kept",
      healthChecks: { ready: "./checks/ready.mjs" },
    });
    await application.put(
      "inner/checks/ready.mjs",
      "export default { isHealthy: async () => true };",
    );
    await application.put("inner/code/greet.ts", greet["src/greet.ts"]);
    await application.put("inner/greet.segment.json", greet["greet.segment.json"]);
    const command = application.seamline([
      "start",
      "--root",
      "inner",
      "--config",
      "config/one.json",
      "--build",
    ]);
    const [, url = ""] = await command.says(/standalone at (http:\S+)/);
    expect((await get(`${url}/rpc/greet?name=Ada`)).text).toBe("Hello, Ada");
    expect((await get(`${url}/health`)).text).toBe('{"ready":true}');
    expect(
      ["built/server/manifest.json", "kept/store"].filter((path) =>
        existsSync(join(application.root, "inner", path)),
      ),
    ).toHaveLength(2);
  });
});

describe("segment files", () => {
  const entry = (name: string): string => `{ "./${name}": { "${name}": { "access": "public" } } }`;
  const sources = Object.fromEntries(
    ["one", "two", "three", "four", "five", "six"].map((name) => [
      `src/${name}.ts`,
      `export async function ${name}() { return 1; }\n`,
    ]),
  );

  it("folders-4: segment files may lie anywhere in the application folder", async () => {
    const fixture = createFixture({
      ...sources,
      "one.segment.json": entry("one"),
      "src/deep/er/two.segment.json": entry("two"),
      "segments/three.segment.json": entry("three"),
    });
    const { manifest } = await fixture.build();
    expect(Object.keys(manifest.segments).toSorted()).toEqual(["one", "three", "two"]);
  });

  it("folders-5: segment files in node_modules, the output, and folders that begin with a dot are ignored", async () => {
    const fixture = createFixture({
      ...sources,
      "one.segment.json": entry("one"),
      "node_modules/p/two.segment.json": entry("two"),
      "src/node_modules/three.segment.json": entry("three"),
      "built/four.segment.json": entry("four"),
      ".hidden/five.segment.json": entry("five"),
      "src/.hidden/six.segment.json": entry("six"),
    });
    const { manifest } = await fixture.build({ output: "built" });
    expect(Object.keys(manifest.segments)).toEqual(["one"]);
  });
});

describe("pages and assets", () => {
  const page = (script: string, title = "Page"): string =>
    `<!doctype html><title>${title}</title><script type="module" src="${script}"></script>`;

  it("folders-6: globs for assets are relative to the source folder", async () => {
    const application = applicationOf({
      ...greet,
      "src/pictures/a.txt": "in the sources",
      "pictures/b.txt": "beside them",
    });
    const { url } = await start(application, {
      ...standalone,
      assets: ["pictures/*", "src/pictures/*"],
    });
    expect((await get(`${url}/pictures/a.txt`)).text).toBe("in the sources");
    for (const path of ["/pictures/b.txt", "/src/pictures/a.txt"])
      expect((await get(url + path)).status).toBe(404);
  });

  it("folders-7: the index is searched in the source folder, then in the application folder", async () => {
    const files = {
      ...greet,
      "src/start.html": page("./page.ts", "In the sources"),
      "start.html": page("/src/page.ts", "Beside them, in the application folder"),
      "src/page.ts": "document.title;",
    };
    const both = await start(applicationOf(files), { ...standalone, index: "start.html" });
    expect((await get(`${both.url}/`)).text).toContain("In the sources");
    const { "src/start.html": _, ...rest } = files;
    const outside = await start(applicationOf(rest), { ...standalone, index: "start.html" });
    expect((await get(`${outside.url}/`)).text).toContain("Beside them");
  });

  it("folders-8: the index, and what Vite's configuration names as inputs, are pages, served in built form", async () => {
    const application = applicationOf({
      ...greet,
      "index.html": page("/src/page.ts"),
      "admin.html": page("/src/page.ts", "Admin"),
      "src/page.ts": "document.title = 'built';",
      "vite.config.js":
        "export default { build: { rolldownOptions: { input: { main: 'index.html', admin: 'admin.html' } } } };\n",
    });
    const { url } = await start(application, standalone);
    for (const path of ["/", "/index.html", "/admin.html"]) {
      const { status, text } = await get(url + path);
      expect(
        [status, /src="\/assets\/[\w-]+\.js"/.test(text), text.includes("page.ts")],
        path,
      ).toEqual([200, true, false]);
    }
  });

  it("folders-9: what the build of pages writes is public without any glob", async () => {
    const application = applicationOf({
      ...greet,
      "index.html": page("/src/page.ts"),
      "src/page.ts": "document.title = 'built';",
      "public/copied.txt": "copied",
    });
    const { url } = await start(application, standalone);
    const [, script = ""] = /src="(\/assets\/[\w-]+\.js)"/.exec((await get(`${url}/`)).text) ?? [];
    expect(await get(url + script)).toMatchObject({
      status: 200,
      headers: { "cache-control": "public, max-age=31536000, immutable" },
    });
    expect((await get(`${url}/copied.txt`)).text).toBe("copied");
    expect((await get(`${url}/src/page.ts`)).status).toBe(404);
  });

  it("folders-10: any other .html is an asset like any other, served as it is", async () => {
    const text = page("./page.ts", "As it is");
    const application = applicationOf({
      ...greet,
      "index.html": page("/src/page.ts"),
      "src/page.ts": "1;",
      "src/plain.html": text,
      "src/closed.html": text,
    });
    const { url } = await start(application, { ...standalone, assets: ["plain.html"] });
    expect(await get(`${url}/plain.html`)).toMatchObject({
      status: 200,
      text,
      headers: { "content-type": "text/html; charset=utf-8" },
    });
    expect((await get(`${url}/closed.html`)).status).toBe(404);
  });

  it("folders-11: imports of /svc/ stay as they are, in a build and in Vite's development server", async () => {
    const main = 'import { startClient } from "/svc/client.js";\nawait startClient();\n';
    const fixture = createFixture({ ...shop, "src/main.ts": main });
    await fixture.build({ browserSegments: ["ui"] });
    const built = fixture
      .list("dist/browser/assets")
      .map((name) => fixture.read(`dist/browser/assets/${name}`));
    expect(built.some((text) => /from\s*"\/svc\/client\.js"/.test(text))).toBe(true);
    vi.stubEnv("VITEST", undefined);
    const server = await createServer({
      root: fixture.root,
      configFile: false,
      logLevel: "silent",
      plugins: [seamline({ browserSegments: ["ui"] })],
      server: { middlewareMode: true, ws: false, watch: null },
      optimizeDeps: { noDiscovery: true },
    });
    onTestFinished(() => server.close());
    const served = await server.environments.client.transformRequest("/src/main.ts");
    expect(served?.code).toMatch(/from "\/svc\/client\.js"/);
  });

  it("folders-12: / always returns the index, without a glob, also for a page without a script", async () => {
    const application = applicationOf({ ...greet, "src/index.html": "<p>plain" });
    const { url } = await start(application, standalone);
    expect(await get(`${url}/`)).toMatchObject({
      status: 200,
      text: expect.stringContaining("<p>plain") as string,
    });
  });

  it("folders-13: all responses for assets, refusals too, have nosniff", async () => {
    const application = applicationOf({
      ...greet,
      "src/index.html": "<p>plain",
      "src/a.txt": "text",
    });
    const { url } = await start(application, { ...standalone, assets: ["*.txt"] });
    for (const [path, init] of [
      ["/", {}],
      ["/a.txt", {}],
      ["/a.txt", { method: "HEAD" }],
      ["/a.txt", { method: "POST" }],
      ["/a.txt", { headers: { range: "bytes=90-" } }],
      ["/a.txt", { headers: { range: "bytes=0-1" } }],
      ["/a.txt", { headers: { "if-none-match": "*" } }],
      ["/none.txt", {}],
      ["/%", {}],
      ["/svc/client.js", {}],
      ["/svc/none.js", {}],
    ] as const)
      expect((await fetch(url + path, init)).headers.get("x-content-type-options"), path).toBe(
        "nosniff",
      );
  });

  it("an application without pages and assets answers 404 to / (folders-12)", async () => {
    const { url } = await start(applicationOf(greet), standalone);
    expect((await get(`${url}/`)).status).toBe(404);
  });
});
