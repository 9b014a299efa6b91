// The files, output and errors of `seamline init`. test/init installs and runs its applications.

import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nameFor } from "../../../../server/cli/init.ts";
import { run } from "../../../../server/cli/program.ts";
import { root as packageRoot } from "../../../_sources.ts";

let home: string;
beforeEach(async () => (home = await realpath(await mkdtemp(join(tmpdir(), "seamline-init-")))));
afterEach(() => rm(home, { recursive: true, force: true }));

async function init(
  words: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number | undefined; out: string; err: string }> {
  let [out, err] = ["", ""];
  const code = await run(["init", ...words], {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    env,
  });
  return { code, out, err };
}

async function files(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
  return paths.map((path) => path.split(sep).join("/")).toSorted();
}

interface Package {
  readonly name: string;
  readonly version: string;
  readonly scripts: Record<string, string>;
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
}
const json = async <T>(path: string): Promise<T> => JSON.parse(await readFile(path, "utf8")) as T;

describe.each(["vanilla", "react", "vue", "svelte", "solid", "preact"])(
  "seamline init --template %s",
  (template) => {
    it("creates an application and prints its files and the next steps, without asking", async () => {
      const root = join(home, "my-app");
      const { code, out, err } = await init([root, "--template", template]);
      expect([code, err]).toEqual([0, ""]);
      const made = await files(root);
      expect(out).toBe(
        `Made ${relative(".", root)} (${template}):\n${made.map((file) => `  ${file}\n`).join("")}\n` +
          `Next:\n  cd ${relative(".", root)}\n  npm install\n  npm run dev\n`,
      );
      const expected = [
        ".gitignore",
        "README.md",
        "index.html",
        "package.json",
        "seamline.json",
        "tsconfig.json",
        "vite.config.ts",
      ];
      expect(made).toEqual(expect.arrayContaining(expected));
      expect(made.filter((file) => file.endsWith(".segment.json"))).toHaveLength(2);
      expect(made.filter((file) => file.endsWith(".test.ts"))).toHaveLength(1);
    });

    it("writes the application's name, and the package versions that this package is tested with", async () => {
      const root = join(home, "my-app");
      await init([root, "--template", template]);
      const own = await json<Package>(join(packageRoot, "package.json"));
      const made = await json<Package>(join(root, "package.json"));
      expect(made).toMatchObject({ name: "my-app", dependencies: { seamline: `^${own.version}` } });
      expect(Object.keys(made.scripts)).toEqual(["dev", "build", "start", "test", "check"]);
      const { seamline: _, ...others } = { ...made.dependencies, ...made.devDependencies };
      expect(others).toEqual(
        Object.fromEntries(Object.keys(others).map((name) => [name, own.devDependencies[name]])),
      );
      for (const file of await files(root))
        expect(await readFile(join(root, file), "utf8"), file).not.toMatch(/app-name|"\*"/);
      expect(await readFile(join(root, "README.md"), "utf8")).toMatch(/^# my-app\n/);
      expect((await readFile(join(root, ".gitignore"), "utf8")).split("\n")).toEqual(
        expect.arrayContaining(["node_modules/", "dist/", ".seamline/"]),
      );
    });

    it("names the schema in JSON files, and does so last in segment files, so that whole lines can be moved", async () => {
      const root = join(home, "my-app");
      await init([root, "--template", template]);
      for (const file of (await files(root)).filter(
        (one) => one.endsWith(".json") && one !== "package.json",
      ))
        expect(await json(join(root, file)), file).toHaveProperty("$schema");
      for (const name of ["browser", "server"]) {
        const lines = (await readFile(join(root, `segments/${name}.segment.json`), "utf8"))
          .trimEnd()
          .split("\n");
        expect(lines.at(-2)).toMatch(/^ {2}"\$schema"/);
        expect(lines.slice(1, -2).filter((line) => !/^ {2}"\.\/.*\},$/.test(line))).toEqual([]);
      }
    });
  },
);

describe("seamline init", () => {
  it("uses the template vanilla by default, and lists the others", async () => {
    const { out } = await init([join(home, "app")]);
    expect(out).toContain("(vanilla):\n");
    expect(out).toMatch(/\nOther templates: --template react, vue, svelte, solid or preact\n$/);
  });

  it("prints the commands of the package manager that runs it", async () => {
    const { out } = await init([join(home, "app")], {
      npm_config_user_agent: "pnpm/10.1.0 npm/? node/v20",
    });
    expect(out).toContain("  pnpm install\n  pnpm run dev\n");
  });

  it("writes the version or path of --seamline into package.json, relative to the application", async () => {
    await writeFile(join(home, "seamline.tgz"), "");
    await init([join(home, "apps/one"), "--seamline", relative(".", join(home, "seamline.tgz"))]);
    expect(await json(join(home, "apps/one/package.json"))).toMatchObject({
      dependencies: { seamline: "file:../../seamline.tgz" },
    });
    await init([join(home, "apps/two"), "--seamline", "next"]);
    expect(await json(join(home, "apps/two/package.json"))).toMatchObject({
      dependencies: { seamline: "next" },
    });
  });

  it("exits with 2 and lists the files if the folder isn't empty, and writes nothing", async () => {
    await mkdir(join(home, "used/src"), { recursive: true });
    await writeFile(join(home, "used/notes.txt"), "");
    const { code, out, err } = await init([join(home, "used")]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toBe(
      `error: ${join(home, "used")} is not empty: name a new folder, or one with nothing but .git. It has\n  notes.txt\n  src\n`,
    );
    expect(await readdir(join(home, "used"))).toEqual(["notes.txt", "src"]);
    await writeFile(join(home, "file"), "");
    expect(await init([join(home, "file")])).toMatchObject({
      code: 2,
      err: `error: ${join(home, "file")} is a file: name a folder\n`,
    });
  });

  it("only lists the first files of a full folder", async () => {
    for (let count = 10; count < 35; count++) await writeFile(join(home, `${count}.txt`), "");
    const { err } = await init([home]);
    expect(err).toMatch(/ {2}10\.txt\n(?: {2}\d+\.txt\n){19} {2}and 5 more\n$/);
  });

  it("accepts a folder that only has .git", async () => {
    await mkdir(join(home, "app/.git"), { recursive: true });
    await writeFile(join(home, "app/.git/HEAD"), "ref: refs/heads/main\n");
    const { code, out } = await init([join(home, "app")]);
    expect(code).toBe(0);
    expect(out).not.toContain("HEAD");
  });

  it("exits with 2 in a Vite application, and prints what to add there", async () => {
    await writeFile(join(home, "package.json"), '{ "devDependencies": { "vite": "^8.0.0" } }');
    const { code, err } = await init([home]);
    expect(code).toBe(2);
    for (const part of [
      "already has a Vite application",
      "npm install seamline",
      "vite.config.ts",
      "plugins: [seamline()]",
      ".segment.json",
    ])
      expect(err).toContain(part);
    await writeFile(join(home, "vite.config.mjs"), "");
    expect((await init([home])).err).toContain("  vite.config.mjs");
    expect(existsSync(join(home, "seamline.json"))).toBe(false);
  });

  it.each([
    ["no TypeScript", undefined, undefined, "typescript@6"],
    ["TypeScript 6", "^6.0.3", "6.0.3", undefined],
    ["TypeScript 7", "~7.0.2", "7.0.2", "@typescript/typescript6"],
    ["TypeScript 7 that isn't installed yet", "~7.0.2", undefined, "@typescript/typescript6"],
    ["TypeScript 5.8", "~5.8.3", "5.8.3", "typescript@6"],
  ])(
    "in a Vite application with %s, says which compiler to add for the checks of arguments",
    async (_, declared, installed, compiler) => {
      const devDependencies = { vite: "^8.0.0", typescript: declared };
      await writeFile(join(home, "package.json"), JSON.stringify({ devDependencies }));
      if (installed !== undefined) {
        const folder = join(home, "node_modules/typescript");
        await mkdir(folder, { recursive: true });
        await writeFile(join(folder, "index.js"), "");
        await writeFile(join(folder, "package.json"), JSON.stringify({ version: installed }));
      }
      const { err } = await init([home]);
      const added = compiler === undefined ? "" : `  npm install --save-dev ${compiler}\n`;
      expect(err).toContain(`  npm install seamline\n${added}\n  vite.config.ts`);
    },
  );

  it(
    "exits with 1 at once if the folder can't be created, with its path and the reason",
    { timeout: 5_000 },
    async () => {
      // Node's recursive mkdir never returns there.
      const { code, out, err } = await init(["/proc/x/y"]);
      expect([code, out]).toEqual([1, ""]);
      expect(err).toMatch(
        /^error: \/proc\/x\/y can't be created: the system refuses to create \/proc(?:\/x)? \(E[A-Z]+\)\n {2}→ Name another folder/,
      );
      const long = join(home, "a".repeat(300));
      expect(await init([long])).toMatchObject({
        code: 1,
        err: expect.stringContaining("can't be created: ") as string,
      });
    },
  );

  it("exits with 1 in a read-only folder, unless it runs as root", async () => {
    await mkdir(join(home, "closed"), { mode: 0o555 });
    const { code, err } = await init([join(home, "closed")]);
    const inside = await init([join(home, "closed/app")]);
    if (process.getuid?.() === 0) return expect([code, err, inside.err]).toEqual([0, "", ""]);
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^error: .*closed can't be written to \(EACCES\)/),
    ]);
    expect(inside.err).toContain("closed/app can't be created: ");
  });

  it("exits with 2 for a path below a file, and for no path", async () => {
    await writeFile(join(home, "notes.txt"), "");
    const through = join(home, "notes.txt/one/two");
    expect(await init([through])).toMatchObject({
      code: 2,
      err: `error: ${through} can't be created: ${join(home, "notes.txt")} is a file\n  → Name another folder\n`,
    });
    expect(await init([""])).toMatchObject({
      code: 2,
      err: "error: the folder name is empty: give a name, or . for the current folder\n",
    });
  });

  it.each([
    [
      ["app", "--template", "angular"],
      "Allowed choices are vanilla, react, vue, svelte, solid, preact",
    ],
    [[], "missing required argument 'folder'"],
  ])("exits with 2 for %j", async (words, message) => {
    expect(await init(words)).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining(message) as string,
    });
  });
});

