import { spawnSync } from "node:child_process";
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
import { integrityOf } from "../../../server/content-store.ts";
import {
  createModuleStore,
  type ModuleStore,
  type ModuleStoreOptions,
} from "../../../server/module-store.ts";
import { parseManifest } from "../../../server/module-source.ts";
import type { ServerManifest } from "../../../src/manifest.ts";
import {
  type Clock,
  type IncomingResponse,
  type Transport,
  TransportError,
  UnsentError,
} from "../../../src/ports.ts";

const key = "the-trust-key-of-tests";
const url = "http://repository.test";

/** `revision`, and file → text; imports are read from the text. */
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
      clients: [],
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

/** A repository in memory. `away` is what it answers with instead. */
class Repository implements Transport {
  build = first;
  away: (() => Promise<IncomingResponse>) | undefined;
  asked: string[] = [];

  async send(request: Parameters<Transport["send"]>[0]): Promise<IncomingResponse> {
    const path = request.url.slice(url.length);
    this.asked.push(basename(path));
    if (this.away !== undefined) {
      const { signal } = request;
      return await Promise.race([
        this.away(),
        new Promise<never>((_, reject) =>
          signal?.addEventListener("abort", () => reject(signal.reason as Error)),
        ),
      ]);
    }
    const found =
      request.headers["x-svc-trust-key"] !== key
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

/** A clock that goes on to the next timer as soon as nothing else is to be done. */
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
  for (const one of stores.splice(0)) await one.close();
  await rm(root, { recursive: true, force: true });
});

