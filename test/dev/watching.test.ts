// Changes files and folders as people and tools do, and checks that later edits are live.
// Synchronous changes block the session until they are done, as it is busy when a thousand files
// change.

import { execFile } from "node:child_process";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { promisify } from "node:util";

import { createServer, type ViteDevServer } from "vite";
import {
  afterAll,
  beforeAll,
  describe,
  expect,
  it,
  onTestFinished,
  type TestContext,
  vi,
} from "vitest";

import { watch } from "../../server/dev/watch.ts";
import { partsApplication, partText } from "./_parts.ts";
import {
  createApplication,
  develop,
  eventually,
  type Running,
  shop,
  splitUnderVitest,
} from "./_session.ts";

// Most of the time they wait for changes to be noticed.
vi.setConfig({ maxConcurrency: 4 });
beforeAll(() => splitUnderVitest());
afterAll(() => void vi.unstubAllEnvs());

const run = promisify(execFile);
const sleep = async (ms: number): Promise<void> =>
  await new Promise((done) => setTimeout(done, ms));

/** Waits until `sum0(1)` answers this. `action` names the last action for the failure message. */
async function answers({ get }: Running, expected: number, action: string): Promise<void> {
  const ask = async (): Promise<unknown> => (await get("/rpc/parts/sum0?given=1")).value;
  expect(await eventually(ask, (value) => value === expected, 30_000), action).toBe(expected);
}

/** Checks that edits of a body, of a module below it, and of a new module are live. */
async function isFollowed(
  running: Running,
  factor: number,
  { folder = "src/parts", after = "that" } = {},
): Promise<void> {
  const { edit, write, remove } = running;
  const [body, below, fresh] = [`${folder}/part0.ts`, `${folder}/part5.ts`, `${folder}/fresh.ts`];
  await answers(running, 9 * factor, after);
  edit(body, `* ${factor};`, `* ${factor} + 1;`);
  await answers(running, 9 * factor + 1, `${after}: an edit of a body`);
  edit(below, "given + 5", "given + 6");
  await answers(running, 10 * factor + 1, `${after}: an edit of a module below`);
  write({ [fresh]: "export const fresh = 100;\n" });
  edit(body, "import", 'import { fresh } from "./fresh.ts";\nimport');
  edit(body, "+ 1;", "+ fresh;");
  await answers(running, 10 * factor + 100, `${after}: a new module`);
  edit(fresh, "100", "200");
  await answers(running, 10 * factor + 200, `${after}: an edit of a new module`);
  edit(body, " + fresh;", ";");
  edit(body, 'import { fresh } from "./fresh.ts";\n', "");
  edit(below, "given + 6", "given + 5");
  await answers(running, 9 * factor, `${after}: edits that take it all back`);
  remove(fresh);
  await sleep(200);
}

/** The logged lines, without those that a busy machine causes: types that were read late, an event loop that waited. */
function mistakes({ logged }: Running): readonly string[] {
  return logged.filter((line) => !/isn't checked: the types|the event loop was blocked/.test(line));
}

/** Rewrites all modules as a generator does. */
function generate({ root }: Running, modules: number, factor: number, folder = "src/parts"): void {
  mkdirSync(join(root, folder), { recursive: true });
  for (let index = 0; index < modules; index++)
    writeFileSync(join(root, folder, `part${index}.ts`), partText(index, modules, factor));
}

async function git({ root }: Running, ...args: readonly string[]): Promise<void> {
  await run(
    "git",
    ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "core.autocrlf=false", ...args],
    { cwd: root },
  );
}

/** Creates a branch without the folder beside the one that has it. */
async function commit(running: Running): Promise<void> {
  writeFileSync(join(running.root, ".gitignore"), "node_modules\n.seamline\n");
  await git(running, "init", "--quiet", "--initial-branch", "main");
  await git(running, "add", "--all");
  await git(running, "commit", "--quiet", "--message", "one");
  await git(running, "checkout", "--quiet", "-b", "other");
  await git(running, "rm", "--quiet", "-r", "src/parts");
  await git(running, "commit", "--quiet", "--message", "two");
  await git(running, "checkout", "--quiet", "main");
}

