// The process that runs mutants. It loads Vite, Vitest and all packages once, and evaluates the
// project's modules again for each mutant, with one text replaced in memory. So a mutant costs only
// its tests, not a start of Vitest.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createServerModuleRunner } from "vite";
import { transformer } from "../../scripts/typescript.mjs";
import { withProbes } from "./mutators.mjs";

/**
 * @typedef {{ path: string, text: string } | undefined} Replacement
 * @typedef {{ tests: string[], replacement?: Replacement, bail: boolean, isProbed?: boolean }} Order
 * @typedef {{ test: string, ms: number, errors: string[], loaded: string[], reached: string[] }} FileResult
 */

const root = join(import.meta.dirname, "../..");
const { runner: runnerPath, expectPath } = locate();
const testTimeout = 20_000;

// Stands in for Vitest's worker, where `vi` and `expect` look for their settings.
const state = {
  config: {
    root,
    expect: { poll: {} },
    snapshotOptions: { expand: false, updateSnapshot: "none" },
    fakeTimers: { loopLimit: 10_000, shouldClearNativeTimers: true },
  },
  filepath: "",
  environment: { name: "node" },
  ctx: { pool: "forks" },
  providedContext: {},
  evaluatedModules: { idToModuleMap: new Map(), getModuleById: () => undefined },
  resolvingModules: new Set(),
  onCleanup: () => {},
};
Object.assign(globalThis, { __vitest_worker__: state, __vitest_index__: {} });

const { startTests } = await import(runnerPath);
const { setState, GLOBAL_EXPECT } = await import(expectPath);
const { expect } = await import("vitest");

/** @type {Replacement} */
let replacement;
let isProbed = false;
const server = await transformer([
  {
    name: "mutants",
    enforce: "pre",
    load(id) {
      const path = id.split("?", 1)[0] ?? "";
      if (path === replacement?.path) return replacement.text;
      return isProbed &&
        path.startsWith(`${root}/`) &&
        /^(src|server|client)\/.*\.ts$/.test(path.slice(root.length + 1))
        ? withProbes(path.slice(root.length + 1), readFileSync(path, "utf8"))
        : undefined;
    },
  },
]);
const environment = server.environments.ssr;
const modules = createServerModuleRunner(environment, { hmr: false, sourcemapInterceptor: false });

/** @param {string} path */
function invalidate(path) {
  for (const module of environment.moduleGraph.getModulesByFile(path) ?? [])
    environment.moduleGraph.invalidateModule(module);
}

/**
 * @param {Order} order
 * @returns {Promise<FileResult[]>}
 */
async function run(order) {
  const changed = [replacement?.path, order.replacement?.path];
  ({ replacement, isProbed = false } = order);
  for (const path of changed) if (path !== undefined) invalidate(path);
  modules.clearCache();
  /** @type {FileResult[]} */
  const results = [];
  for (const test of order.tests) {
    const result = await runFile(test);
    results.push(result);
    if (order.bail && result.errors.length > 0) break;
  }
  return results;
}

/**
 * @param {string} test
 * @returns {Promise<FileResult>}
 */
async function runFile(test) {
  const file = join(root, test);
  state.filepath = file;
  // Records what runs while modules load separately, as only the first file to import them loads
  // them.
  const loaded = new Set();
  const reached = new Set();
  Object.assign(globalThis, { $reached: (/** @type {string} */ name) => loaded.add(name) });
  const started = performance.now();
  /** @type {string[]} */
  const errors = [];
  const runner = {
    config: {
      root,
      setupFiles: [],
      name: "mutants",
      passWithNoTests: true,
      allowOnly: true,
      sequence: { seed: 1, hooks: "stack", setupFiles: "list", shuffle: false },
      chaiConfig: undefined,
      maxConcurrency: 5,
      testTimeout,
      hookTimeout: testTimeout,
      retry: 0,
      includeTaskLocation: false,
      tags: [],
      tagsFilter: undefined,
      strictTags: false,
    },
    pool: "forks",
    importFile: (/** @type {string} */ path) => modules.import(path),
    onCollected: () =>
      Object.assign(globalThis, { $reached: (/** @type {string} */ name) => reached.add(name) }),
    onBeforeTryTask: (/** @type {{ fullTestName?: string, name: string }} */ task) => {
      const names = { currentTestName: task.fullTestName ?? task.name, testPath: file };
      setState(
        {
          assertionCalls: 0,
          isExpectingAssertions: false,
          expectedAssertionsNumber: null,
          ...names,
        },
        /** @type {any} */ (globalThis)[GLOBAL_EXPECT],
      );
    },
    extendTaskContext: (/** @type {object} */ context) => Object.assign(context, { expect }),
    injectValue: () => undefined,
  };
  const collect = (/** @type {any} */ task) => {
    if (task.result?.state === "fail")
      errors.push(
        ...(task.result.errors ?? []).map(
          (/** @type {Error} */ error) => `${task.name}: ${error.message}`,
        ),
      );
    for (const child of task.tasks ?? []) collect(child);
  };
  try {
    (await startTests([file], runner)).forEach(collect);
  } catch (error) {
    errors.push(String(error));
  }
  return {
    test,
    ms: Math.round(performance.now() - started),
    errors,
    loaded: [...loaded],
    reached: [...reached],
  };
}

function locate() {
  // Loads Vitest's own copies: a second copy wouldn't know the tests declared with the first.
  const require = createRequire(createRequire(import.meta.url).resolve("vitest/package.json"));
  const folder = (/** @type {string} */ name) =>
    join(require.resolve(`${name}/package.json`), "../dist/index.js");
  return { runner: folder("@vitest/runner"), expectPath: folder("@vitest/expect") };
}

// Leftovers of a mutant must not end the process of the next one.
process.on("unhandledRejection", () => {});
process.on("uncaughtException", () => {});
process.on("message", async (/** @type {Order} */ order) => {
  process.send?.(await run(order));
});
// The parent process has ended.
process.on("disconnect", () => process.exit());
process.send?.("ready");
