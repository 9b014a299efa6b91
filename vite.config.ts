// Two things live here, as both are Vite's: how the package is bundled (scripts/build.mjs runs it), and how tests run.
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, dirname, relative } from "node:path";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

// Packages that stay imports of the application's own copy. Everything else is bundled: few files start faster, and a
// production install has one dependency.
const external: (string | RegExp)[] = ["vite", "vite/module-runner", /^node:/];

/**
 * The files that pages load, each bundled by itself, so that it has nothing that only another one needs. `client.js` and `hooks.js`
 * are names of the specification; a page fetches `remote.js` beside them, and each other file when it first needs it.
 * scripts/build.mjs moves them below a hash.
 */
const pageFiles: Readonly<Record<string, { file: string; entry: string }>> = {
  client: { file: "svc/client.js", entry: "client/client.ts" },
  hooks: { file: "svc/hooks.js", entry: "client/hooks.ts" },
  remote: { file: "svc/remote.js", entry: "client/remote.ts" },
  codec: { file: "svc/codec.js", entry: "client/codec.ts" },
  superjson: { file: "svc/superjson.js", entry: "src/codec/superjson/superjson.ts" },
  rare: { file: "svc/rare.js", entry: "client/rare.ts" },
  stream: { file: "svc/stream.js", entry: "client/stream.ts" },
  plain: { file: "svc/plain.js", entry: "client/plain.ts" },
  // `seamline/client`, and `seamline` in a browser: names of /svc/client.js.
  packageClient: { file: "client.js", entry: "client/index.ts" },
  packageBrowser: { file: "browser.js", entry: "client/seamline.ts" },
};

/** A page has these once, whichever of its files needs them: errors for `instanceof`, and marks on them. `client.js` exports them. */
const onceInPage = [
  "base/context",
  "base/errors",
  "base/ports",
  "base/trace",
  "base/version",
  "codec/values/snapshot",
];

/** An import of another file of a page becomes one of its address. */
const otherPageFiles: Plugin = {
  name: "other-page-files",
  enforce: "pre",
  applyToEnvironment: ({ name }) => name in pageFiles,
  async resolveId(source, importer) {
    const own = this.environment.name;
    const found = importer && (await this.resolve(source, importer, { skipSelf: true }));
    if (!found) return undefined;
    const path = relative(import.meta.dirname, found.id);
    const isOnce = onceInPage.some((module) => path === `src/${module}.ts`);
    const [name] = isOnce
      ? ["client"]
      : (Object.entries(pageFiles).find(([, { entry }]) => entry === path) ?? [own]);
    if (name === own) return undefined;
    const id = relative(dirname(pageFiles[own]!.file), pageFiles[name]!.file);
    return { id: `./${id}`, external: "absolute" };
  },
};

/** A file that browsers get as it is. */
function browserFile(file: string, entry: string) {
  return {
    // For a client, Vite would wrap the import of another of these files into its own preloader, as big as one of them.
    consumer: "server" as const,
    resolve: { conditions: ["browser", "module"], noExternal: true as const },
    build: {
      outDir: ".build",
      target: "es2022",
      minify: "oxc" as const,
      license: { fileName: `licenses.${file.replaceAll(/\W/g, "_")}.json` },
      rolldownOptions: {
        input: entry,
        platform: "browser" as const,
        preserveEntrySignatures: "strict" as const,
        output: { format: "es" as const, entryFileNames: file, codeSplitting: false },
      },
    },
  };
}

/** A build without the console's folder has no console, and everything else. */
const hasConsole = existsSync(new URL("console", import.meta.url));

/** The console's page: one script, one style sheet, and what stands beside them as it is. */
const consolePage: Plugin = {
  name: "console-page",
  applyToEnvironment: ({ name }) => name === "console",
  generateBundle() {
    for (const file of ["console/page/index.html", "client/look/icon.svg"])
      this.emitFile({
        type: "asset",
        fileName: basename(file),
        source: readFileSync(new URL(file, import.meta.url)),
      });
  },
};