function open(options: Partial<ModuleStoreOptions> = {}): ModuleStore {
  const store = createModuleStore({
    from: { repository: url },
    root,
    transport: repository,
    clock,
    trustKey: key,
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

describe("import", () => {
  it("gives the module with what it imports, under plain names, and asks for nothing else", async () => {
    const specifiers: string[] = [];
    const store = open({
      moduleImporter: (specifier) => {
        specifiers.push(specifier);
        return import(specifier) as Promise<Record<string, unknown>>;
      },
    });
    const { quote } = (await store.import("shop/quote.js")) as { quote: () => string };
    expect(quote()).toBe("quote 1");
    expect(repository.asked.toSorted()).toEqual(["manifest.json", "price.js", "quote.js"]);
    expect(specifiers).toEqual([
      expect.stringMatching(
        /^file:\/\/.*\/node_modules\/\.cache\/seamline\/run\/[^/]+\/one\/shop\/quote\.js$/,
      ),
    ]);
    expect(lines).toEqual([
      expect.stringMatching(/^modules: 2 taken \(0\.\d kB\), 0 were here already$/),
    ]);
  });

  it("asks for each file once, however many ask at once", async () => {
    const store = open();
    await Promise.all(
      ["shop/quote.js", "shop/price.js", "shop/quote.js"].map((file) => store.import(file)),
    );
    expect(repository.asked.toSorted()).toEqual(["manifest.json", "price.js", "quote.js"]);
  });

  it("gives each node of a process instances of its own", async () => {
    const [one, other] = [open(), open()];
    expect((await one.import("_seam.js"))["graph"]).toBe((await one.import("_seam.js"))["graph"]);
    expect((await one.import("_seam.js"))["graph"]).not.toBe(
      (await other.import("_seam.js"))["graph"],
    );
  });

  it("of a file that the build doesn't have says so, and reads nothing", async () => {
    await expect(open().import("../../secret.js")).rejects.toThrow(
      "The build of revision one has no file '../../secret.js'",
    );
    await expect(open().import("constructor")).rejects.toThrow("has no file");
  });

  it("is possible from an output folder as well", async () => {
    const folder = join(root, "dist/server");
    await mkdir(join(folder, "modules/shop"), { recursive: true });
    await writeFile(join(folder, "manifest.json"), JSON.stringify(first.manifest));
    for (const [name, text] of Object.entries(first.files))
      await writeFile(join(folder, "modules", name), text);
    const store = open({ from: { folder } });
    expect(((await store.import("shop/quote.js")) as { quote: () => string }).quote()).toBe(
      "quote 1",
    );
    expect(repository.asked).toEqual([]);
  });
});

describe("source maps", () => {
  const map = JSON.stringify({
    version: 3,
    sources: ["../../../../src/shop/price.ts", "virtual:x"],
    mappings: "",
  });
  it("come along, and lead to the application's sources from wherever the tree is", async () => {
    repository.build = build("maps", {
      "shop/price.js": "export const price = 1;",
      "shop/price.js.map": map,
      "odd.js": "",
      "odd.js.map": "[",
    });
    let tree = "";
    const store = open({
      moduleImporter: async (specifier) => {
        tree = dirname(fileURLToPath(specifier));
        return {};
      },
    });
    await store.import("shop/price.js");
    const { sources } = JSON.parse(await readFile(join(tree, "price.js.map"), "utf8")) as {
      sources: string[];
    };
    expect(sources).toEqual([pathToFileURL(join(root, "src/shop/price.ts")).href, "virtual:x"]);
    await store.import("odd.js");
    expect(await readFile(join(tree, "odd.js.map"), "utf8")).toBe("[");
  });
});

describe("packages", () => {
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

  it("come from the application when the cache is elsewhere, and from above it in a workspace", async () => {
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

describe("the second start", () => {
  it("asks for what changed only", async () => {
    await open().import("shop/quote.js");
    repository.asked = [];
    repository.build = build("two", { ...first.files, "shop/price.js": "export const price = 2;" });
    const { quote } = (await open().import("shop/quote.js")) as { quote: () => string };
    expect(quote()).toBe("quote 2");
    expect(repository.asked).toEqual(["manifest.json", "price.js"]);
    expect(lines.at(-1)).toMatch(/^modules: 1 taken .*, 1 were here already$/);
  });

  it("takes nothing from the store that isn't what its name says", async () => {
    await open().import("shop/price.js");
    const store = join(cacheOf(), "store");
    const [name] = await readdir(store);
    await chmod(join(store, name!), 0o644);
    await writeFile(join(store, name!), "export const price = 666;");
    expect(await open().import("shop/price.js")).toMatchObject({ price: 1 });
  });

  it("removes the trees of processes that are no more, and no others", async () => {
    const { pid } = spawnSync(process.execPath, ["--version"]);
    const own = open();
    await own.import("_seam.js");
    const [tree] = await trees();
    const dead = tree!.replace(`-${process.pid}-`, `-${pid}-`);
    const foreign = dead.replace(/^[^-]+/, "another_machine");
    for (const one of [dead, foreign]) await mkdir(join(cacheOf(), "run", one));
    await open().import("_seam.js");
    const left = await trees();
    expect(left).toContain(tree);
    expect(left).toContain(foreign);
    expect(left).not.toContain(dead);
  });
});

describe("close", () => {
  it("removes this node's tree and keeps the content", async () => {
    const store = open();
    await store.import("shop/price.js");
    await store.close();
    expect(await trees()).toEqual([]);
    expect(await readdir(join(cacheOf(), "store"))).toHaveLength(1);
  });

  it("of a store that never opened does nothing", async () => {
    await open().close();
    expect(await readdir(root)).toEqual([]);
  });
});

describe("integrity", () => {
  it("refuses a file that is not the manifest's, and stores nothing", async () => {
    repository.build = {
      ...first,
      files: { ...first.files, "shop/price.js": "export const price = 666;" },
    };
    await expect(open().import("shop/price.js")).rejects.toThrow(
      "shop/price.js is not the one that the manifest names",
    );
    expect(await readdir(join(cacheOf(), "store")).catch(() => [])).toEqual([]);
  });

  it("says when the repository no longer has a file of the manifest", async () => {
    repository.build = { ...first, files: {} };
    await expect(open().import("shop/price.js")).rejects.toThrow("it has another build by now");
  });
});

describe("R10: the repository is away", () => {
  it("and there is nothing here: it is tried for 60 s, then the reason is told", async () => {
    repository.away = refusing;
    const store = open();
    await expect(store.manifest()).rejects.toThrow(
      `The repository at ${url} could not be reached for 60 s: it refused the connection. Start it, or correct 'repository' in the configuration`,
    );
    expect(clock.now()).toBe(60_000);
    expect(repository.asked.length).toBeGreaterThan(8);
    expect(repository.asked.length).toBeLessThan(20);
    expect(lines).toEqual([
      `the repository at ${url} refused the connection; trying again for 60 s`,
    ]);
  });

  it("and only this machine has no file left for a connection: the repository and the configuration aren't blamed", async () => {
    const scarce = new UnsentError(
      `${url} was not asked: this process may open no more files`,
      "local",
    );
    repository.away = () => Promise.reject(scarce);
    await expect(open().import("shop/quote.js")).rejects.toThrow(
      `The repository at ${url} could not be reached for 60 s: it was not asked: this process may open no more files. Make room, and start this service again`,
    );
    expect(lines).toEqual([
      `the repository at ${url} was not asked: this process may open no more files; trying again for 60 s`,
    ]);
  });

  it("and comes back while it is tried: the node starts", async () => {
    repository.away = async () => {
      if (repository.asked.length === 4) repository.away = undefined;
      return { status: 503, headers: {}, body: new Uint8Array() };
    };
    const manifest = open().manifest();
    expect((await manifest).revision).toBe("one");
  });

  it("and what is needed is here: the node starts from it, and says so", async () => {
    await open().import("shop/quote.js");
    repository.away = refusing;
    lines = [];
    const { quote } = (await open().import("shop/quote.js")) as { quote: () => string };
    expect(quote()).toBe("quote 1");
    expect(lines).toEqual([
      `warning: the repository at ${url} refused the connection: starting from what this node has of revision one`,
    ]);
  });

  it("and hangs: the same, after 10 s", async () => {
    await open().import("shop/quote.js");
    repository.away = () => new Promise(() => {});
    await open().import("shop/quote.js");
    expect(lines.at(-1)).toContain("did not answer in 10 s: starting from what this node has");
  });

  it("and a file is missing here: that one is tried for 60 s", async () => {
    await open().import("shop/quote.js");
    repository.away = refusing;
    await expect(open().import("shop/other.js")).rejects.toThrow("could not be reached for 60 s");
  });
});

describe("a node that stops while it waits for its repository", () => {
  it("ends at once", async () => {
    repository.away = () => new Promise(() => {});
    clock = { now: () => 0, after: () => () => {} };
    const store = open();
    const failed = store.manifest().catch((error: unknown) => (error as Error).message);
    while (repository.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await store.close();
    expect(await failed).toBe("This node is stopping");
  });
});

describe("the trust key", () => {
  it("that the repository doesn't know fails at once, and the message says what to do", async () => {
    await expect(open({ trustKey: "another-key-altogether" }).manifest()).rejects.toThrow(
      /answered 404 for its modules: .*need the same 'trustKey'/,
    );
  });
});

describe("the manifest", () => {
  const { manifest } = first;
  const record = { integrity: integrityOf(Buffer.from("")), size: 0, imports: [] };
  it.each([
    ["text that is no JSON", "{", "no JSON"],
    ["null", "null", "its format is undefined"],
    ["another format", JSON.stringify({ ...manifest, format: 2 }), "its format is 2"],
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

  it("may name files with dots and spaces", () => {
    const files = { "a/.well..known/x y~body.js": record };
    expect(parseManifest(JSON.stringify({ ...manifest, files }), "here").files).toEqual(files);
  });
});

describe("the disk", () => {
  it("that can't be written is one message that names the way out", async () => {
    await writeFile(join(root, "node_modules"), "a file where the folder should be");
    await expect(open().manifest()).rejects.toThrow(
      /Can't keep modules in .*'cache' in the configuration/,
    );
  });

  it("holds content that nobody can change by mistake", async () => {
    await open().import("shop/price.js");
    const store = join(cacheOf(), "store");
    expect((await stat(join(store, (await readdir(store))[0]!))).mode & 0o222).toBe(0);
  });

  it("loses content after a month without use, and half-written files after an hour", async () => {
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
