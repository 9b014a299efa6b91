import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type BuildSettings, ensureBuild, type EnsureBuildOptions } from "../../../server/ensure-build.ts";
import { hashSources } from "../../../server/sources.ts";

let root: string;
let lines: string[];
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "seamline-ensure-"));
  lines = [];
  await mkdir(join(root, "src"));
  await writeFile(join(root, "src/a.ts"), "export const a = 1;");
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function writeBuild(settings: Pick<BuildSettings, "root" | "source" | "output">): Promise<void> {
  await mkdir(join(settings.output, "server"), { recursive: true });
  const sources = await hashSources(settings.root, settings.source, settings.output);
  const lists = { procedures: [], classes: [], clients: [], segments: {}, modules: { a: {} }, imports: {}, files: {} };
  await writeFile(join(settings.output, "server/manifest.json"), JSON.stringify({ format: 1, revision: "test", sources, ...lists }));
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

describe("a build at start (decisions §6, builds)", () => {
  it("that is there and fresh is taken without a word", async () => {
    await writeBuild(folders());
    const run = vi.fn<(settings: BuildSettings) => Promise<void>>();
    expect(await ensure({ run })).toEqual({ browser: join(root, "dist/browser"), server: join(root, "dist/server") });
    expect(run).not.toHaveBeenCalled();
    expect(lines).toEqual([]);
  });

  it("that is missing is made, told what the configuration says and no secret", async () => {
    const run = vi.fn<(settings: BuildSettings) => Promise<void>>(writeBuild);
    const more = { trustKey: "a-secret-of-the-deployment" };
    await ensure({ run, clients: ["ui"], ...more });
    expect(run.mock.calls).toEqual([[{ ...folders(), index: "index.html", clients: ["ui"], clientModules: undefined }]]);
    expect(lines).toEqual(["there is no build in ./dist yet: making one"]);
  });

  it("that is older than the sources is a warning", async () => {
    await writeBuild(folders());
    await writeFile(join(root, "src/a.ts"), "export const a = 2;");
    await ensure();
    expect(lines).toEqual(["warning: the build in ./dist is older than the sources. Run 'seamline build', or start with --build"]);
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
    await expect(ensure()).rejects.toThrow(`${path} is no manifest that this version of Seamline can use: ${why}`);
  });

  it("of which a part is missing is refused", async () => {
    await writeBuild(folders());
    await rm(join(root, "dist/server/manifest.browser.json"));
    await expect(ensure()).rejects.toThrow("The build in ./dist has no manifest.browser.json: it is not whole. Build again");
  });

  it("is made again with --build", async () => {
    await writeBuild(folders());
    await writeFile(join(root, "src/a.ts"), "export const a = 2;");
    await ensure({ build: true });
    expect(lines).toEqual(["building ./dist"]);
  });

  it("is never made with --no-build: a missing one is an error that says what to do", async () => {
    const run = vi.fn<(settings: BuildSettings) => Promise<void>>();
    await expect(ensure({ build: false, run })).rejects.toThrow(
      "There is no build in ./dist, and --no-build forbids to make one here. Run 'seamline build', here or where Vite is, and bring ./dist along",
    );
    expect(run).not.toHaveBeenCalled();
  });

  it("that fails fails the start with the build's own message", async () => {
    await expect(ensure({ run: () => Promise.reject(new Error("The build failed\n\nsrc/a.ts:1:1: why")) })).rejects.toThrow(
      "src/a.ts:1:1: why",
    );
  });
});
