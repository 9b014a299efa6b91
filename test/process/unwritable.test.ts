// Files that can't be written: the disk is full or read-only, or belongs to another user.

import { spawnSync } from "node:child_process";
import { chmod, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { beforeAll, describe, expect, vi } from "vitest";

import {
  anyPort,
  type Application,
  buildPackage,
  createStock,
  type Command,
  inApplication,
  launch,
} from "./_application.ts";

beforeAll(buildPackage, 120_000);

vi.setConfig({ maxConcurrency: 3 });
const it = inApplication(async () => {
  const application = await createStock();
  return {
    ...application,
    async remove() {
      await chmodAll(application.root, 0o755);
      await application.remove();
    },
  };
});

const trustKey = "a-key-of-more-than-thirty-two-characters";

/**
 * A disk on which nothing can be written to paths that match FULL: what Node would throw, with the
 * first byte written as on a real disk, and without a path, as Node has none for what `write` says.
 */
const fullDisk = `
import { syncBuiltinESMExports } from "node:module";
import fs from "node:fs";
const { writeFile } = fs.promises;
const { writeFileSync } = fs;
const pattern = new RegExp(process.env.FULL);
const code = process.env.CODE ?? "ENOSPC";
const failure = () => Object.assign(new Error(code + ": write"), { code, syscall: "write" });
fs.promises.writeFile = async (file, data, options) => {
  if (!pattern.test(file)) return await writeFile(file, data, options);
  await writeFile(file, "x", options);
  throw failure();
};
fs.writeFileSync = (file, data, options) => {
  if (!pattern.test(file)) return writeFileSync(file, data, options);
  writeFileSync(file, "x", options);
  throw failure();
};
syncBuiltinESMExports();
`;

async function configure(application: Application, config: object): Promise<void> {
  await application.put("full-disk.mjs", fullDisk);
  await application.put("seamline.json", { mode: "standalone", url: anyPort, ...config });
  await mkdir(join(application.root, "tmp"));
}

const environment = ({ root }: Application): Record<string, string> => ({
  TMPDIR: join(root, "tmp"),
});

/** Runs a command on a disk that is full for paths that match `full`. */
const onFullDisk = (
  application: Application,
  words: readonly string[],
  full: string,
  code = "ENOSPC",
): Command =>
  application.seamline(words, {
    ...environment(application),
    NODE_OPTIONS: `--import ${application.root}/full-disk.mjs`,
    FULL: full,
    CODE: code,
  });

async function chmodAll(folder: string, mode: number): Promise<void> {
  await chmod(folder, mode);
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await chmodAll(join(folder, entry.name), mode);
}

/** Runs a command as a user who may read the application, and write only to its folder tmp. */
async function withoutRights(application: Application, words: readonly string[]): Promise<Command> {
  await chmodAll(application.root, 0o555);
  await chmod(join(application.root, "tmp"), 0o777);
  // Permissions don't bind root.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  return launch(
    [process.execPath, join(application.root, "node_modules/seamline/dist/cli.js"), ...words],
    application.root,
    environment(application),
    user,
  );
}

async function answers(application: Application, service: Command): Promise<void> {
  const [, url] = await service.says(/^standalone at (\S+)/m);
  expect(await (await fetch(`${url}/rpc/add?a=1&b=2`)).text()).toBe("3");
  expect(await service.ended("SIGTERM")).toBe(0);
  expect(await readdir(join(application.root, "tmp"))).toEqual([]);
}

