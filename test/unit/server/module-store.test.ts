import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Config } from "../../../server/config/config.ts";
import { integrityOf } from "../../../server/files/kept-builds.ts";
import {
  createModuleStore,
  type ModuleStore,
  type ModuleStoreOptions,
} from "../../../server/modules/module-store.ts";
import { parseManifest } from "../../../server/modules/parse-manifest.ts";
import type { ServerManifest } from "../../../src/base/manifest.ts";
import {
  type Clock,
  type IncomingResponse,
  type OutgoingRequest,
  type Peer,
  TransportError,
  UnsentError,
} from "../../../src/base/ports.ts";

const url = "http://repository.test";

/** A build from its revision and its files' texts, which also define the imports. */
function build(
  revision: string,
  files: Record<string, string>,
): { manifest: ServerManifest; files: Record<string, string> } {
  const records = Object.entries(files).map(([name, text]) => {
    const imports = [...text.matchAll(/from "\.\/([^"]+)"/g)].map((found) =>
      join(dirname(name), found[1]!),
    );
    return [
      name,
      { integrity: integrityOf(Buffer.from(text)), size: text.length, imports },
    ] as const;
  });
  return {
    files,
    manifest: {
      format: 1,
      revision,
      procedures: [],
      segments: {},
      classes: [],
      modules: {},
      files: Object.fromEntries(records),
      sources: "",
      browserSegments: [],
      graph: "_seam.js",
      pages: {},
      outside: {},
      imports: {},
    },
  };
}

const first = build("one", {
  "_seam.js": "export const graph = {};",
  "shop/quote.js":
    'import { price } from "./price.js"; export const quote = () => `quote ${price}`;',
  "shop/price.js": "export const price = 1;",
  "shop/other.js": "export const other = 1;",
});

/** A repository in memory. `away` replaces its answers. */
class Repository implements Peer {
  build = first;
  away: (() => Promise<IncomingResponse>) | undefined;
  requested: string[] = [];

  async send(request: OutgoingRequest): Promise<IncomingResponse> {
    const [path = ""] = request.url.slice(url.length).split("?");
    this.requested.push(basename(path));
    if (this.away !== undefined) {
      const { signal } = request;
      return await Promise.race([
        this.away(),
        new Promise<never>((_, reject) =>
          signal?.addEventListener("abort", () => reject(signal.reason)),
        ),
      ]);
    }
    const found =
      request.from !== "key"
        ? undefined
        : path === "/svc/modules/manifest.json"
          ? JSON.stringify(this.build.manifest)
          : this.build.files[decodeURIComponent(path.slice("/svc/modules/".length))];
    return { status: found === undefined ? 404 : 200, headers: {}, body: Buffer.from(found ?? "") };
  }
  async close(): Promise<void> {}
}

const refusing = (): Promise<IncomingResponse> =>
  Promise.reject(new TransportError(`${url} refused the connection`, false));

/** A clock that jumps to the next timer once the event loop is idle. */
function quickClock(): Clock {
  let now = 0;
  return {
    now: () => now,
    after(ms, run) {
      const at = now + ms;
      const turn = setImmediate(() => {
        now = Math.max(now, at);
        run();
      });
      return () => clearImmediate(turn);
    },
  };
}

let root: string;
let repository: Repository;
let clock: Clock;
let lines: string[];
const stores: ModuleStore[] = [];

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "seamline-store-")));
  repository = new Repository();
  clock = quickClock();
  lines = [];
});
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  await rm(root, { recursive: true, force: true });
});

function open(options: Partial<ModuleStoreOptions> = {}): ModuleStore {
  const store = createModuleStore({
    from: { repository: url, way: repository },
    root,
    clock,
    moduleImporter: (specifier) => import(specifier) as Promise<Record<string, unknown>>,
    log: {
      info: (line) => lines.push(line),
      warn: (line) => lines.push(`warning: ${line}`),
      error: (line) => lines.push(`error: ${line}`),
    },
    ...options,
  });
  stores.push(store);
  return store;
}

const cacheOf = (): string => join(root, "node_modules/.cache/seamline");
const trees = (): Promise<string[]> => readdir(join(cacheOf(), "run"));

