// Server environments of others, as frameworks have that render pages there: procedures can't be called from them yet, and they say so.

import { createBuilder, createServer, type InlineConfig } from "vite";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";

import { seamline } from "../../server/build/vite-plugin.ts";
import { type Fixture, createFixture, shop } from "./_fixture.ts";

beforeEach(() => void vi.stubEnv("VITEST", undefined));
afterEach(() => void vi.unstubAllEnvs());

const files = {
  ...shop,
  "src/entry-server.ts": 'import { page } from "./render.ts";\nexport const render = page;\n',
  "src/render.ts":
    'import { NotFound } from "seamline";\nimport { quote } from "./shop/quote.ts";\nexport const page = async () => [NotFound, quote];\n',
  "src/plain.ts": 'import { NotFound } from "seamline";\nexport const error = NotFound;\n',
  "node_modules/seamline/index.js":
    "export class NotFound extends Error {}\nexport const createGraph = () => ({});\n",
};
const message =
  'src/render.ts:2:23: the environment "ssr" imports src/shop/quote.ts, which has procedures: they can be called from pages and from other procedures, ' +
  "but not from where a server renders pages";
const hint = /→ Call the service over HTTP there: fetch\("http:\/\/…\/rpc\/shop\/quote"\)/;

const configOf = (app: Fixture, more: InlineConfig = {}): InlineConfig => ({
  root: app.root,
  configFile: false,
  logLevel: "silent",
  plugins: [seamline()],
  resolve: { alias: { $lib: app.path("src") } },
  ...more,
});

describe("a server environment that isn't Seamline's", () => {
  it.each<[string, InlineConfig]>([
    [
      "in middleware mode, as servers of one's own use Vite",
      { server: { middlewareMode: true, ws: false, watch: null }, appType: "custom" },
    ],
    [
      "beside pages, as frameworks have it",
      { server: { ws: false, watch: null, port: 0, host: "127.0.0.1" } },
    ],
  ])("refuses modules with procedures, naming the import and a way out: %s", async (_, more) => {
    const app = createFixture(files);
    const server = await createServer(configOf(app, more));
    onTestFinished(async () => await server.close());
    if (server.httpServer !== null) await server.listen();
    for (let time = 0; time < 2; time++) {
      const error: unknown = await server
        .ssrLoadModule("/src/entry-server.ts")
        .catch((thrown: unknown) => thrown);
      expect((error as Error).message).toContain(message);
      expect((error as Error).message).toMatch(hint);
      expect((error as Error).stack).not.toMatch(/^\s+at /m);
    }
    expect(Object.keys(await server.ssrLoadModule("/src/plain.ts"))).toEqual(["error"]);
  });

  it("refuses them in a build, before anything is written", async () => {
    const app = createFixture(files);
    const environments = {
      ssr: { build: { outDir: "dist/ssr", rolldownOptions: { input: "/src/entry-server.ts" } } },
    };
    const builder = await createBuilder(configOf(app, { environments }), null);
    const { ssr } = builder.environments;
    if (ssr === undefined) throw new Error("there is no environment ssr");
    await expect(builder.build(ssr)).rejects.toThrow(message);
  });

  it("is left alone in a build, where it imports none", async () => {
    const app = createFixture(files);
    const environments = {
      ssr: { build: { outDir: "dist/ssr", rolldownOptions: { input: "/src/plain.ts" } } },
    };
    const builder = await createBuilder(configOf(app, { environments }), null);
    await builder.buildApp();
    const { ssr } = builder.environments;
    if (ssr !== undefined) await builder.build(ssr);
    expect(app.list("dist").some((file) => file.startsWith("ssr/"))).toBe(true);
    expect(app.list("dist")).toContain("index.html");
  });

  it("whose framework builds pages by itself is told at once", async () => {
    const app = createFixture(files);
    const framework = {
      name: "framework",
      config: {
        order: "pre" as const,
        handler: () => ({ build: { ssr: app.path("src/plain.ts") } }),
      },
    };
    const server = await createBuilder(configOf(app, { plugins: [seamline(), framework] }), null);
    await server.buildApp();
    const pages = await createBuilder(configOf(app), true);
    await expect(pages.buildApp()).rejects.toThrow(
      /vite\.config: pages are built here without the modules of Seamline's servers/,
    );
    expect(app.list(".").some((file) => file.startsWith("dist/assets"))).toBe(false);
  });

  it("that is asked for by vite build --ssr is built by Vite", async () => {
    const app = createFixture(files);
    const builder = await createBuilder(
      configOf(app, { build: { ssr: "src/plain.ts", outDir: "dist/ssr" } }),
      null,
    );
    await builder.buildApp();
    expect(app.list("dist")).toEqual(["ssr/plain.js"]);
    const refused = await createBuilder(
      configOf(app, { build: { ssr: "src/entry-server.ts", outDir: "dist/ssr" } }),
      null,
    );
    await expect(refused.buildApp()).rejects.toThrow(message);
  });
});