describe("create-seamline", () => {
  it("has the version of seamline, and depends on it", async () => {
    const { version, engines } = await json<Package & { engines: object }>(
      join(packageRoot, "package.json"),
    );
    const other = await json<Package>(join(packageRoot, "create-seamline/package.json"));
    expect(other).toMatchObject({ version, engines, dependencies: { seamline: `^${version}` } });
  });
});

describe("the name of an application", () => {
  it.each([
    ["/home/ada/my-app", "my-app"],
    ["/home/ada/My App", "my-app"],
    ["/home/ada/.hidden", "hidden"],
    ["/home/ada/_Läden & Co_", "laden-co"],
    ["/home/ada/Été", "ete"],
    ["/home/ada/地図", "seamline-app"],
    ["/", "seamline-app"],
    // npm doesn't install a package into itself.
    ["/home/ada/seamline", "seamline-app"],
    ["/home/ada/vite", "vite-app"],
    ["/home/ada/node_modules", "node_modules-app"],
    // npm accepts neither these nor names of more than 214 characters.
    ["/home/ada/favicon.ico", "favicon.ico-app"],
    [`/home/ada/${"a".repeat(213)}-b`, "a".repeat(213)],
  ])("in the folder %s is %s", (folder, name) => {
    expect(nameFor(folder, ["seamline", "vite"])).toBe(name);
  });
});