describe("importing from a module store", () => {
  it("fetches the module and its imports only, and keeps their names", async () => {
    const specifiers: string[] = [];
    const store = open({
      moduleImporter: (specifier) => {
        specifiers.push(specifier);
        return import(specifier) as Promise<Record<string, unknown>>;
      },
    });
    const { quote } = (await store.import("shop/quote.js")) as { quote: () => string };
    expect(quote()).toBe("quote 1");
    expect(repository.requested.toSorted()).toEqual(["manifest.json", "price.js", "quote.js"]);
    expect(specifiers).toEqual([
      expect.stringMatching(
        /^file:\/\/.*\/node_modules\/\.cache\/seamline\/run\/[^/]+\/one\/shop\/quote\.js$/,
      ),
    ]);
    expect(lines).toEqual([expect.stringMatching(/^modules: 2 fetched \(0\.\d kB\), 0 cached$/)]);
  });

  it("requests each file once for concurrent imports", async () => {
    const store = open();
    await Promise.all(
      ["shop/quote.js", "shop/price.js", "shop/quote.js"].map((file) => store.import(file)),
    );
    expect(repository.requested.toSorted()).toEqual(["manifest.json", "price.js", "quote.js"]);
  });

  it("creates separate module instances for each node of a process", async () => {
    const [first, second] = [open(), open()];
    expect((await first.import("_seam.js"))["graph"]).toBe(
      (await first.import("_seam.js"))["graph"],
    );
    expect((await first.import("_seam.js"))["graph"]).not.toBe(
      (await second.import("_seam.js"))["graph"],
    );
  });

  it("reports a file that isn't in the build, without reading anything", async () => {
    await expect(open().import("../../secret.js")).rejects.toThrow(
      "The build of revision one has no file '../../secret.js'",
    );
    await expect(open().import("constructor")).rejects.toThrow("has no file");
  });

  it("works with an output folder too", async () => {
    const folder = join(root, "dist/server");
    await mkdir(join(folder, "modules/shop"), { recursive: true });
    await writeFile(join(folder, "manifest.json"), JSON.stringify(first.manifest));
    for (const [name, text] of Object.entries(first.files))
      await writeFile(join(folder, "modules", name), text);
    const store = open({ from: { folder } });
    expect(((await store.import("shop/quote.js")) as { quote: () => string }).quote()).toBe(
      "quote 1",
    );
    expect(repository.requested).toEqual([]);
  });
});

describe("source maps in a module store", () => {
  const map = JSON.stringify({
    version: 3,
    sources: ["../../../../src/shop/price.ts", "virtual:x"],
    mappings: "",
  });
  const inside = (text: string): string =>
    `//# sourceMappingURL=data:application/json;charset=utf-8;base64,${Buffer.from(text).toString("base64")}`;
  const placed = async (files: Record<string, string>): Promise<(file: string) => string> => {
    repository.build = build("maps", files);
    let tree = "";
    const store = open({
      moduleImporter: async (specifier) => {
        tree = dirname(fileURLToPath(specifier));
        return {};
      },
    });
    for (const file of Object.keys(files)) await store.import(file);
    return (file) => readFileSync(join(tree, file), "utf8");
  };

  it("lie beside the modules, and lead to the application's sources wherever the tree is", async () => {
    const text = await placed({ "shop/price.js": `export const price = 1;\n${inside(map)}` });
    expect(text("price.js")).toBe("export const price = 1;\n//# sourceMappingURL=price.js.map\n");
    const { sources } = JSON.parse(text("price.js.map")) as { sources: string[] };
    expect(sources).toEqual([pathToFileURL(join(root, "src/shop/price.ts")).href, "virtual:x"]);
  });

  it("that aren't maps stay in the module, as they were built", async () => {
    const files = {
      "odd.js": inside("["),
      "list.js": inside("[]"),
      "elsewhere.js": "//# sourceMappingURL=elsewhere.js.map",
      "plain.js": "export {};",
      "text.js": `export const text = \`\n${inside(map)}\n\`;`,
    };
    const text = await placed(files);
    for (const [file, built] of Object.entries(files)) expect(text(file)).toBe(built);
  });
});