/** Checks out branches, and stashes and restores changes. */
async function travels(running: Running): Promise<void> {
  await commit(running);
  for (const ms of [0, 50, 2000]) {
    await git(running, "checkout", "--quiet", "other");
    if (ms > 0) await sleep(ms);
    await git(running, "checkout", "--quiet", "-");
    await isFollowed(running, 1, { after: `a checkout to and fro, ${ms} ms between` });
  }
  running.edit("src/parts/part0.ts", "* 1;", "* 3;");
  running.write({ "src/parts/more/deep/one.ts": "export const one = 1;\n" });
  await answers(running, 27, "an edit");
  await git(running, "stash", "--quiet", "--include-untracked");
  await git(running, "stash", "pop", "--quiet");
  await isFollowed(running, 3, { after: "a stash" });
  running.edit("src/parts/part0.ts", "import", 'import { one } from "./more/deep/one.ts";\nimport');
  running.edit("src/parts/part0.ts", "* 3;", "* 3 + one;");
  await answers(running, 28, "an import of what the stash brought again");
  running.edit("src/parts/more/deep/one.ts", "1", "2");
  await answers(running, 29, "an edit of what the stash brought again");
}

const folder = (running: Running): string => join(running.root, "src/parts");

type Act = (running: Running, modules: number) => void | Promise<void>;

/** Each act leaves the application with the factor that it gets. */
const acts: Readonly<Record<string, (factor: number) => Act>> = {
  "removing and recreating a folder at once": (factor) => (running, modules) => {
    rmSync(folder(running), { recursive: true });
    generate(running, modules, factor);
  },
  "removing a folder and recreating it after 50 ms": (factor) => async (running, modules) => {
    rmSync(folder(running), { recursive: true });
    await sleep(50);
    generate(running, modules, factor);
  },
  "removing a folder and recreating it after 2 s": (factor) => async (running, modules) => {
    rmSync(folder(running), { recursive: true });
    await sleep(2000);
    generate(running, modules, factor);
  },
  "removing and recreating a folder three times": (factor) => async (running, modules) => {
    for (const one of [factor + 2, factor + 1, factor]) {
      rmSync(folder(running), { recursive: true });
      await sleep(20);
      generate(running, modules, one);
      await sleep(20);
    }
  },
  "rewriting a folder file by file": (factor) => async (running, modules) => {
    rmSync(folder(running), { recursive: true });
    mkdirSync(folder(running));
    for (let index = 0; index < modules; index++) {
      writeFileSync(join(folder(running), `part${index}.ts`), partText(index, modules, factor));
      if (index % 20 === 0) await sleep(1);
    }
  },
  "replacing a folder by a generated one": (factor) => (running, modules) => {
    generate(running, modules, factor, "src/parts.new");
    renameSync(folder(running), `${folder(running)}.old`);
    renameSync(`${folder(running)}.new`, folder(running));
    rmSync(`${folder(running)}.old`, { recursive: true });
  },
  "rewriting files in place": (factor) => (running, modules) => generate(running, modules, factor),
  "removing and rewriting files at once": (factor) => (running, modules) => {
    for (const name of readdirSync(folder(running))) rmSync(join(folder(running), name));
    generate(running, modules, factor);
  },
  "removing and recreating the source folder at once": (factor) => (running, modules) => {
    const main = readFileSync(join(running.root, "src/main.ts"), "utf8");
    rmSync(join(running.root, "src"), { recursive: true });
    generate(running, modules, factor);
    writeFileSync(join(running.root, "src/main.ts"), main);
  },
};

