import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ensureBuild, type EnsureBuildOptions } from "../../server/start/ensure-build.ts";
import type { BuildSettings } from "../../server/config/build-settings.ts";
import { hashSources } from "../../server/files/sources.ts";
import { type Application, buildPackage, createApplication } from "../process/_application.ts";

let root: string;
let lines: string[];
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "seamline-ensure-"));
  lines = [];
  await mkdir(join(root, "src"));
  await writeFile(join(root, "src/a.ts"), "export const a = 1;");
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function writeBuild(
  settings: Pick<BuildSettings, "root" | "source" | "output"> & {
    browserSegments?: BuildSettings["browserSegments"];
  },
): Promise<void> {
  await mkdir(join(settings.output, "server"), { recursive: true });
  const sources = await hashSources(settings.root, settings.source, settings.output);
  const lists = {
    procedures: [],
    classes: [],
    browserSegments: settings.browserSegments ?? [],
    segments: {},
    modules: { a: {} },
    imports: {},
    files: {},
  };
  await writeFile(
    join(settings.output, "server/manifest.json"),
    JSON.stringify({ format: 1, revision: "test", sources, ...lists }),
  );
  await writeFile(join(settings.output, "server/manifest.browser.json"), "{}");
}

const folders = () => ({ root, source: join(root, "src"), output: join(root, "dist") });
const ensure = (options: Partial<EnsureBuildOptions> = {}) =>
  ensureBuild({
    ...folders(),
    index: "index.html",
    log: {
      info: (line) => lines.push(line),
      warn: (line) => lines.push(`warning: ${line}`),
      error: (line) => lines.push(`error: ${line}`),
    },
    run: writeBuild,
    ...options,
  });

describe("a build at start", () => {
  it("a fresh build is used without a message", async () => {
    await writeBuild(folders());
    const run = vi.fn<(settings: BuildSettings) => Promise<void>>();
    expect((await ensure({ run })).output).toEqual({
      browser: join(root, "dist/browser"),
      server: join(root, "dist/server"),
    });
    expect(run).not.toHaveBeenCalled();
    expect(lines).toEqual([]);
  });

  it("a missing build is made with the configuration, and without its secrets", async () => {
    const run = vi.fn<(settings: BuildSettings) => Promise<void>>(writeBuild);
    const more = { trustKey: "a-secret-of-the-deployment" };
    await ensure({ run, browserSegments: ["ui"], ...more });
    expect(run.mock.calls).toEqual([
      [{ ...folders(), index: "index.html", browserSegments: ["ui"], browserModules: undefined }],
    ]);
    expect(lines).toEqual(["there is no build in ./dist yet: making one"]);
  });

  it("builds-2: a build whose manifest has another hash than the sources is a warning", async () => {
    await writeBuild(folders());
    await writeFile(join(root, "src/a.ts"), "export const a = 2;");
    await ensure();
    expect(lines).toEqual([
      "warning: the build in ./dist is older than the sources. Run 'seamline build', or start with --build",
    ]);
  });

  it("a build made for other 'browserSegments' than the configuration's is a warning, as the build decides what browsers may load (browser-segments-1)", async () => {
    await writeBuild(folders());
    await ensure({ browserSegments: ["ui"] });
    await ensure({ browserSegments: [] });
    expect(lines).toEqual([
      "warning: 'browserSegments' names ui, and the build in ./dist lets browsers load none. Run 'seamline build' with this configuration, or start with --build",
    ]);
  });

  it("a build is fresh again once the sources are what they were: contents count, not dates (builds-2)", async () => {
    await writeBuild(folders());
    await writeFile(join(root, "src/a.ts"), "export const a = 2;");
    await writeFile(join(root, "src/a.ts"), "export const a = 1;");
    await ensure();
    expect(lines).toEqual([]);
  });

  it("a build is not compared with sources if there are none", async () => {
    await writeBuild(folders());
    await rm(join(root, "src"), { recursive: true });
    await ensure();
    expect(lines).toEqual([]);
  });

  it("a build is not compared with a source folder that holds only assets", async () => {
    await writeFile(join(root, "src/tweed.svg"), "<svg/>");
    await writeBuild(folders());
    await rm(join(root, "src/a.ts"));
    await ensure();
    expect(lines).toEqual([]);
  });

  it.each([
    ["no JSON", '{"format":1', "it isn't JSON"],
    ["nothing", "null", "its format is undefined"],
    ["another version's", '{"format":3}', "its format is 3, and 2 was expected"],
    ["without parameters", '{"format":2,"segments":[]}', "it lists no parameters"],
    ["half of it", '{"format":1,"revision":"x","files":{}}', "it lists no procedures"],
  ])("whose manifest is damaged is refused by name: %s", async (_, text, why) => {
    await writeBuild(folders());
    const path = join(root, "dist/server/manifest.json");
    await writeFile(path, text);
    await expect(ensure()).rejects.toThrow(
      `${path} isn't a manifest that this version of Seamline can use: ${why}`,
    );
  });

  it("a `vite build` whose pages are in another folder than 'output' is a warning that names it", async () => {
    await writeBuild({ ...folders(), output: join(root, ".seamline") });
    expect((await ensure()).output).toEqual({
      browser: join(root, "dist"),
      server: join(root, ".seamline/server"),
    });
    expect(lines).toEqual([
      "warning: Vite built modules into ./.seamline/server, but there are no pages in ./dist. Set 'output' to Vite's build.outDir",
    ]);
    await mkdir(join(root, "dist"));
    await ensure();
    expect(lines).toHaveLength(1);
  });

  it("an incomplete build is refused", async () => {
    await writeBuild(folders());
    await rm(join(root, "dist/server/manifest.browser.json"));
    await expect(ensure()).rejects.toThrow(
      "The build in ./dist has no manifest.browser.json: it is incomplete. Build again",
    );
  });

  it("builds-3: --build builds at start, whether or not a build exists", async () => {
    await writeBuild(folders());
    await writeFile(join(root, "src/a.ts"), "export const a = 2;");
    const run = vi.fn<(settings: BuildSettings) => Promise<void>>(writeBuild);
    await ensure({ build: true, run });
    // It's built again although it is fresh.
    await ensure({ build: true, run });
    await rm(join(root, "dist"), { recursive: true });
    await ensure({ build: true, run });
    expect(run).toHaveBeenCalledTimes(3);
    expect(lines).toEqual([
      "building ./dist",
      "building ./dist",
      "there is no build in ./dist yet: making one",
    ]);
  });

  it("builds-4: --no-build doesn't build at start: a missing build is an error that says what to do", async () => {
    const run = vi.fn<(settings: BuildSettings) => Promise<void>>();
    await expect(ensure({ build: false, run })).rejects.toThrow(
      "There is no build in ./dist, and --no-build forbids making one. Run 'seamline build', here or on a machine with Vite, and copy ./dist",
    );
    expect(run).not.toHaveBeenCalled();
  });

  it("a build that fails ends the start with the build's own message", async () => {
    await expect(
      ensure({ run: () => Promise.reject(new Error("The build failed\n\nsrc/a.ts:1:1: why")) }),
    ).rejects.toThrow("src/a.ts:1:1: why");
  });
});