describe("packages of modules in a module store", () => {
  const usesPackage = build("bare", { "a.js": 'export { name } from "some-package";' });

  async function addPackage(folder: string, name: string): Promise<void> {
    const at = join(folder, "node_modules/some-package");
    await mkdir(at, { recursive: true });
    await writeFile(join(at, "package.json"), '{ "type": "module", "exports": "./index.js" }');
    await writeFile(join(at, "index.js"), `export const name = "${name}";`);
  }

  it("come from the application", async () => {
    await addPackage(root, "of the application");
    repository.build = usesPackage;
    expect(await open().import("a.js")).toMatchObject({ name: "of the application" });
  });

  it("come from the application if the cache is elsewhere, and from its parent folder in a workspace", async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), "seamline-cache-"));
    try {
      await addPackage(root, "of the workspace");
      await mkdir(join(root, "member/node_modules"), { recursive: true });
      repository.build = usesPackage;
      expect(
        await open({ root: join(root, "member"), cache: elsewhere }).import("a.js"),
      ).toMatchObject({ name: "of the workspace" });
    } finally {
      await rm(elsewhere, { recursive: true, force: true });
    }
  });
});

describe("the second start of a module store", () => {
  it("only requests what has changed", async () => {
    await open().import("shop/quote.js");
    repository.requested = [];
    repository.build = build("two", { ...first.files, "shop/price.js": "export const price = 2;" });
    const { quote } = (await open().import("shop/quote.js")) as { quote: () => string };
    expect(quote()).toBe("quote 2");
    expect(repository.requested).toEqual(["manifest.json", "price.js"]);
    expect(lines.at(-1)).toMatch(/^modules: 1 fetched .*, 1 cached$/);
  });

  it("ignores stored content that doesn't match its hash", async () => {
    await open().import("shop/price.js");
    const store = join(cacheOf(), "store");
    const [name] = await readdir(store);
    await chmod(join(store, name!), 0o644);
    await writeFile(join(store, name!), "export const price = 666;");
    expect(await open().import("shop/price.js")).toMatchObject({ price: 1 });
  });

  it("only removes the trees of processes that have ended", async () => {
    const { pid } = spawnSync(process.execPath, ["--version"]);
    const own = open();
    await own.import("_seam.js");
    const [tree] = await trees();
    const dead = tree!.replace(`-${process.pid}-`, `-${pid}-`);
    const foreign = dead.replace(/^[^-]+/, "another_machine");
    for (const tree of [dead, foreign]) await mkdir(join(cacheOf(), "run", tree));
    await open().import("_seam.js");
    const left = await trees();
    expect(left).toContain(tree);
    expect(left).toContain(foreign);
    expect(left).not.toContain(dead);
  });
});

describe("closing a module store", () => {
  it("removes this node's tree and keeps the content", async () => {
    const store = open();
    await store.import("shop/price.js");
    await store.close();
    expect(await trees()).toEqual([]);
    expect(await readdir(join(cacheOf(), "store"))).toHaveLength(1);
  });

  it("does nothing if the store was never used", async () => {
    await open().close();
    expect(await readdir(root)).toEqual([]);
  });
});

describe("the integrity check of a module store", () => {
  it("refuses a file that doesn't match the manifest, and doesn't store it", async () => {
    repository.build = {
      ...first,
      files: { ...first.files, "shop/price.js": "export const price = 666;" },
    };
    await expect(open().import("shop/price.js")).rejects.toThrow(
      "shop/price.js doesn't match the manifest",
    );
    expect(await readdir(join(cacheOf(), "store")).catch(() => [])).toEqual([]);
  });

  it("reports that the repository has another build if a file of the manifest is gone", async () => {
    const store = open();
    await store.manifest();
    repository.build = build("two", {});
    await expect(store.import("shop/price.js")).rejects.toThrow("it has another build by now");
  });

  it("names a file that is gone though the repository still has the same build, and says to build again", async () => {
    repository.build = { ...first, files: {} };
    await expect(open().import("shop/price.js")).rejects.toThrow(
      `The repository at ${url} serves revision one without its module file shop/price.js, which is missing there or was changed after the build. Build again there, and restart it`,
    );
  });

  it.each(["missing", "altered"])(
    "names a file of an output folder that is %s, and says to build again",
    async (how) => {
      const folder = join(root, "dist/server");
      await mkdir(join(folder, "modules/shop"), { recursive: true });
      for (const [name, text] of Object.entries(first.files))
        await writeFile(join(folder, "modules", name), text);
      const path = join(folder, "modules/shop/price.js");
      if (how === "missing") await rm(path);
      else await writeFile(path, "export const price = 666;");
      const store = open({ from: { folder, manifest: first.manifest } });
      await expect(store.import("shop/quote.js")).rejects.toThrow(
        `The build of revision one is damaged: ${path} is missing, or was changed after the build. Build again`,
      );
    },
  );
});