const slow = [
  "removing and recreating a folder at once",
  "removing a folder and recreating it after 50 ms",
  "removing a folder and recreating it after 2 s",
  "rewriting a folder file by file",
];

describe.concurrent("with 10 modules", () => {
  it.for(Object.entries(acts))("edits are live after %s", async ([, act], context) => {
    const running = await develop(partsApplication(10), { context });
    await answers(running, 9, "the start");
    await act(3)(running, 10);
    await isFollowed(running, 3);
    expect(mistakes(running)).toEqual([]);
  });

  it("edits are live after checking out another branch and back, and after a stash", async (context) => {
    const running = await develop(partsApplication(10), { context });
    await answers(running, 9, "the start");
    await travels(running);
  });
});

describe.concurrent("after changes by editors and tools", () => {
  const start = async (context: TestContext): Promise<Running> => {
    const running = await develop(partsApplication(10), { context });
    await answers(running, 9, "the start");
    return running;
  };

  it("edits are live after an editor saves by a rename, twice", async (context) => {
    const running = await start(context);
    for (const factor of [2, 3]) {
      for (let index = 0; index < 10; index++) {
        const file = join(folder(running), `part${index}.ts`);
        writeFileSync(`${file}~`, partText(index, 10, factor));
        renameSync(`${file}~`, file);
      }
      await answers(running, 9 * factor, "a rename");
      await sleep(300);
    }
    await isFollowed(running, 3);
  });

  it("edits are live after an editor renames the old file, and writes a new one", async (context) => {
    const running = await start(context);
    for (const factor of [2, 3]) {
      const file = join(folder(running), "part0.ts");
      renameSync(file, `${file}~`);
      writeFileSync(file, partText(0, 10, factor));
      rmSync(`${file}~`);
      await answers(running, 9 * factor, "a save");
      await sleep(300);
    }
    await isFollowed(running, 3);
  });

  it("edits are live after a formatter writes right after the editor, or the editor empties a file first", async (context) => {
    const running = await start(context);
    const file = join(folder(running), "part0.ts");
    for (const [first, factor] of [
      [partText(0, 10, 7), 2],
      ["", 3],
    ] as const) {
      writeFileSync(file, first);
      await sleep(20);
      writeFileSync(file, partText(0, 10, factor));
      await answers(running, 9 * factor, "the second write");
      await sleep(300);
    }
    await isFollowed(running, 3);
  });

  it("edits are live in new deep folders", async (context) => {
    const running = await start(context);
    const { write, edit } = running;
    write({
      "src/parts/a/b/c/d/deep.ts": 'export * from "./deeper/deeper.ts";\n',
      "src/parts/a/b/c/d/deeper/deeper.ts": "export const deep = 2;\n",
    });
    edit("src/parts/part0.ts", "import", 'import { deep } from "./a/b/c/d/deep.ts";\nimport');
    edit("src/parts/part0.ts", "* 1;", "* deep;");
    await answers(running, 18, "deep folders");
    edit("src/parts/a/b/c/d/deeper/deeper.ts", "2", "3");
    await answers(running, 27, "an edit in a deep folder");
    write({
      "src/parts/a/b/c/d/deeper/deepest.ts": "export const deep = 4;\n",
      "src/parts/a/b/c/d/deep.ts": 'export * from "./deeper/deepest.ts";\n',
    });
    await answers(running, 36, "a new file in a deep folder");
  });

  it("edits are live in new folders that get a file a moment later", async (context) => {
    const running = await start(context);
    const { root, edit } = running;
    for (let index = 0; index < 40; index++) {
      mkdirSync(join(root, `src/parts/more${index}`));
      await sleep(index % 8);
      writeFileSync(
        join(root, `src/parts/more${index}/more.ts`),
        `export const more${index} = 1;\n`,
      );
    }
    const names = Array.from({ length: 40 }, (_, index) => index);
    const imports = names
      .map((index) => `import { more${index} } from "./more${index}/more.ts";`)
      .join("\n");
    edit("src/parts/part0.ts", "import", `${imports}\nimport`);
    edit("src/parts/part0.ts", "* 1;", `* (${names.map((index) => `more${index}`).join(" + ")});`);
    await answers(running, 360, "forty folders");
    for (const index of names) edit(`src/parts/more${index}/more.ts`, "= 1", "= 2");
    await answers(running, 720, "an edit in each of forty folders");
  });

  it("edits are live after a file moves to another folder, and a folder is renamed", async (context) => {
    const running = await start(context);
    const { root, write, edit } = running;
    write({ "src/others/keep.ts": "export {};\n" });
    await sleep(200);
    renameSync(join(root, "src/parts/part5.ts"), join(root, "src/others/part5.ts"));
    edit("src/parts/part0.ts", "./part5.ts", "../others/part5.ts");
    edit("src/parts/part0.ts", "* 1;", "* 2;");
    await answers(running, 18, "a file that moved");
    edit("src/others/part5.ts", "given + 5", "given + 6");
    await answers(running, 20, "an edit of a file that moved");
    renameSync(join(root, "src/others"), join(root, "src/some"));
    edit("src/parts/part0.ts", "../others/part5.ts", "../some/part5.ts");
    edit("src/some/part5.ts", "given + 6", "given + 7");
    await answers(running, 22, "an edit in a folder that moved");
    renameSync(join(root, "src/some/part5.ts"), join(root, "src/parts/part5.ts"));
    edit("src/parts/part5.ts", "given + 7", "given + 5");
    edit("src/parts/part0.ts", "../some/part5.ts", "./part5.ts");
    await isFollowed(running, 2);
  });
});