describe.concurrent("a standalone that can't write its cache", () => {
  it("starts with copies in the folder for temporary files, says so in one line, and removes them", async ({
    application,
  }) => {
    await configure(application, { trustKey });
    const service = await withoutRights(application, ["start"]);
    await answers(application, service);
    expect(service.output().match(/^warning: .*cache.*$/gm)).toEqual([
      expect.stringMatching(
        /^warning: can't cache modules in \S+\/node_modules\/\.cache\/seamline: permission denied \(EACCES\)\. Starting with copies in \S+\/tmp\/seamline-\w+$/,
      ),
    ]);
  });

  it.for([
    ["its store", "cache/seamline/store"],
    ["its run tree", "cache/seamline/run"],
  ])(
    "starts also if the disk is full when it writes %s",
    async ([, full = ""], { application }) => {
      await configure(application, { trustKey });
      const service = onFullDisk(application, ["start"], full);
      await answers(application, service);
      expect(service.output()).toMatch(/^warning: can't cache modules in .*: the disk is full/m);
      const cached = await readdir(join(application.root, "node_modules/.cache"), {
        recursive: true,
      });
      expect(cached.filter((name) => /\.\d+-[0-9a-f]{8}$/.test(name))).toEqual([]);
      expect(await application.runTrees()).toEqual([]);
    },
  );

  it("and not the folder for temporary files either ends with one line that names both", async ({
    application,
  }) => {
    await configure(application, { trustKey });
    const service = onFullDisk(application, ["start"], "seamline[^/]*/(store|run)");
    expect(await service.ended()).toBe(1);
    expect(service.output()).toMatch(
      /Can't write \S+\/node_modules\/\.cache\/seamline: the disk is full \(ENOSPC\)\. .*Can't write \S+\/tmp\/seamline-\S+: the disk is full \(ENOSPC\)\. Free some space, or /,
    );
  });
});

/** Mounts a disk of its own on a folder. Resolves with whether this user may. */
async function mountDisk(folder: string, options: string): Promise<boolean> {
  await mkdir(folder, { recursive: true });
  return spawnSync("mount", ["-t", "tmpfs", "-o", options, "seamline-test", folder]).status === 0;
}

it.concurrent.for([
  ["read-only", "ro", "the disk is read-only \\(EROFS\\)"],
  ["full", "size=4k", "the disk is full \\(ENOSPC\\)"],
])(
  "a standalone starts with its cache on a disk that is really %s",
  async ([, options = "", reason], { application, skip }) => {
    await configure(application, { trustKey });
    for (const folder of [".cache", ".cache/seamline", ".cache/seamline/run"]) {
      const path = join(application.root, "node_modules", folder);
      if (!(await mountDisk(path, options))) return skip("mounting isn't permitted");
      try {
        const service = application.seamline(["start"], environment(application));
        await answers(application, service);
        expect(service.output()).toMatch(
          new RegExp(`^warning: can't cache modules in \\S+seamline: ${reason}`, "m"),
        );
      } finally {
        spawnSync("umount", [path]);
      }
    }
  },
);

describe.concurrent("a node that can't write its cache", () => {
  it.for([
    ["ENOSPC", "the disk is full", "Free some space"],
    ["EDQUOT", "this user's share of the disk is full", "Free some space"],
    ["EROFS", "the disk is read-only", "Make it writable"],
    ["EMFILE", "this process has too many open files", "Raise the limit (ulimit -n)"],
  ])(
    "because of %s ends with the file, the reason and the way out",
    async ([code = "", reason, remedy], { application }) => {
      await configure(application, { trustKey });
      const repository = await application.service("repository", {
        mode: "repository",
        url: anyPort,
        trustKey,
      });
      await application.put("node.json", {
        mode: "node",
        url: anyPort,
        trustKey,
        repository: repository.url,
        gateway: "http://127.0.0.1:1",
        segments: ["stock"],
      });
      const node = onFullDisk(application, ["start", "--config", "node.json"], "/manifests/", code);
      expect(await node.ended()).toBe(1);
      expect(node.output()).toContain(
        `.json: ${reason} (${code}). ${remedy}, or set another 'cache' in the configuration`,
      );
      expect(node.output()).toMatch(
        /Can't write \S+\/node_modules\/\.cache\/seamline\/manifests\/\w+\.json: /,
      );
    },
  );
});

describe.concurrent("a trust key that can't be written", () => {
  const line = (reason: string): RegExp =>
    new RegExp(
      `^error: Can't write \\S+/\\.seamline/key: ${reason}, or set 'trustKey' in the configuration$`,
      "m",
    );

  it("on another user's folder names the file and the way out", async ({ application }) => {
    await configure(application, {});
    const service = await withoutRights(application, ["start"]);
    expect(await service.ended()).toBe(1);
    expect(service.output()).toMatch(line("permission denied \\(EACCES\\)\\. Make it writable"));
  });

  it("on a full disk names the file and the way out, and leaves no part of it", async ({
    application,
  }) => {
    await configure(application, {});
    const service = onFullDisk(application, ["start"], "\\.seamline/key");
    expect(await service.ended()).toBe(1);
    expect(service.output()).toMatch(line("the disk is full \\(ENOSPC\\)\\. Free some space"));
    expect(await readdir(join(application.root, ".seamline"))).not.toContainEqual(
      expect.stringContaining("key"),
    );
  });
});

it.concurrent.for(["manifest\\.json", "kept\\.json"])(
  "a build whose disk is full when it writes %s names the output, and leaves the last build",
  async (file, { application }) => {
    await configure(application, {});
    await application.put(
      "src/stock.ts",
      "export async function add(): Promise<number> {\n  return 5;\n}\nexport const echo = add;\n",
    );
    const build = onFullDisk(application, ["build"], file);
    expect(await build.ended()).toBe(1);
    expect(build.output()).toMatch(
      /^error: Can't write \S+\/dist: the disk is full \(ENOSPC\)\. Free some space, or choose another "output"$/m,
    );
    expect((await readdir(application.root)).filter((name) => name.startsWith(".dist"))).toEqual(
      [],
    );
    await answers(
      application,
      application.seamline(["start", "--no-build"], environment(application)),
    );
  },
);

it.concurrent("`dev` goes on without the file of its address, and names it", async ({
  application,
  expect,
}) => {
  await configure(application, { trustKey });
  await mkdir(join(application.root, ".seamline"), { recursive: true });
  // A real full disk.
  await symlink("/dev/full", join(application.root, ".seamline/dev.json"));
  await writeFile(join(application.root, "src/index.html"), "<!doctype html><title>Stock</title>");
  const session = application.seamline(["dev", "--port", "0"], environment(application));
  const [, url] = await session.says(/(http:\/\/localhost:\d+)/);
  await expect.poll(async () => await (await fetch(`${url}/rpc/add?a=1&b=2`)).text()).toBe("3");
  expect(await session.ended("SIGTERM")).toBe(0);
  expect(session.output()).toMatch(
    /warning: Can't write \S+\/\.seamline\/dev\.json: the disk is full \(ENOSPC\)\. Free some space, or name the address: seamline call --url http/,
  );
});