describe("builds of a service", () => {
  let application: Application;
  beforeAll(buildPackage, 120_000);
  beforeEach(async () => {
    application = await createApplication();
    await application.put(
      "src/greet.ts",
      "export async function greet(name: string) { return `Hello ${name}`; }\n",
    );
    await application.put("greet.segment.json", { "./greet": { greet: { access: "public" } } });
    await application.put("seamline.json", { mode: "standalone", url: "http://127.0.0.1:0" });
  });
  afterEach(() => application.remove());
  const address = /^standalone at (http:\S+)/m;
  // Stands where Node resolves imports, and says which of the build's tools were asked for.
  const watch = `import { appendFileSync } from "node:fs";
  export const resolve = (name, context, next) => {
    if (/^(vite|rolldown|oxc-parser)(\\/|$)/.test(name)) {
      console.log("loaded " + name);
      if (process.env.LOADS) appendFileSync(process.env.LOADS, process.pid + "\\n");
    }
    return next(name, context);
  };`;
  const url = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
  const watched = {
    NODE_OPTIONS: `--import=${url(`import { register } from "node:module"; import { isMainThread } from "node:worker_threads"; if (isMainThread) register(${JSON.stringify(url(watch))});`)}`,
  };

  it(
    "builds-1: a missing output is built at start by a child process, where Vite is found",
    { timeout: 60_000 },
    async () => {
      const loads = join(application.root, "loads");
      const service = application.seamline(["start"], { ...watched, LOADS: loads });
      const [, base] = await service.says(address);
      expect(service.output()).toContain("there is no build in ./dist yet: making one");
      expect(await (await fetch(`${base}/rpc/greet?name=Ada`)).text()).toBe("Hello Ada");
      // Vite ran in a process of its own, which has exited.
      const [builder, ...others] = new Set(
        (await readFile(loads, "utf8")).trim().split("\n").map(Number),
      );
      expect([others, builder === service.child.pid]).toEqual([[], false]);
      expect(() => process.kill(builder!, 0)).toThrow("ESRCH");
    },
  );

  it("builds-5: a service whose build exists never loads Vite", { timeout: 60_000 }, async () => {
    const build = application.seamline(["build"], watched);
    expect(await build.ended()).toBe(0);
    // Without this, the hook would see nothing, whatever is loaded.
    await expect.poll(() => build.output()).toContain("loaded vite");
    const service = application.seamline(["start", "--no-build"], watched);
    const [, base] = await service.says(address);
    expect(await (await fetch(`${base}/rpc/greet?name=Ada`)).text()).toBe("Hello Ada");
    expect(await service.ended("SIGTERM")).toBe(0);
    expect(service.output()).not.toContain("loaded ");
  });
});
