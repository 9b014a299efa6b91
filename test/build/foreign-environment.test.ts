// Server environments of frameworks that render pages. Procedures can't be called there yet, and
// imports of them fail with a message.

import { createBuilder, createServer, type InlineConfig } from "vite";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";

import { seamline } from "../../server/vite/vite-plugin.ts";
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
  'src/render.ts:2:23: the environment "ssr" imports src/shop/quote.ts, which has procedures: pages and other procedures can call them, ' +
  "but not code that renders pages on a server";
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
      "in middleware mode, for servers of the application's own",
      { server: { middlewareMode: true, ws: false, watch: null }, appType: "custom" },
    ],
    [
      "next to pages, as in frameworks",
      { server: { ws: false, watch: null, port: 0, host: "127.0.0.1" } },
    ],
  ])(
    "another server environment refuses an import of procedures, and names the import and an alternative: %s",
    async (_, more) => {
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
    },
  );

  it("a build with another server environment refuses such an import before it writes anything", async () => {
    const app = createFixture(files);
    const environments = {
      ssr: { build: { outDir: "dist/ssr", rolldownOptions: { input: "/src/entry-server.ts" } } },
    };
    const builder = await createBuilder(configOf(app, { environments }), null);
    const { ssr } = builder.environments;
    if (ssr === undefined) throw new Error("there is no environment ssr");
    await expect(builder.build(ssr)).rejects.toThrow(message);
  });

  it("a build accepts another server environment that imports no procedures", async () => {
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

  it("a framework that builds pages by itself gets an error at once", async () => {
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
      /vite\.config: this build has pages but no modules for Seamline's servers/,
    );
    expect(app.list(".").some((file) => file.startsWith("dist/assets"))).toBe(false);
  });

  it("vite build --ssr is left to Vite", async () => {
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