export default defineConfig({
  appType: "custom",
  logLevel: "warn",
  publicDir: false,
  plugins: [otherPageFiles, consolePage],
  build: { emptyOutDir: false, modulePreload: false, reportCompressedSize: false },
  environments: {
    node: {
      consumer: "server",
      // `ws` asks for optional packages of native code, which aren't installed.
      define: {
        "process.env.WS_NO_BUFFER_UTIL": "'yes'",
        "process.env.WS_NO_UTF_8_VALIDATE": "'yes'",
      },
      resolve: { noExternal: true, external: ["vite"] },
      build: {
        outDir: ".build",
        target: "node20.19",
        minify: false,
        sourcemap: true,
        license: { fileName: "licenses.node.json" },
        rolldownOptions: {
          input: {
            main: "server/main.ts",
            server: "server/index.ts",
            internal: "src/internal.ts",
            // Empty: for an import that a compiler leaves where all that it names are types.
            types: "src/types/constraints.ts",
            vite: "server/vite/index.ts",
            cli: "server/cli/cli.ts",
            testing: "server/testing/index.ts",
            // The thread that reads types.
            "types-worker": "server/types/worker.ts",
          },
          external,
          preserveEntrySignatures: "strict",
          output: {
            format: "es",
            entryFileNames: "[name].js",
            chunkFileNames: "chunks/[name].js",
            // A file costs a start as much as 10 KB of code, so all that any start imports is in one.
            codeSplitting: {
              groups: [{ name: "service", test: /[\\/]server[\\/]cli[\\/]start\.ts$/ }],
            },
            // Documentation is in the declarations, and a fifth of what a start would read.
            comments: { jsdoc: false },
            minifyInternalExports: false,
          },
        },
      },
    },
    // For browsers as well, so it shares nothing with what Node runs. msw is the user's own.
    msw: {
      consumer: "server",
      resolve: { conditions: ["browser", "module"], noExternal: true, external: ["msw"] },
      build: {
        outDir: ".build",
        target: "es2022",
        minify: false,
        license: { fileName: "licenses.msw.json" },
        rolldownOptions: {
          input: { "testing-msw": "client/testing/msw.ts" },
          external: ["msw"],
          preserveEntrySignatures: "strict",
          output: { format: "es", entryFileNames: "[name].js", codeSplitting: false },
        },
      },
    },
    ...Object.fromEntries(
      Object.entries(pageFiles).map(([name, { file, entry }]) => [name, browserFile(file, entry)]),
    ),
    // Served by `seamline dev` alone.
    page: browserFile("development/page.js", "client/development/page.ts"),
    console: {
      consumer: "client",
      build: {
        outDir: ".build/svc/console",
        target: "es2022",
        // The first ones that know `light-dark()`: what is written for older ones is longer, and has no colours for script to read.
        cssTarget: ["chrome123", "firefox120", "safari17.5"],
        minify: "oxc",
        license: { fileName: "licenses.console.json" },
        rolldownOptions: {
          input: { console: "console/page/main.ts", style: "console/page/console.css" },
          output: { format: "es", entryFileNames: "[name].js", assetFileNames: "console[extname]" },
        },
      },
    },
  },
  builder: {
    async buildApp(builder) {
      const all = ["node", "msw", ...Object.keys(pageFiles), "page"];
      for (const name of hasConsole ? [...all, "console"] : all)
        await builder.build(builder.environments[name]!);
    },
  },
  test: {
    // They only bound a failure: some tests start processes, and a machine may be busy with something else.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    // Many tests wait for processes and timers: with a worker for each core, a third of the machine is idle. A
    // percentage would never be more than that.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    // Nothing, unless SEAMLINE_WAY is `websocket`.
    setupFiles: "test/_web-sockets-only.mjs",
    // As on a terminal, in services of the tests' own process too.
    env: { SEAMLINE_LOG: "text" },
    // `npm run coverage`: of the core, as the rest is also run in processes and browsers that aren't counted.
    coverage: { include: ["src/**/*.ts"], reporter: ["text", "text-summary"] },
    // Vitest begins them in the order of their names.
    projects: [
      // Their own process: they change what a process has once (timers, mocks of modules, the Response of an adapter), or measure it.
      { extends: true, test: { name: "alone", include: ["test/**/*.alone.test.ts"] } },
      // Waits most of the time, so it begins beside others that keep the cores busy.
      { extends: true, test: { name: "chaos", include: ["test/chaos/**/*.test.ts"] } },
      {
        extends: true,
        test: {
          name: "docs",
          include: ["test/{docs,starters}/**/*.test.ts"],
          globalSetup: "test/docs/_build.ts",
        },
      },
      // All others share processes, so that each doesn't load the code again.
      {
        extends: true,
        test: {
          name: "shared",
          isolate: false,
          include: ["test/**/*.test.ts"],
          exclude: ["test/**/*.alone.test.ts", "test/{chaos,docs,starters}/**"],
        },
      },
    ],
  },
});
