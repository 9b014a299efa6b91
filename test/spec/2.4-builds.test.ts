import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import {
  type BuildSettings,
  ensureBuild,
  type EnsureBuildOptions,
} from "../../server/ensure-build.ts";
import { hashSources } from "../../server/sources.ts";
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
    clients?: BuildSettings["clients"];
  },
): Promise<void> {
  await mkdir(join(settings.output, "server"), { recursive: true });
  const sources = await hashSources(settings.root, settings.source, settings.output);
  const lists = {
    procedures: [],
    classes: [],
    clients: settings.clients ?? [],
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
  it("that is there and fresh is taken without a word", async () => {
    await writeBuild(folders());
    const run = vi.fn<(settings: BuildSettings) => Promise<void>>();
    expect(await ensure({ run })).toEqual({
      browser: join(root, "dist/browser"),
      server: join(root, "dist/server"),
    });
    expect(run).not.toHaveBeenCalled();
    expect(lines).toEqual([]);
  });

  it("that is missing is made, told what the configuration says and no secret", async () => {
    const run = vi.fn<(settings: BuildSettings) => Promise<void>>(writeBuild);
    const more = { trustKey: "a-secret-of-the-deployment" };
    await ensure({ run, clients: ["ui"], ...more });
    expect(run.mock.calls).toEqual([
      [{ ...folders(), index: "index.html", clients: ["ui"], clientModules: undefined }],
    ]);
    expect(lines).toEqual(["there is no build in ./dist yet: making one"]);
  });

  it("D6.builds-2 a build that is older than the sources, by the hash of them in its manifest, is a warning", async () => {
    await writeBuild(folders());
    await writeFile(join(root, "src/a.ts"), "export const a = 2;");
    await ensure();
    expect(lines).toEqual([
      "warning: the build in ./dist is older than the sources. Run 'seamline build', or start with --build",
    ]);
  });

  it("that was made for other 'clients' than the configuration names is a warning: what browsers may load is settled by it (D6.clients-1)", async () => {
    await writeBuild(folders());
    await ensure({ clients: ["ui"] });
    await ensure({ clients: [] });
    expect(lines).toEqual([
      "warning: 'clients' names ui, and the build in ./dist lets browsers load none. Run 'seamline build' with this configuration, or start with --build",
    ]);
  });

  it("that is given back to what the sources were is fresh again: contents count, not dates (D6.builds-2)", async () => {
    await writeBuild(folders());
    await writeFile(join(root, "src/a.ts"), "export const a = 2;");
    await writeFile(join(root, "src/a.ts"), "export const a = 1;");
    await ensure();
    expect(lines).toEqual([]);
  });

  it("is not compared with sources where there are none", async () => {
    await writeBuild(folders());
    await rm(join(root, "src"), { recursive: true });
    await ensure();
    expect(lines).toEqual([]);
  });

  it("is not compared with a source folder of which only assets were brought along", async () => {
    await writeFile(join(root, "src/tweed.svg"), "<svg/>");
    await writeBuild(folders());
    await rm(join(root, "src/a.ts"));
    await ensure();
    expect(lines).toEqual([]);
  });

  it.each([
    ["no JSON", '{"format":1', "it is no JSON"],
    ["nothing", "null", "its format is undefined"],
    ["another version's", '{"format":2}', "its format is 2"],
    ["half of it", '{"format":1,"revision":"x","files":{}}', "it lists no procedures"],
  ])("whose manifest is damaged is refused by name: %s", async (_, text, why) => {
    await writeBuild(folders());
    const path = join(root, "dist/server/manifest.json");
    await writeFile(path, text);
    await expect(ensure()).rejects.toThrow(
      `${path} is no manifest that this version of Seamline can use: ${why}`,
    );
  });

  it("of `vite build` whose pages are in another folder than 'output' names is a warning that leads there", async () => {
    await writeBuild({ ...folders(), output: join(root, ".seamline") });
    expect(await ensure()).toEqual({
      browser: join(root, "dist"),
      server: join(root, ".seamline/server"),
    });
    expect(lines).toEqual([
      "warning: Vite built modules into ./.seamline/server, but there are no pages in ./dist. Name Vite's build.outDir in 'output'",
    ]);
    await mkdir(join(root, "dist"));
    await ensure();
    expect(lines).toHaveLength(1);
  });

  it("of which a part is missing is refused", async () => {
    await writeBuild(folders());
    await rm(join(root, "dist/server/manifest.browser.json"));
    await expect(ensure()).rejects.toThrow(
      "The build in ./dist has no manifest.browser.json: it is not whole. Build again",
    );
  });

  it("D6.builds-3 --build makes the build again, whether or not it is there", async () => {
    await writeBuild(folders());
    await writeFile(join(root, "src/a.ts"), "export const a = 2;");
    const run = vi.fn<(settings: BuildSettings) => Promise<void>>(writeBuild);
    await ensure({ build: true, run });
    // Fresh as it is now, it is made again all the same.
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

  it("D6.builds-4 --no-build forbids to build at start: a missing build is an error that says what to do", async () => {
    const run = vi.fn<(settings: BuildSettings) => Promise<void>>();
    await expect(ensure({ build: false, run })).rejects.toThrow(
      "There is no build in ./dist, and --no-build forbids to make one here. Run 'seamline build', here or where Vite is, and bring ./dist along",
    );
    expect(run).not.toHaveBeenCalled();
  });

  it("that fails fails the start with the build's own message", async () => {
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
    "D6.builds-1 a missing output is built at start by a child process, where Vite is found",
    { timeout: 60_000 },
    async () => {
      const loads = join(application.root, "loads");
      const service = application.seamline(["start"], { ...watched, LOADS: loads });
      const [, base] = await service.says(address);
      expect(service.output()).toContain("there is no build in ./dist yet: making one");
      expect(await (await fetch(`${base}/rpc/greet?name=Ada`)).text()).toBe("Hello Ada");
      // Vite ran, in a process of its own that is gone.
      const [builder, ...others] = new Set(
        (await readFile(loads, "utf8")).trim().split("\n").map(Number),
      );
      expect([others, builder === service.child.pid]).toEqual([[], false]);
      expect(() => process.kill(builder!, 0)).toThrow("ESRCH");
    },
  );

  it(
    "D6.builds-5 a service of a build that is there never loads Vite",
    { timeout: 60_000 },
    async () => {
      const build = application.seamline(["build"], watched);
      expect(await build.ended()).toBe(0);
      // Else the watch would see nothing, whatever is loaded.
      await vi.waitFor(() => expect(build.output()).toContain("loaded vite"));
      const service = application.seamline(["start", "--no-build"], watched);
      const [, base] = await service.says(address);
      expect(await (await fetch(`${base}/rpc/greet?name=Ada`)).text()).toBe("Hello Ada");
      expect(await service.ended("SIGTERM")).toBe(0);
      expect(service.output()).not.toContain("loaded ");
    },
  );
});