describe.concurrent("in unusual folders and configurations", () => {
  it("edits are live in a linked source folder, even after its target was recreated", async (context) => {
    const running = await develop(partsApplication(10), {
      context,
      at(root) {
        mkdirSync(join(root, "code"));
        renameSync(join(root, "src"), join(root, "code/main"));
        symlinkSync(join(root, "code/main"), join(root, "src"));
        return root;
      },
    });
    await answers(running, 9, "the start");
    rmSync(join(running.root, "code/main/parts"), { recursive: true });
    generate(running, 10, 3, "code/main/parts");
    await isFollowed(running, 3, { folder: "code/main/parts" });
    expect(mistakes(running)).toEqual([]);
    // An edit is reported a moment after it is live, so the last report may still be missing.
    await sleep(500);
    // The file has its own path and the link's, but it is one change with one report.
    const since = running.events.length;
    running.edit("code/main/parts/part0.ts", "* 3;", "* 4;");
    await answers(running, 36, "an edit");
    await sleep(500);
    expect(running.events.slice(since).map(({ kind }) => kind)).toEqual(["replaced"]);
  });

  it.for([
    ["polls, for disks without change events", "{ usePolling: true, interval: 50 }"],
    [
      "waits for finished writes",
      "{ awaitWriteFinish: { stabilityThreshold: 60, pollInterval: 20 } }",
    ],
  ])("edits are live if the application's Vite %s", async ([, options], context) => {
    const files = {
      ...partsApplication(10),
      "vite.config.js": `export default { server: { watch: ${options} } };\n`,
    };
    const running = await develop(files, { context });
    await answers(running, 9, "the start");
    rmSync(folder(running), { recursive: true });
    generate(running, 10, 3);
    await isFollowed(running, 3);
  });

  it("files that the application's Vite ignores are not followed", async (context) => {
    const files = {
      ...partsApplication(10),
      "vite.config.js": 'export default { server: { watch: { ignored: ["**/part5.ts"] } } };\n',
    };
    const running = await develop(files, { context });
    await answers(running, 9, "the start");
    running.edit("src/parts/part5.ts", "given + 5", "given + 6");
    await sleep(1000);
    rmSync(folder(running), { recursive: true });
    generate(running, 10, 3);
    await answers(running, 27, "what was done");
    running.edit("src/parts/part5.ts", "given + 5", "given + 6");
    await sleep(1000);
    await answers(running, 27, "an edit of an ignored file");
  });
});