describe("while the repository is unreachable, a node", () => {
  it("without a cache retries for 60 s and then reports the reason", async () => {
    repository.away = refusing;
    const store = open();
    await expect(store.manifest()).rejects.toThrow(
      `The repository at ${url} could not be reached for 60 s: it refused the connection. Start it, or correct 'repository' in the configuration`,
    );
    expect(clock.now()).toBe(60_000);
    expect(repository.requested.length).toBeGreaterThan(8);
    // A wait is any part of what it may be.
    expect(repository.requested.length).toBeLessThan(60);
    expect(lines).toEqual([
      `the repository at ${url} refused the connection; trying again for 60 s`,
    ]);
  });

  it("ends its retries when it is told to stop, at whatever moment", async () => {
    clock = { now: () => 0, after: () => () => {} };
    for (let turns = 0; turns < 20; turns++) {
      const store = open();
      repository.away = async () => {
        void (async () => {
          for (let turn = 0; turn < turns; turn++) await Promise.resolve();
          await store.close();
        })();
        return await refusing();
      };
      const ended = store.manifest().then(
        () => "read",
        () => "ended",
      );
      const idle = new Promise((resolve) => setTimeout(resolve, 10_000, `waits (${turns})`));
      expect(await Promise.race([ended, idle])).toBe("ended");
    }
  });

  it("that can't open a file for the connection blames neither the repository nor the configuration", async () => {
    const scarce = new UnsentError(
      `${url} was not asked: this process can't open more files`,
      "local",
    );
    repository.away = () => Promise.reject(scarce);
    await expect(open().import("shop/quote.js")).rejects.toThrow(
      `The repository at ${url} could not be reached for 60 s: it was not asked: this process can't open more files. Free some resources, and start this service again`,
    );
    expect(lines).toEqual([
      `the repository at ${url} was not asked: this process can't open more files; trying again for 60 s`,
    ]);
  });

  it("starts once the repository is back", async () => {
    repository.away = async () => {
      if (repository.requested.length === 4) repository.away = undefined;
      return { status: 503, headers: {}, body: new Uint8Array() };
    };
    const manifest = open().manifest();
    expect((await manifest).revision).toBe("one");
  });

  it("starts from its cache if that is complete, with a warning", async () => {
    await open().import("shop/quote.js");
    repository.away = refusing;
    lines = [];
    const { quote } = (await open().import("shop/quote.js")) as { quote: () => string };
    expect(quote()).toBe("quote 1");
    expect(lines).toEqual([
      `warning: the repository at ${url} refused the connection: starting from the cached revision one`,
    ]);
  });

  it("starts from its cache after 10 s if the repository hangs", async () => {
    await open().import("shop/quote.js");
    repository.away = () => new Promise(() => {});
    await open().import("shop/quote.js");
    expect(lines.at(-1)).toContain("didn't answer within 10 s: starting from the cached revision");
  });

  it("retries for 60 s if a file isn't in its cache", async () => {
    await open().import("shop/quote.js");
    repository.away = refusing;
    await expect(open().import("shop/other.js")).rejects.toThrow("could not be reached for 60 s");
  });
});

