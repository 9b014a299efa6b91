// Configuration objects and the options of the plugin.

import {
  type ConfigInput,
  defineConfig,
  type Server,
  type ServerInfo,
  startServer,
} from "seamline/server";
import { seamline, type SeamlineOptions } from "seamline/vite";
import { describe, expectTypeOf, it } from "vitest";

const url = "http://127.0.0.1:3000";

describe("defineConfig", () => {
  it("knows the keys of each mode", () => {
    expectTypeOf(defineConfig({ mode: "standalone", url })).toEqualTypeOf<ConfigInput>();
    defineConfig({
      mode: "standalone",
      url,
      assets: ["images/**"],
      segments: ["office"],
      limits: { bodyBytes: 1024 },
      log: "warn",
    });
    defineConfig({
      mode: "node",
      url,
      repository: url,
      segments: ["office"],
      gateway: url,
      name: "one",
    });
    defineConfig({
      mode: "gateway",
      url,
      healthIntervalMs: 1_000,
      drainMs: 30_000,
      healthChecks: { database: "./src/database.ts" },
    });
    defineConfig({
      mode: "repository",
      url,
      browserSegments: ["ui"],
      middleware: ["./src/log.ts"],
    });
    defineConfig({
      mode: "proxy",
      url,
      repository: url,
      node: url,
      tls: { cert: "./cert.pem", key: "./key.pem" },
    });
  });

  it("refuses keys that the mode doesn't have", () => {
    // @ts-expect-error a gateway loads no segments
    defineConfig({ mode: "gateway", url, segments: ["office"] });
    // @ts-expect-error a node needs its repository
    defineConfig({ mode: "node", url, segments: ["office"] });
    // @ts-expect-error there is no such mode
    defineConfig({ mode: "server", url });
    // @ts-expect-error the address is missing
    defineConfig({ mode: "standalone" });
    // @ts-expect-error a misspelt key
    defineConfig({ mode: "standalone", url, asset: [] });
    // @ts-expect-error a misspelt limit
    defineConfig({ mode: "standalone", url, limits: { bodies: 1 } });
    // @ts-expect-error there is no such level
    defineConfig({ mode: "standalone", url, log: "debug" });
    // @ts-expect-error one segment is a list as well
    defineConfig({ mode: "node", url, repository: url, segments: "office" });
  });

  it("returns a configuration for startServer, which also takes a path and parsed JSON", async () => {
    const importer = (specifier: string): Promise<Record<string, unknown>> =>
      import(specifier) as Promise<Record<string, unknown>>;
    await startServer(importer, { config: defineConfig({ mode: "standalone", url }) });
    await startServer(importer, { config: "./seamline.json" });
    await startServer(importer, { config: JSON.parse("{}") as object });
    // @ts-expect-error a number isn't a configuration
    await startServer(importer, { config: 1 });
    await startServer();
    await startServer(undefined, { config: "./seamline.json" });
    // @ts-expect-error the importer is missing
    await startServer({ config: "./seamline.json" });
  });
});

describe("Server.info", () => {
  it("has the fields of its mode", () => {
    const { info, mode } = {} as Server;
    expectTypeOf(mode).toEqualTypeOf<ServerInfo["mode"]>();
    if (info.mode === "gateway") {
      expectTypeOf(info.members).toEqualTypeOf<readonly string[]>();
      // @ts-expect-error a gateway has no segments
      void info.segments;
    }
    if (info.mode === "node" || info.mode === "standalone") {
      expectTypeOf(info.segments).toEqualTypeOf<readonly string[]>();
      expectTypeOf(info.procedures).toEqualTypeOf<number>();
    }
    if (info.mode === "proxy") expectTypeOf(info.repository).toEqualTypeOf<string>();
    expectTypeOf(info.url).toEqualTypeOf<string>();
    // @ts-expect-error it says nothing of keys
    void info.trustKey;
  });
});

describe("seamline(…), the plugin", () => {
  it("knows its options", () => {
    seamline();
    seamline({
      browserSegments: ["ui"],
      browserModules: ["shop/**"],
      source: "./app",
      index: "page.html",
      root: ".",
      test: "split",
    });
    expectTypeOf<SeamlineOptions["browserSegments"]>().toEqualTypeOf<
      readonly string[] | undefined
    >();
    // @ts-expect-error a misspelt option
    seamline({ client: ["ui"] });
    // @ts-expect-error it is split, or it isn't
    seamline({ test: true });
  });
});