it("changes since the session opened are noticed, although Vite's watcher has reached no file yet", async () => {
  const { root, write, edit, remove } = createApplication(partsApplication(100));
  write({ "src/old/gone.ts": "", "src/gone.ts": "" });
  const noticed = new Set<string>();
  const session = (server: ViteDevServer): void => {
    const stop = watch(server, { root, except: [] }, (file) => noticed.add(relative(root, file)));
    onTestFinished(stop);
    edit("src/parts/part0.ts", "* 1;", "* 2;");
    write({ "src/new.ts": "", "src/new/deep/folder/new.ts": "" });
    remove("src/gone.ts");
    remove("src/old");
  };
  const plugins = [{ name: "session", configureServer: session }];
  const server = await createServer({ root, configFile: false, logLevel: "error", plugins });
  onTestFinished(async () => await server.close());
  const expected = [
    "src/gone.ts",
    "src/new.ts",
    "src/new/deep/folder/new.ts",
    "src/old",
    "src/old/gone.ts",
    "src/parts/part0.ts",
  ];
  await eventually(
    () => noticed,
    ({ size }) => size === expected.length,
  );
  expect([...noticed].toSorted()).toEqual(expected);
});

// One at a time: both keep this process busy for moments.
it("edits are live while the session is still starting", async (context) => {
  const running = await develop(partsApplication(1000), {
    context,
    at(root) {
      // Vite's watcher is scanning folders, and modules are being read.
      const files = ["part0.ts", "part999.ts", "part500.ts"].map((name) =>
        join(root, "src/parts", name),
      );
      const timer = setInterval(
        () =>
          files.forEach((file) =>
            writeFileSync(
              file,
              readFileSync(file, "utf8").replace(/(\/\/ \d*)?\n$/, `// ${performance.now()}\n`),
            ),
          ),
        20,
      );
      setTimeout(() => {
        clearInterval(timer);
        writeFileSync(join(root, "src/parts/part0.ts"), partText(0, 1000, 3));
      }, 1500);
      return root;
    },
  });
  await answers(running, 27, "an edit while it starts");
  await isFollowed(running, 3);
});

it(
  "with 300 modules, edits are live after checkouts, stashes and rewritten folders in one session",
  { timeout: 300_000 },
  async (context) => {
    const running = await develop(partsApplication(300), { context });
    await answers(running, 9, "the start");
    await travels(running);
    // Only acts whose outcome depends on the size: each takes long with this many modules.
    for (const [at, name] of slow.entries()) {
      await acts[name]?.(at + 4)(running, 300);
      await isFollowed(running, at + 4, { after: name });
    }
    expect(mistakes(running)).toEqual([]);
  },
);

it("a page of Vite's configuration that is removed holds up no edit, and may come back", async () => {
  const page = shop["index.html"] ?? "";
  const { remove, edit, write, get, text } = await develop({
    ...shop,
    "admin.html": page,
    "vite.config.js":
      'export default { build: { rollupOptions: { input: ["index.html", "admin.html"] } } };\n',
  });
  remove("admin.html");
  // Vite's watcher tells of a removed file after 100 ms, as it may be replaced.
  await new Promise((resolve) => setTimeout(resolve, 300));
  edit("src/shop/quote.ts", "* margin * metres", "* margin * metres + 1");
  const worth = async (): Promise<unknown> => (await get("/rpc/shop/worth?sku=abc")).value;
  expect(await eventually(worth, (value) => value === 183, 5_000)).toBe(183);
  write({ "admin.html": page });
  expect(
    await eventually(
      () => text("/admin.html"),
      (found) => found.includes("main.ts"),
    ),
  ).toContain("main.ts");
});