describe("a node that is newer than its repository's build", () => {
  const config: Config = {
    mode: "node",
    url: "http://127.0.0.1:1",
    repository: url,
    segments: ["office"],
  };
  const withOffice: typeof first = {
    ...first,
    manifest: { ...first.manifest, revision: "two", segments: { office: [] } },
  };
  const module = { path: "auth", file: "auth.js" };
  const withAuth = {
    ...withOffice,
    manifest: { ...withOffice.manifest, modules: { auth: module } },
  };
  beforeEach(async () => {
    await mkdir(join(root, "dist/server"), { recursive: true });
    await writeFile(join(root, "dist/server/manifest.json"), JSON.stringify(withAuth.manifest));
  });
  const deploysLater = (newer: typeof first = withOffice): void => {
    repository.away = async () => {
      const { manifest } = repository.requested.length < 4 ? first : newer;
      return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(manifest)) };
    };
  };

  it("starts once the repository has the build with its segments", async () => {
    deploysLater();
    expect((await open({ config }).manifest()).revision).toBe("two");
    expect(lines).toEqual([
      `the repository at ${url} has revision one: Segment 'office' not found; there is none; trying again for 60 s`,
    ]);
  });

  it("starts once the repository has the module of its middleware", async () => {
    deploysLater(withAuth);
    const middleware = [join(root, "src/auth.ts"), "a-package", join(root, "elsewhere.js")];
    const asked = open({ config: { ...config, segments: [], middleware } });
    expect((await asked.manifest()).revision).toBe("two");
    expect(lines).toEqual([
      `the repository at ${url} has revision one: './src/auth.ts' of 'middleware' isn't in it; trying again for 60 s`,
    ]);
  });

  it("starts once the repository has a build that it can read, though it has an earlier one cached", async () => {
    await open().manifest();
    deploysLater();
    repository.requested = ["one"];
    expect((await open({ config }).manifest()).revision).toBe("two");
    repository.requested = [];
    repository.away = async () => ({ status: 200, headers: {}, body: Buffer.from("null") });
    await expect(open({ config }).manifest()).rejects.toThrow(
      /had no build for this service for 60 s: it has another build: .*its format is undefined, .* Build again. Deploy the new build there$/,
    );
  });

  it("retries for 60 s and then reports the reason", async () => {
    await expect(open({ config }).manifest()).rejects.toThrow(
      `The repository at ${url} had no build for this service for 60 s: it has revision one: Segment 'office' not found; there is none. Deploy the build there that has it, or correct 'segments' in the configuration`,
    );
    expect(clock.now()).toBe(60_000);
  });

  it("ends at once if no build in its own folder has the segment either", async () => {
    const mistaken = open({ config: { ...config, segments: ["ofice"] } });
    await expect(mistaken.manifest()).rejects.toThrow(
      `The repository at ${url} has revision one: Segment 'ofice' not found; there is none. Deploy the build there that has it, or correct 'segments' in the configuration`,
    );
    await writeFile(join(root, "dist/server/manifest.json"), "of another version");
    await expect(open({ config }).manifest()).rejects.toThrow("Segment 'office' not found");
    await rm(join(root, "dist"), { recursive: true });
    await expect(open({ config }).manifest()).rejects.toThrow("Segment 'office' not found");
    expect(clock.now()).toBe(0);
    expect(lines).toEqual([]);
  });

  it("doesn't start from a cached build that lacks a segment while the repository restarts", async () => {
    await open().manifest();
    lines = [];
    repository.requested = [];
    repository.away = async () => {
      if (repository.requested.length < 4) return await refusing();
      return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(withOffice.manifest)) };
    };
    expect((await open({ config }).manifest()).revision).toBe("two");
    expect(lines).toEqual([
      `the repository at ${url} refused the connection; trying again for 60 s`,
    ]);
  });
});

