// Two builds of one output at once, in processes of their own.

import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterEach, beforeAll, expect, it } from "vitest";

import {
  anyPort,
  type Application,
  buildPackage,
  type Command,
  createApplication,
  launch,
} from "./_application.ts";

beforeAll(buildPackage, 120_000);

let application: Application;
afterEach(() => application.remove());

/** A build that writes its process, once for each environment, and waits for the file `go`. */
const configuration = `
import { appendFileSync, existsSync } from "node:fs";
import { seamline } from "seamline/vite";
const slow = {
  name: "slow",
  async buildStart() {
    appendFileSync("builds.log", process.pid + "\\n");
    while (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 20));
  },
};
export default { plugins: [seamline(), slow] };
`;

async function make(): Promise<void> {
  application = await createApplication();
  await application.publish("shop", "export async function count() { return 1; }", ["count"]);
  await application.put(
    "index.html",
    '<!doctype html><script type="module" src="/src/page.ts"></script>',
  );
  await application.put("src/page.ts", "import { count } from './shop'; void count();");
  await application.put("vite.config.ts", configuration);
  await application.put("seamline.json", { mode: "standalone", url: anyPort });
}

const path = (file: string): string => join(application.root, file);
const go = async (): Promise<void> => await writeFile(path("go"), "");
/** The processes that have built. */
const builds = async (): Promise<string[]> => {
  const log = await readFile(path("builds.log"), "utf8").catch(() => "");
  return [...new Set(log.split("\n").filter(Boolean))];
};

async function running(count = 1): Promise<void> {
  await expect.poll(async () => (await builds()).length, { timeout: 10_000 }).toBe(count);
}

async function leftovers(): Promise<string[]> {
  const names = [await readdir(application.root), await readdir(path(".seamline"))].flat();
  return names.filter((name) => /^\.(?:dist|server)/.test(name));
}

it.each([
  ["seamline build", "dist"],
  ["vite build", ".seamline/server"],
])(
  "a second `%s` of an output is refused with the other's process and the folder",
  async (command, folder) => {
    await make();
    const vite = join(import.meta.dirname, "../../node_modules/vite/bin/vite.js");
    const build = (): Command =>
      command === "vite build"
        ? launch([process.execPath, vite, "build"], application.root)
        : application.seamline(["build"]);
    const first = build();
    await running();
    const second = build();
    expect(await second.ended()).toBe(1);
    expect(second.output()).toContain(
      `Process ${first.child.pid} is building ${path(folder)}: wait for it, or stop it.`,
    );
    await go();
    expect([await first.ended(), first.output()]).toEqual([0, expect.any(String)]);
    expect(await builds()).toEqual([`${first.child.pid}`]);
    expect(await leftovers()).toEqual([]);
  },
);

it("several starts in a folder without a build make one, and all use it", async () => {
  await make();
  const services = Array.from({ length: 3 }, () => application.seamline(["start"]));
  await running();
  const late = application.seamline(["start"]);
  await late.says(/process \d+ is building \.\/dist: waiting for it/);
  await go();
  for (const service of [...services, late]) {
    const [, url] = await service.says(/^standalone at (\S+)/m);
    expect(await (await fetch(`${url}/rpc/count`)).text()).toBe("1");
  }
  expect(await builds()).toHaveLength(1);
  expect(await leftovers()).toEqual([]);
});

it("a start takes over the lock of a build whose process was killed", async () => {
  await make();
  const killed = application.seamline(["build"]);
  await running();
  expect(await readdir(application.root)).toContain(".dist.lock");
  await killed.ended("SIGKILL");
  await go();
  const service = application.seamline(["start"]);
  const [, url] = await service.says(/^standalone at (\S+)/m);
  expect(await (await fetch(`${url}/rpc/count`)).text()).toBe("1");
  expect(await builds()).toHaveLength(2);
  expect(await leftovers()).toEqual([]);
});
