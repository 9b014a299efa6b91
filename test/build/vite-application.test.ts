import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";

import { createBuilder, createLogger, createServer, type InlineConfig, preview } from "vite";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { type SeamlineOptions, seamline } from "../../server/vite/vite-plugin.ts";
import { findOutput } from "../../server/files/sources.ts";
import type { ServerManifest } from "../../src/base/manifest.ts";
import { type Fixture, createFixture, shop } from "./_fixture.ts";

// Like `vite build`: the plugin is only in the configuration.
async function viteBuild(app: Fixture, options: SeamlineOptions = {}, config = {}) {
  const builder = await createBuilder(
    {
      root: app.root,
      configFile: false,
      logLevel: "silent",
      plugins: [seamline(options)],
      ...config,
    },
    null,
  );
  await builder.buildApp();
}

describe("in an existing Vite application", () => {
  beforeEach(() => void vi.stubEnv("VITEST", undefined));
  afterEach(() => void vi.unstubAllEnvs());

  it("vite build writes the browser's part to outDir and the server's to .seamline/server", async () => {
    const app = createFixture(shop);
    await viteBuild(app, {}, { build: { outDir: "public-html" } });
    expect(app.list("public-html").filter((file) => !file.startsWith("assets/"))).toEqual([
      "index.html",
    ]);
    expect(app.list(".seamline").filter((file) => !file.startsWith("server/modules/"))).toEqual([
      ".gitignore",
      "modules.d.ts",
      "server/contract.json",
      "server/kept.json",
      "server/manifest.browser.json",
      "server/manifest.json",
      "server/sizes.json",
    ]);
    expect(await findOutput(app.root, "public-html")).toEqual({
      browser: app.path("public-html"),
      server: app.path(".seamline/server"),
    });
    const manifest = JSON.parse(app.read(".seamline/server/manifest.json")) as {
      revision: string;
      browserSegments: string[];
    };
    expect(manifest.browserSegments).toEqual(["ui"]);
    expect(app.read("public-html/index.html")).toContain(manifest.revision);
  });

  it("vite build runs one build, though Vite creates a plugin for each environment", async () => {
    const app = createFixture({
      ...shop,
      "vite.config.js": "export default { plugins: [globalThis.seamlinePlugin()] };\n",
    });
    vi.stubGlobal("seamlinePlugin", seamline);
    const builder = await createBuilder({ root: app.root, logLevel: "silent" }, null);
    await builder.buildApp();
    vi.unstubAllGlobals();
    const manifest = JSON.parse(app.read(".seamline/server/manifest.json")) as ServerManifest;
    for (const file of Object.keys(manifest.files))
      expect(app.list(".seamline")).toContain(`server/modules/${file}`);
    expect(app.list(".seamline").filter((file) => !file.startsWith("server/"))).toEqual([
      ".gitignore",
      "modules.d.ts",
    ]);
    expect(Object.keys(manifest.modules)).toContain("shop/quote");
  });

  it("vite build keeps the configuration's inputs, base and aliases", async () => {
    const app = createFixture({
      ...shop,
      "admin.html": '<!doctype html><script type="module" src="/src/admin.ts"></script>',
      "src/admin.ts": 'import { stock } from "@/shop/stock";\nconsole.log(stock);\n',
      "src/shop/quote.ts":
        'import { stock } from "@/shop/stock";\nexport async function quote(): Promise<number> {\n  return await stock("a");\n}\n',
    });
    const input = { main: app.path("index.html"), admin: app.path("admin.html") };
    await viteBuild(
      app,
      {},
      {
        base: "/app/",
        resolve: { alias: { "@": app.path("src") } },
        build: { rolldownOptions: { input, output: { entryFileNames: "js/[name]-[hash].js" } } },
      },
    );
    expect(app.list("dist").filter((file) => file.endsWith(".html"))).toEqual([
      "admin.html",
      "index.html",
    ]);
    expect(app.read("dist/admin.html")).toMatch(/src="\/app\/js\/admin-/);
    expect(app.read(".seamline/server/modules/shop/quote~body.js")).toMatch(/from "\.\/stock\.js"/);
    expect(
      Object.keys(JSON.parse(app.read(".seamline/server/manifest.browser.json")).modules as object),
    ).toContain("shop/stock");
  });

  it("vite build lists each file once, at its final path, with its size", async () => {
    const app = createFixture(shop);
    const lines: string[] = [];
    const info = (text: string) => void lines.push(...stripVTControlCharacters(text).split("\n"));
    await viteBuild(
      app,
      {},
      { logLevel: "info", customLogger: { ...createLogger("silent"), info } },
    );
    const told = lines.flatMap(
      (line) => /^(\S+\.(?:js|html)) +([\d.]+) kB/.exec(line)?.slice(1, 3) ?? [],
    );
    // Relative to the working directory, like Vite's own paths.
    const paths = told.filter((_, at) => at % 2 === 0).map((path) => relative(app.root, path));
    const written = ["dist", ".seamline/server/modules"].flatMap((folder) =>
      app.list(folder).map((file) => `${folder}/${file}`),
    );
    // The types of parameters are written after all that Vite writes.
    const bundled = written.filter((file) => !/\.map$|\/_seamline\//.test(file));
    expect(paths.toSorted()).toEqual(bundled.toSorted());
    const scripts = paths.filter((path) => path.endsWith(".js"));
    for (const path of scripts)
      expect(Number(told[paths.indexOf(path) * 2 + 1])).toBeCloseTo(
        app.read(path).length / 1000,
        1,
      );
    expect(lines.join("\n")).not.toContain(String(process.pid));
  });

  it("a failed vite build leaves the previous output as it is", async () => {
    const app = createFixture(shop);
    await viteBuild(app);
    const before = ["dist", ".seamline"].flatMap((folder) =>
      app.list(folder).map((file) => app.read(`${folder}/${file}`)),
    );
    app.write({ "src/shop/quote.ts": "export function quote(): void {}\n" });
    await expect(viteBuild(app)).rejects.toThrow(/quote\.ts:1/);
    app.write({
      "src/shop/quote.ts": shop["src/shop/quote.ts"] ?? "",
      "src/main.ts": 'import "node:fs";\n',
    });
    await expect(viteBuild(app, { browserSegments: ["ui"] })).rejects.toThrow(
      /exists on Node only/,
    );
    expect(
      ["dist", ".seamline"].flatMap((folder) =>
        app.list(folder).map((file) => app.read(`${folder}/${file}`)),
      ),
    ).toEqual(before);
  });

  it("vite build says in one line where it can't write", async () => {
    const app = createFixture({ ...shop, blocked: "" });
    await expect(viteBuild(app, {}, { build: { outDir: "blocked/dist" } })).rejects.toThrow(
      /^Can't write \S*blocked\S*: there is a file where a folder should be \(ENOTDIR\)\..*$/,
    );
  });

  it("seamline build takes the plugin's options from the configuration, and doesn't apply the plugin twice", async () => {
    const app = createFixture({
      ...shop,
      "vite.config.js":
        "export default { plugins: [globalThis.seamlinePlugin], build: { outDir: 'elsewhere', sourcemap: true } };\n",
    });
    vi.stubGlobal(
      "seamlinePlugin",
      seamline({ browserSegments: ["ui"], browserModules: ["shop/money"] }),
    );
    const { manifest } = await app.build();
    vi.unstubAllGlobals();
    expect(manifest.procedures).toHaveLength(3);
    expect(Object.keys(app.browserManifest().modules)).toContain("shop/money");
    expect(app.list("dist/browser").some((file) => file.endsWith(".map"))).toBe(true);
    expect(
      app
        .list(".")
        .some((file) => file.startsWith("elsewhere/") || file.startsWith(".seamline/server/")),
    ).toBe(false);
  });
});

describe("options of the plugin", () => {
  beforeEach(() => void vi.stubEnv("VITEST", undefined));
  afterEach(() => void vi.unstubAllEnvs());

  it.each<[object, RegExp]>([
    [
      { nodes: [] },
      /^seamline\(\) of the Vite configuration at nodes: expected an object, found an array$/,
    ],
    [{ nodes: { shop: "office" } }, /at nodes\.shop: expected a list of strings, found "office"/],
    [
      { browserSegment: ["ui"] },
      /at browserSegment: unknown option\n {2}→ Did you mean 'browserSegments'\?/,
    ],
    [{ browserSegments: "ui" }, /at browserSegments: expected a list of strings, found "ui"/],
    [
      { root: 1, test: true },
      /at root: expected the path of a folder\n\n.* at test: expected 'split'/,
    ],
  ])(
    "options of the plugin are checked like those of a configuration: %j",
    async (options, message) => {
      await expect(viteBuild(createFixture(shop), options as SeamlineOptions)).rejects.toThrow(
        message,
      );
    },
  );
});

describe("Vite's own servers", () => {
  beforeEach(() => void vi.stubEnv("VITEST", undefined));
  afterEach(() => void vi.unstubAllEnvs());

  const serve = async (server: object = {}) =>
    await createServer({
      root: createFixture(shop).root,
      configFile: false,
      logLevel: "silent",
      plugins: [seamline()],
      server,
    });

  it("a Vite server in middleware mode starts no deployment", async () => {
    const server = await serve({ middlewareMode: true, ws: false });
    await server.close();
  });

  it("vite preview without a build says that there is nothing to preview yet", async () => {
    const app = createFixture({ ...shop, "dist/index.html": "<!doctype html>" });
    const options: InlineConfig = {
      root: app.root,
      configFile: false,
      logLevel: "silent",
      plugins: [seamline()],
    };
    await expect(preview({ ...options, preview: { port: 0, host: "127.0.0.1" } })).rejects.toThrow(
      /nothing to preview.*'vite build'/s,
    );
  });

  it("vite preview serves the configuration's public globs like start does, and leaves built files to Vite", async () => {
    const app = createFixture({
      ...shop,
      "seamline.json": JSON.stringify({
        mode: "standalone",
        url: "http://127.0.0.1:0",
        assets: ["images/*", "data/**", "*.txt"],
      }),
      "src/images/tweed.svg": "<svg/>",
      "src/data/prices.csv": "sku;price",
      "src/data/index.html": "<!doctype html><title>Data</title>",
      "src/both.txt": "of the sources",
      "public/both.txt": "of the build",
    });
    await viteBuild(app);
    const options: InlineConfig = {
      root: app.root,
      configFile: false,
      logLevel: "silent",
      plugins: [seamline()],
    };
    const server = await preview({ ...options, preview: { port: 0, host: "127.0.0.1" } });
    try {
      const get = async (
        path: string,
        headers: Record<string, string> = {},
      ): Promise<unknown[]> => {
        const answer = await fetch(new URL(path, server.resolvedUrls?.local[0]), { headers });
        return [
          answer.status,
          answer.headers.get("content-type"),
          answer.headers.get("x-content-type-options"),
          await answer.text(),
        ];
      };
      // A browser that opens the file itself also accepts HTML.
      const svg = [200, "image/svg+xml", "nosniff", "<svg/>"];
      expect(await get("/images/tweed.svg?v=1", { accept: "text/html" })).toEqual(svg);
      expect((await get("/data/prices.csv", { range: "bytes=0-2" })).toSpliced(1, 1)).toEqual([
        206,
        "nosniff",
        "sku",
      ]);
      expect((await get("/data/")).at(-1)).toContain("<title>Data</title>");
      expect((await get("/both.txt")).at(-1)).toBe("of the build");
      expect((await get("/")).at(-1)).toContain("seamline-revision");
      // For a source and an unknown path Vite answers with its fallback page.
      for (const path of ["/shop/quote.ts", "/images/none.svg"])
        expect((await get(path)).at(2), path).toBe(null);
    } finally {
      await server.close();
    }
  });
});

describe("pages in which nothing calls startClient", () => {
  beforeEach(() => void vi.stubEnv("VITEST", undefined));
  afterEach(() => void vi.unstubAllEnvs());

  const { "src/ui/ui.segment.json": _, ...office } = shop;
  const main =
    'import { quote } from "./shop/quote.js";\ndocument.body.textContent = String((await quote("chair", 2)).amount);\n';
  const scripts = (app: Fixture) =>
    app
      .list("dist")
      .filter((file) => file.endsWith(".js"))
      .map((file) => app.read(`dist/${file}`));
  const started = /startClient/;

  it("pages in which nothing calls startClient start the client, without an inline script", async () => {
    const config = "export default { plugins: [globalThis.seamlinePlugin()] };\n";
    const app = createFixture({ ...office, "src/main.ts": main, "vite.config.js": config });
    vi.stubGlobal("seamlinePlugin", seamline);
    // From a file, since Vite then uses one plugin instance for pages and another for the build.
    const builder = await createBuilder({ root: app.root, logLevel: "silent" }, null);
    await builder.buildApp();
    vi.unstubAllGlobals();
    expect(scripts(app).filter((text) => started.test(text))).toHaveLength(1);
    expect(app.read("dist/index.html")).not.toMatch(
      /<script(?! type="application\/json")[^>]*>[^<]/,
    );
  });

  it("pages don't start the client if code or a component does, or if no procedure is called", async () => {
    const app = createFixture({
      ...office,
      "src/main.ts": 'document.body.textContent = "no calls";\n',
    });
    await viteBuild(app);
    expect(scripts(app).some((text) => started.test(text))).toBe(false);
    const component = `<script>\nimport { startClient } from "seamline/client";\nexport default { created: () => startClient("ui") };\n</script>\n`;
    const vue = {
      name: "vue",
      transform: (code: string, id: string) =>
        id.endsWith(".vue") ? code.replace(/<\/?script>/g, "") : undefined,
    };
    app.write({
      ...shop,
      "src/app.vue": component,
      "src/main.ts": `import app from "./app.vue";\napp.created();\n${main}`,
    });
    await viteBuild(app, {}, { plugins: [seamline(), vue] });
    expect(scripts(app).filter((text) => started.test(text))).toHaveLength(1);
    expect(scripts(app).join("\n")).not.toMatch(/startClient\(\)/);
    expect(
      (JSON.parse(app.read(".seamline/server/manifest.json")) as ServerManifest).browserSegments,
    ).toEqual(["ui"]);
  });
});

describe("under Vitest", () => {
  const load = async (options: SeamlineOptions) => {
    const app = createFixture(shop);
    const builder = await createBuilder(
      {
        root: app.root,
        configFile: false,
        logLevel: "silent",
        plugins: [seamline(options)],
        build: {
          write: false,
          minify: false,
          rolldownOptions: { external: /^(?:seamline|node:|\/svc\/)/ },
        },
      },
      null,
    );
    const client = builder.environments["client"];
    if (client === undefined) throw new Error("there is no client environment");
    const output = await builder.build(client);
    return JSON.stringify(output);
  };

  it("nothing is split under Vitest, so unit tests call functions directly", async () => {
    expect(await load({})).toContain("readFileSync");
  });

  it("modules are split under Vitest with the option test: split", async () => {
    expect(await load({ test: "split" })).not.toContain("readFileSync");
  });
});