describe("a node that stops while it waits for its repository", () => {
  it("ends at once", async () => {
    repository.away = () => new Promise(() => {});
    clock = { now: () => 0, after: () => () => {} };
    const store = open();
    const failed = store.manifest().catch((error: unknown) => (error as Error).message);
    while (repository.requested.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await store.close();
    expect(await failed).toBe("This node is stopping");
  });
});

describe("a repository without a manifest", () => {
  it("is an error at once, with a hint", async () => {
    repository.away = async () => ({ status: 404, headers: {}, body: new Uint8Array() });
    await expect(open().manifest()).rejects.toThrow(
      /answered 404 for its modules: build again there, and restart it$/,
    );
  });
});

describe("a manifest in a module store", () => {
  const { manifest } = first;
  const record = { integrity: integrityOf(Buffer.from("")), size: 0, imports: [] };
  it.each([
    ["text that isn't JSON", "{", "isn't JSON"],
    ["null", "null", "its format is undefined"],
    ["another format", JSON.stringify({ ...manifest, format: 3 }), "its format is 3"],
    [
      "a revision that leads away",
      JSON.stringify({ ...manifest, revision: "../../x" }),
      "no revision",
    ],
    [
      "a file that leads away",
      JSON.stringify({ ...manifest, files: { "a/../../x.js": record } }),
      "names a file",
    ],
    [
      "a file from the root",
      JSON.stringify({ ...manifest, files: { "/etc/x": record } }),
      "names a file",
    ],
    [
      "a file with a backslash",
      JSON.stringify({ ...manifest, files: { "..\\x": record } }),
      "names a file",
    ],
    [
      "package.json",
      JSON.stringify({ ...manifest, files: { "package.json": record } }),
      "names a file",
    ],
    [
      "a file without a hash",
      JSON.stringify({ ...manifest, files: { "a.js": { ...record, integrity: "sha256-" } } }),
      "no hash",
    ],
    [
      "a file without imports",
      JSON.stringify({ ...manifest, files: { "a.js": { ...record, imports: null } } }),
      "no list of imports",
    ],
    ["no files", JSON.stringify({ ...manifest, files: null }), "lists no files"],
  ])("with %s is refused", (_, text, message) => {
    expect(() => parseManifest(text, "here")).toThrow(message);
  });

  it("can have file names with dots and spaces", () => {
    const files = { "a/.well..known/x y~body.js": record };
    expect(parseManifest(JSON.stringify({ ...manifest, files }), "here").files).toEqual(files);
  });
});

describe("the disk of a module store", () => {
  it("that isn't writable causes one error with a hint", async () => {
    await writeFile(join(root, "node_modules"), "a file where the folder should be");
    await expect(open().manifest()).rejects.toThrow(
      /^Can't write \S*: there is a file where a folder should be \(ENOTDIR\)\. .*'cache' in the configuration$/,
    );
  });

  it.each([
    ["isn't writable", "node_modules"],
    ["fills up with the first module", "node_modules/.cache/seamline/store"],
  ])(
    "that %s leaves a build's folder usable, with one copy for imports at the same time",
    async (_, blocked) => {
      await mkdir(dirname(join(root, blocked)), { recursive: true });
      await writeFile(join(root, blocked), "a file where the folder should be");
      const folder = join(root, "dist/server");
      await mkdir(join(folder, "modules/shop"), { recursive: true });
      await writeFile(join(folder, "manifest.json"), JSON.stringify(first.manifest));
      for (const [name, text] of Object.entries(first.files))
        await writeFile(join(folder, "modules", name), text);
      const store = open({ from: { folder } });
      const [quote, again] = await Promise.all([
        store.import("shop/quote.js"),
        store.import("shop/quote.js"),
        store.import("shop/price.js"),
      ]);
      expect((quote as { quote: () => string }).quote()).toBe("quote 1");
      expect(quote).toBe(again);
      expect(lines).toEqual([
        expect.stringMatching(
          /^warning: can't cache modules in \S*: there is a file where a folder should be \(ENOTDIR\)\. Starting with copies in \S+$/,
        ),
      ]);
      const copies = lines[0]!.split(" ").at(-1)!;
      expect(await readdir(copies)).toEqual(["run", "store"]);
      await store.close();
      await expect(readdir(copies)).rejects.toThrow("ENOENT");
    },
  );

  it("has read-only content", async () => {
    await open().import("shop/price.js");
    const store = join(cacheOf(), "store");
    expect((await stat(join(store, (await readdir(store))[0]!))).mode & 0o222).toBe(0);
  });

  it("loses content that is unused for a month, and temporary files after an hour", async () => {
    await open().import("shop/price.js");
    const store = join(cacheOf(), "store");
    const [used] = await readdir(store);
    for (const name of ["old", `${used}.1-aaaaaaaa`]) await writeFile(join(store, name), "x");
    vi.setSystemTime(Date.now() + 25 * 3_600_000);
    await open().import("_seam.js");
    expect(await readdir(store)).not.toContain(`${used}.1-aaaaaaaa`);
    expect(await readdir(store)).toContain("old");
    vi.setSystemTime(Date.now() + 31 * 24 * 3_600_000);
    await open().import("_seam.js");
    expect(await readdir(store)).not.toContain("old");
    vi.useRealTimers();
    expect(await readFile(join(store, (await readdir(store))[0]!), "utf8")).toContain("graph");
  });
});
